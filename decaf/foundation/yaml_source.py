"""Read YAML so that every error can name its file, line and key.

Two additions to plain YAML: ``!file other.yaml`` puts the content of another file (relative to the
one that names it) in its place, all items of it where both are lists, and ``${NAME}`` in a text is
the environment variable ``NAME``.
Only plain YAML types are built; no tag makes an object.
"""

import os
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from decaf.errors import ConfigError
from decaf.foundation.settings import FILE_FOLDER

VARIABLE = re.compile(r"\$\{(\w+)\}")
FILE_TAG = "!file"
TEXT_TAG = "tag:yaml.org,2002:str"
MERGE_KEY = "<<"
DEEPEST_INCLUSION = 8
EXPANDED = "holds_environment_variable"

Model = TypeVar("Model", bound=BaseModel)


def load(path: Path, model: type[Model]) -> Model:
    """Read a YAML file into a settings model.

    Raises ConfigError when the file is missing, is not YAML, or does not fit the model; all
    problems are listed, each with file, line and key.
    """
    node = _compose(path, depth=0)
    given = _constructed(node, path)
    try:
        return model.model_validate(given, context={FILE_FOLDER: path.parent})
    except ValidationError as error:
        problems = [_describe(node, problem) for problem in error.errors(include_url=False)]
        raise ConfigError("\n".join(dict.fromkeys(problems))) from None


def plain_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file that others wrote: keys and values as they stand.

    Nothing is included and no environment variable is filled in, so that a file from elsewhere
    cannot learn what is on this machine. Raises ConfigError when the file is missing, is not plain
    YAML, or holds something else than keys and values.
    """
    given = _constructed(_parsed(path), path)
    if not isinstance(given, dict):
        raise ConfigError(f"{path} holds {type(given).__name__}; expected keys and values")
    return given


def _compose(path: Path, depth: int) -> yaml.Node:
    if depth > DEEPEST_INCLUSION:
        raise ConfigError(f"{path}: files include each other more than {DEEPEST_INCLUSION} deep")
    return _resolve(_parsed(path), path, depth)


def _parsed(path: Path) -> yaml.Node:
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
    return node


def _constructed(node: yaml.Node, path: Path) -> Any:
    try:
        return yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not plain YAML: {error}") from error


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
    """What an item of a list stands for: itself, or all items of a file that holds a list."""
    resolved = _resolve(item, path, depth)
    is_list_of_file = item.tag == FILE_TAG and isinstance(resolved, yaml.SequenceNode)
    return resolved.value if is_list_of_file else [resolved]


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


def _describe(root: yaml.Node, problem: Any) -> str:
    node, keys = _walk(root, problem)
    where = f"'{'.'.join(keys)}': " if keys else ""
    given = problem.get("input")
    # What came from the environment may be a secret.
    is_shown = isinstance(given, str | int | float | bool) and not hasattr(node, EXPANDED)
    shown = f" (found {given!r})" if is_shown else ""
    return f"{_mark(node)}: {where}{problem['msg']}{shown}"


def _walk(node: yaml.Node, problem: Any) -> tuple[yaml.Node, list[str]]:
    """Deepest node on the way to the problem, and the keys on it; union tags are not keys."""
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


def _mark(node: yaml.Node) -> str:
    return f"{node.start_mark.name}:{node.start_mark.line + 1}"
