"""Read YAML so that every error can name its file, line and key.

Two additions to plain YAML: ``!file other.yaml`` puts the content of another file (relative to the
one that names it) in its place, and ``${NAME}`` in a text is the environment variable ``NAME``.
Only plain YAML types are built; no tag makes an object.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from decaf.errors import ConfigError

VARIABLE = re.compile(r"\$\{(\w+)\}")
FILE_TAG = "!file"
TEXT_TAG = "tag:yaml.org,2002:str"
MERGE_KEY = "<<"
DEEPEST_INCLUSION = 8

Model = TypeVar("Model", bound=BaseModel)


def load(path: Path, model: type[Model]) -> Model:
    """Read a YAML file into a settings model.

    Raises
    ------
    ConfigError
        When the file is missing, is not YAML, or does not fit the model; all problems are listed,
        each with file, line and key.
    """
    node = _compose(path, depth=0)
    try:
        given = yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not plain YAML: {error}") from error
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = [
            f"{_place(node, problem['loc'], problem)}: {_describe(problem)}"
            for problem in error.errors(include_url=False)
        ]
        raise ConfigError("\n".join(dict.fromkeys(problems))) from None


def _compose(path: Path, depth: int) -> yaml.Node:
    if depth > DEEPEST_INCLUSION:
        raise ConfigError(f"{path}: files include each other more than {DEEPEST_INCLUSION} deep")
    try:
        with path.open(encoding="utf-8") as file:
            node = yaml.compose(file, Loader=yaml.SafeLoader)
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist; give the path of a YAML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error
    if node is None:
        raise ConfigError(f"{path} is empty; expected keys and values")
    return _resolve(node, path, depth)


def _resolve(node: yaml.Node, path: Path, depth: int) -> yaml.Node:
    """Put included files and environment variables in place; refuse repeated keys."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if key.value in seen and key.value != MERGE_KEY:
                raise ConfigError(f"{_mark(key)}: key '{key.value}' is given twice")
            seen[key.value] = key
        node.value = [(key, _resolve(value, path, depth)) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        node.value = [_resolve(item, path, depth) for item in node.value]
    elif node.tag == FILE_TAG:
        return _compose(path.parent / _expand(node), depth + 1)
    elif node.tag == TEXT_TAG:
        node.value = _expand(node)
    return node


def _expand(node: yaml.ScalarNode) -> str:
    def value(match: re.Match) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise ConfigError(
                f"{_mark(node)}: environment variable {match[1]} is not set; set it, as in "
                f"{match[1]}=/path/to/data decaf …"
            )
        return found

    return VARIABLE.sub(value, node.value)


def _describe(problem: Any) -> str:
    keys = ".".join(str(part) for part in problem["loc"])
    where = f"'{keys}': " if keys else ""
    given = problem.get("input")
    shown = f" (found {given!r})" if isinstance(given, str | int | float | bool) else ""
    return f"{where}{problem['msg']}{shown}"


def _place(node: yaml.Node, location: Sequence[str | int], problem: Any) -> str:
    """File and line of the deepest node on the way to the problem; union tags are not keys."""
    key = problem.get("ctx", {}).get("key")
    for part in [*location, *([key] if key else [])]:
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == str(part):
                    node = name if part == key else value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
    return _mark(node)


def _mark(node: yaml.Node) -> str:
    return f"{node.start_mark.name}:{node.start_mark.line + 1}"
