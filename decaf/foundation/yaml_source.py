"""Read YAML so that every error can name its file, line and key.

Two additions to plain YAML: ``!file other.yaml`` puts the content of another file (relative to the
one that names it) in its place, all items of it where both are lists, and ``${NAME}`` in a text is
the environment variable ``NAME``.
Only values that JSON has are built.
"""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from decaf.errors import BadInput, ConfigError, SettingError, abridge, suggestion
from decaf.foundation.files import open_file
from decaf.foundation.settings import FILE_FOLDER
from decaf.foundation.yaml_names import check_names, check_settings
from decaf.foundation.yaml_nodes import (
    MAPPING,
    NUMBERS,
    SEQUENCE,
    TEXT_TAG,
    WORDS,
    YAML,
    mark_of,
    node_fault,
    shorten_value,
    type_of,
)

VARIABLE = re.compile(r"\$\{(\w+)\}")
FILE_TAG = "!file"
KEYS = (TEXT_TAG, f"{YAML}merge")
SCALARS = (TEXT_TAG, *NUMBERS, f"{YAML}bool", f"{YAML}null")
MERGE_KEY = "<<"
DEEPEST_INCLUSION = 8
MOST_BYTES, MOST_VALUES, DEEPEST = 1 << 20, 200_000, 40
"""Limits of one file, which may be untrusted: the card of a registry, for example.

A value counts once for every place that an anchor puts it in.
"""
CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
EXPANDED = "holds_environment_variable"
EXPECTED = dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), WORDS[MAPPING])
EXPECTED |= dict.fromkeys(("tuple_type", "list_type"), WORDS[SEQUENCE])
EXPECTED |= dict.fromkeys(("float_type", "float_parsing"), "a number")
EXPECTED |= dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number")
EXPECTED |= dict.fromkeys(("bool_type", "bool_parsing"), WORDS[f"{YAML}bool"])
EXPECTED |= {"string_type": "text: put it in quotes"}
EXPECTED |= {"missing": "this key, which has no default: docs/configuration.md says what to write"}
"""Words for the expected type, by pydantic's word for the fault."""

MAPPING_NAME = "configuration"
"""Name of settings without a file in messages."""

Model = TypeVar("Model", bound=BaseModel)
Source = Path | Mapping[str, Any]
"""A YAML file, or the content of one."""
Overrides = Sequence[str] | Mapping[str, Any]
"""Other values of some keys: ``["batch_size=8"]`` or ``{"batch_size": 8}``."""


@dataclass(frozen=True)
class Origin:
    """Source of settings; all origins compare equal, so that equal settings do."""

    source: Source | None = field(default=None, compare=False)
    overrides: Overrides = field(default=(), compare=False)

    def locate(self, error: SettingError, *section: str) -> BadInput:
        """Error of a section of the settings with file, line and key added."""
        if self.source is None:
            return error
        problem = {"loc": (*section, *error.keys), "type": "fault", "msg": str(error)}
        return ConfigError(_describe(_read_node(self.source, self.overrides), problem))


def load(source: Source, model: type[Model], overrides: Overrides = ()) -> Model:
    """Read a YAML file, or a mapping of settings, into a settings model.

    ``overrides`` replace values, or add them; a part of a dotted key is a key or a place in a list.
    Relative ``python_path`` of settings without a file start from the current folder. Raises
    ConfigError when the file is missing, is not YAML, or does not fit the model, or an override has
    no place; the message lists all problems, each with file, line and key.
    """
    node = _read_node(source, overrides)
    check_settings(node)
    folder = source.parent if isinstance(source, Path) else Path()
    try:
        return model.model_validate(_mapping(node), context={FILE_FOLDER: folder})
    except ValidationError as error:
        raise ConfigError("\n".join(_describe_all(node, error))) from None


def plain_mapping(
    path: Path, checked_as: Literal["data", "settings", "names"] = "data"
) -> dict[str, Any]:
    """Read a YAML file of another person: keys and values as written.

    No file is included and no environment variable is filled in, so that a file from elsewhere
    cannot read this machine. Raises ConfigError when the file is missing, is not plain YAML, holds
    something else than keys and values, or has names that YAML would change among settings, or in a
    file of names alone.
    """
    node = _parse_file(path)
    if checked_as != "data":
        (check_settings if checked_as == "settings" else check_names)(node)
    return _mapping(node)


def faults(path: Path, error: ValidationError, most: int = 5) -> str:
    """First ``most`` problems of a plain file, each with file, line and key."""
    return abridge(_describe_all(_parse_file(path), error), most)


def _read_node(source: Source, overrides: Overrides) -> yaml.Node:
    """Node of a file, or of a mapping, with the overrides applied."""
    if isinstance(source, Path):
        node = _compose(source, depth=0)
    else:
        node = _fill_in(_parsed_text(_to_yaml(source), MAPPING_NAME), Path(), 0)
    for key, text in _assignments(overrides):
        value = _fill_in(_parsed_text(text, f"override {key}"), Path(), depth=0)
        node = _with(node, key.split("."), value)
    return node


def _to_yaml(value: Any) -> bytes:
    """A JSON value as one line of YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=math.inf)
    return text.encode(errors="surrogatepass")


def _assignments(overrides: Overrides) -> Iterator[tuple[str, bytes]]:
    if isinstance(overrides, Mapping):
        yield from ((key, _to_yaml(value)) for key, value in overrides.items())
        return
    for override in overrides:
        key, is_assigned, text = override.partition("=")
        if not (key and is_assigned):
            raise ConfigError(
                f"override {shorten_value(override)}: expected KEY=VALUE, as in study=nightly or "
                "batch_size=8"
            )
        yield key, (text or "null").encode()


def _with(node: yaml.Node, keys: Sequence[str], value: yaml.Node) -> yaml.Node:
    """The same node with another value at its keys; an anchor's other places stay as they are."""
    if not keys:
        return value
    key, *below = keys
    if isinstance(node, yaml.MappingNode):
        parts = list(node.value)
        at = next((at for at, (name, _) in enumerate(parts) if name.value == key), len(parts))
        name = yaml.ScalarNode(TEXT_TAG, key, value.start_mark)
        name, old = (*parts[at : at + 1], (name, yaml.MappingNode(MAPPING, [], value.start_mark)))[
            0
        ]
        parts[at : at + 1] = [(name, _with(old, below, value))]
        return yaml.MappingNode(node.tag, parts, node.start_mark)
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        items = list(node.value)
        items[int(key)] = _with(items[int(key)], below, value)
        return yaml.SequenceNode(node.tag, items, node.start_mark)
    expected = "keys and values"
    if isinstance(node, yaml.SequenceNode):
        expected = f"a place in its list of {len(node.value)}, the first is 0"
    raise ConfigError(
        f"{mark_of(value)}: {shorten_value(key)} is not in {type_of(node)}; expected {expected}"
    )


def _mapping(node: yaml.Node) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise node_fault(node, (), type_of(node), "keys and values")
    try:
        return yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.MarkedYAMLError as error:  # a merge of something else than keys and values
        raise ConfigError(f"{mark_of(node)}: {error.problem}; expected plain YAML") from None


def _compose(path: Path, depth: int) -> yaml.Node:
    if depth > DEEPEST_INCLUSION:
        raise ConfigError(f"{path}: files include each other more than {DEEPEST_INCLUSION} deep")
    return _fill_in(_parse_file(path), path, depth)


def _parse_file(path: Path) -> yaml.Node:
    remedy = "give the path of a YAML file"
    try:
        with open_file(path) as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist; {remedy}") from None
    except OSError as error:
        cause = error.strerror or str(error)
        raise ConfigError(f"{str(path)[:300]} cannot be read: {cause}; {remedy}") from error
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{path} is larger than {MOST_BYTES >> 20} MiB; {remedy}")
    return _parsed_text(content, str(path))


def _parsed_text(content: bytes, name: str) -> yaml.Node:
    """The node of a text that messages call by a name."""
    try:
        loader = yaml.SafeLoader(text := content.decode())
        loader.name = name
        node = loader.get_single_node()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: found {error.reason}; expected UTF-8") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        letter = f"character U+{error.character:04X}"
        raise ConfigError(
            f"{name}:{line}: found {letter}, which YAML does not allow; remove it"
        ) from None
    except yaml.MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        problem = "; ".join(filter(None, (error.context, error.problem)))
        raise ConfigError(f"{name}:{line}: it is not YAML: {problem}") from None
    except RecursionError:
        raise ConfigError(
            f"{name}: found values nested too deeply; expected at most {DEEPEST} levels"
        ) from None
    except ValueError as error:  # a number of a character that there is not
        raise ConfigError(f"{name} is not YAML: {error}") from None
    if node is None:
        raise ConfigError(f"{name} is empty; expected keys and values")
    _check_plain(node)
    return node


def _check_plain(root: yaml.Node) -> None:
    """Refuse values that JSON lacks, and documents that are too large, before parsing values.

    An anchor counts in every place that names it, so one that is in itself is nested too deep.
    """
    values: list[tuple[yaml.Node, tuple[str, ...]]] = [(root, ())]
    count = 0
    while values:
        node, keys = values.pop()
        count += 1
        if len(keys) >= DEEPEST:
            fault_text = "an anchor in itself, or values nested too deeply"
            raise node_fault(node, keys, fault_text, f"at most {DEEPEST} levels")
        if count > MOST_VALUES:
            expected = f"{MOST_VALUES} at most, with anchors filled in"
            raise node_fault(node, keys, "too many values", expected)
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node, keys)
            continue
        is_mapping = isinstance(node, yaml.MappingNode)
        if node.tag != (MAPPING if is_mapping else SEQUENCE):
            raise node_fault(node, keys, type_of(node), "plain keys and values, or a list")
        seen_keys: set[str] = set()
        for key, _ in node.value if is_mapping else ():
            if key.tag not in KEYS:
                raise node_fault(key, keys, f"a key of {type_of(key)}", "text: put it in quotes")
            if key.value in seen_keys and key.value != MERGE_KEY:
                raise ConfigError(f"{mark_of(key)}: key {shorten_value(key.value)} is given twice")
            seen_keys.add(key.value)
        parts = node.value if is_mapping else enumerate(node.value)
        values += [(value, (*keys, getattr(key, "value", str(key)))) for key, value in parts]


def _check_scalar(node: yaml.ScalarNode, keys: tuple[str, ...]) -> None:
    if control := CONTROL.search(node.value):
        raise node_fault(node, keys, f"character U+{ord(control[0]):04X}", "printable text")
    if node.tag == FILE_TAG:
        return
    if node.tag not in SCALARS:
        scalar = f"{type_of(node)} {shorten_value(node.value)}"
        raise node_fault(node, keys, scalar, "a number, or text: put it in quotes")
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)
        is_finite = not isinstance(value, float) or math.isfinite(value)
    except (ValueError, LookupError):
        is_finite = False
    if not is_finite:
        expected = "a finite number" if node.tag in NUMBERS else "true or false"
        raise node_fault(node, keys, shorten_value(node.value), expected)


def _fill_in(root: yaml.Node, path: Path, depth: int) -> yaml.Node:
    """Put included files and environment variables in place; names all variables that are unset."""
    missing_variables = {
        name: f"{mark_of(node)}: environment variable {name} is not set; set it, as in "
        f"{name}=VALUE decaf …"
        for node in _scalars(root)
        for name in VARIABLE.findall(node.value if node.tag in (FILE_TAG, TEXT_TAG) else "")
        if name not in os.environ
    }
    if missing_variables:
        raise ConfigError("\n".join(missing_variables.values()))
    return _resolve(root, path, depth)


def _scalars(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield all values without keys, in their order."""
    if isinstance(node, yaml.ScalarNode):
        yield node
        return
    for part in node.value:
        yield from _scalars(part[1] if isinstance(node, yaml.MappingNode) else part)


def _resolve(node: yaml.Node, path: Path, depth: int) -> yaml.Node:
    if isinstance(node, yaml.MappingNode):
        node.value = [(key, _resolve(value, path, depth)) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        node.value = [part for item in node.value for part in _items(item, path, depth)]
    elif node.tag == FILE_TAG:
        return _compose(path.parent / _expand(node), depth + 1)
    elif node.tag == TEXT_TAG:
        expanded = _expand(node)
        if expanded != node.value:
            node.value = expanded
            setattr(node, EXPANDED, True)
    return node


def _items(item: yaml.Node, path: Path, depth: int) -> list[yaml.Node]:
    """Expand an item of a list: the item itself, or all items of an included list."""
    resolved = _resolve(item, path, depth)
    is_list_of_file = item.tag == FILE_TAG and isinstance(resolved, yaml.SequenceNode)
    return resolved.value if is_list_of_file else [resolved]


def _expand(node: yaml.ScalarNode) -> str:
    return VARIABLE.sub(lambda match: os.environ[match[1]], node.value)


def wording(problem: Any) -> str:
    """Words for a problem that pydantic lists."""
    if problem["type"] == "union_tag_invalid":
        context = problem["ctx"]
        known_tags = re.findall("'([^']*)'", context["expected_tags"])
        key = context["discriminator"].strip("'")
        return (
            f"unknown {key} {shorten_value(context['tag'])}{suggestion(context['tag'], known_tags)}"
        )
    expected = EXPECTED.get(problem["type"])
    return f"expected {expected}" if expected else str(problem["msg"])


def _describe_all(node: yaml.Node, error: ValidationError) -> list[str]:
    """Describe each problem once; a list with faulty members does not also count as too short."""
    problems: list[Any] = list(error.errors(include_url=False))
    parents = {fault["loc"][:depth] for fault in problems for depth in range(len(fault["loc"]))}
    return list(
        dict.fromkeys(
            _describe(node, problem)
            for problem in problems
            if problem["type"] != "too_short" or problem["loc"] not in parents
        )
    )


def _describe(root: yaml.Node, problem: Any) -> str:
    node, keys = _walk(root, problem)
    where = f"'{'.'.join(keys)}': " if keys else ""
    value = problem.get("input")
    # A value from the environment may be a secret.
    is_shown = isinstance(value, str | int | float | bool) and not hasattr(node, EXPANDED)
    # A number or a truth value may be written otherwise: 1.10 is 1.1, and no is false.
    is_other = isinstance(node, yaml.ScalarNode) and not isinstance(value, str)
    as_written = node.value if is_other else shorten_value(value)
    shown = f" (found {as_written})" if is_shown else ""
    return f"{mark_of(node)}: {where}{wording(problem)}{shown}"


def _walk(node: yaml.Node, problem: Any) -> tuple[yaml.Node, list[str]]:
    """Deepest node that leads to the problem, and the keys down to it; union tags are not keys."""
    keys: list[str] = []
    for depth, part in enumerate(problem["loc"], start=1):
        if isinstance(node, yaml.MappingNode):
            values = {name.value: value for name, value in node.value}
            is_missing = depth == len(problem["loc"]) and problem["type"] == "missing"
            if str(part) not in values and not is_missing:
                continue
            node = values.get(str(part), node)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
        else:
            break
        keys.append(str(part))
    # A key that is wrong itself is where the eye should go.
    wrong = problem.get("ctx", {}).get("key")
    if isinstance(node, yaml.MappingNode):
        node = next((name for name, _ in node.value if name.value == wrong), node)
    return node, keys
