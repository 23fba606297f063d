"""Nodes of YAML in messages: place, type and text of each."""

from typing import Any

import yaml

from decaf.errors import ConfigError

YAML = "tag:yaml.org,2002:"
TEXT_TAG = f"{YAML}str"
INTEGER, FLOAT, TRUTH = f"{YAML}int", f"{YAML}float", f"{YAML}bool"
NUMBERS = (INTEGER, FLOAT)
MAPPING, SEQUENCE = f"{YAML}map", f"{YAML}seq"
WORDS = {TEXT_TAG: "text", SEQUENCE: "a list", MAPPING: "keys and values"}
WORDS |= {f"{YAML}timestamp": "the date"} | dict.fromkeys(NUMBERS, "a number")
WORDS |= {TRUTH: "true or false", f"{YAML}null": "nothing"}
"""Words for the types of values, by tag."""
SHOWN = 60
"""Characters of a value that a message repeats."""


def mark_of(node: yaml.Node) -> str:
    """File and line of a node."""
    return f"{node.start_mark.name}:{node.start_mark.line + 1}"


def type_of(node: yaml.Node) -> str:
    """Type of a value in a word, or its tag, as ``!!set``."""
    return WORDS.get(node.tag, node.tag.replace(YAML, "!!"))


def shorten_value(value: Any) -> str:
    """Value as a message repeats it: the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…{text[-1]}"


def node_fault(node: yaml.Node, keys: tuple[str, ...], found: str, expected: str) -> ConfigError:
    """Error about a node, with file, line and key."""
    where = f"{shorten_value('.'.join(keys))}: " if keys else ""
    return ConfigError(f"{mark_of(node)}: {where}found {found}; expected {expected}")
