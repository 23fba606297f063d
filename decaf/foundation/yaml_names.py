"""Scalars that YAML reads as another value than is written, where names or numbers are meant.

YAML reads ``1.10`` as 1.1, ``010`` as 8, ``12:30`` as 750 and ``no`` as false. Where a name is
meant, nobody can tell the two apart afterwards, so the file is refused.
"""

import re
from collections.abc import Iterator

import yaml

from decaf.foundation.yaml_nodes import FLOAT, INTEGER, NUMBERS, SEQUENCE, TRUTH, node_fault

NAMES = ("categories", "target")
"""Keys of settings whose values are names, or numbers in place of names."""
LISTS_OF_NAMES = ("classes",)
"""Keys of settings whose lists are such; one value is the number of classes."""
UNCHANGED = {
    INTEGER: re.compile(r"-?(0|[1-9][0-9]*)"),
    FLOAT: re.compile(r"-?(0|[1-9][0-9]*)\.(0|[0-9]*[1-9])|.*[eE].*"),
    TRUTH: re.compile(r"true|false", re.IGNORECASE),
}
"""Scalars whose value is written as they are."""
OTHER_BASE = re.compile(r"[-+]?0[0-9_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""Numbers of base 8 or 60, which are usually typing errors."""
ARGUMENTS = "arguments"
"""Key whose values are the user's own."""


def check_settings(root: yaml.Node) -> None:
    """Refuse names that YAML would change, and numbers of base 8 or 60.

    Raises ConfigError with file, line and key.
    """
    for node, keys, is_name in _scalars(root, (), is_name=False):
        is_strange = node.tag in NUMBERS and OTHER_BASE.fullmatch(node.value)
        if is_strange or is_name and _is_changed(node):
            raise _refusal(node, keys)


def check_names(root: yaml.Node) -> None:
    """Refuse scalars that YAML would change, in a file that holds only names."""
    for node, keys, _ in _scalars(root, (), is_name=True):
        if _is_changed(node):
            raise _refusal(node, keys)


def _is_changed(node: yaml.ScalarNode) -> bool:
    unchanged = UNCHANGED.get(node.tag)
    return unchanged is not None and not unchanged.fullmatch(node.value)


def _refusal(node: yaml.ScalarNode, keys: tuple[str, ...]) -> Exception:
    value = yaml.constructor.SafeConstructor().construct_object(node)
    plain = str(value).lower() if node.tag == TRUTH else str(value)
    reading = f"{node.value}, which YAML reads as {plain}"
    expected = f'a name: put it in quotes, as "{node.value}", or write {plain}'
    return node_fault(node, keys, reading, expected)


def _scalars(
    node: yaml.Node, keys: tuple[str, ...], *, is_name: bool
) -> Iterator[tuple[yaml.ScalarNode, tuple[str, ...], bool]]:
    """Scalars below a node, each with its keys, and whether it is in the place of a name."""
    if isinstance(node, yaml.ScalarNode):
        yield node, keys, is_name
        return
    if isinstance(node, yaml.SequenceNode):
        for place, item in enumerate(node.value):
            yield from _scalars(item, (*keys, str(place)), is_name=is_name)
        return
    for key, value in node.value:
        if key.value == ARGUMENTS:
            continue
        is_list = key.value in LISTS_OF_NAMES and value.tag == SEQUENCE
        is_named = is_name or is_list or key.value in NAMES
        yield from _scalars(value, (*keys, key.value), is_name=is_named)
