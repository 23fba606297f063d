"""Check the types of a path's settings, which a user of the library gives without pydantic."""

from dataclasses import Field
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from decaf.errors import ResponseError, UnknownName
from decaf.foundation.arrays import REALS

KINDS: dict[Any, tuple[tuple[type, ...], str]] = {
    int: ((int, np.integer), "a whole number"),
    float: (REALS, "a number"),
    str: ((str,), "text"),
    NoneType: ((NoneType,), "None"),
}


def check_type(owner: str, setting: Field[Any], value: Any) -> None:
    """Refuse a value that the annotation of a dataclass field excludes.

    Annotations of other types than numbers, text, None, literals, and tuples and unions of these
    accept every value.

    Raises UnknownName for a word that a literal does not list, and ResponseError for other values.
    """
    words = [word for part in _alternatives(setting.type) for word in _literal_words(part)]
    if words and isinstance(value, str) and value not in words:
        raise UnknownName.among(setting.name, value, words)
    if not _fits(value, setting.type):
        raise ResponseError(
            f"{setting.name} of {owner} is {value!r}; expected {_describe(setting.type)}"
        )


def _fits(value: Any, annotation: Any) -> bool:
    if len(alternatives := _alternatives(annotation)) > 1:
        return any(_fits(value, part) for part in alternatives)
    if words := _literal_words(annotation):
        return any(value is word or (type(value) is type(word) and value == word) for word in words)
    if get_origin(annotation) is tuple:
        item = get_args(annotation)[0]
        return isinstance(value, tuple | list) and all(_fits(part, item) for part in value)
    if annotation not in KINDS:
        return True
    return isinstance(value, KINDS[annotation][0]) and not isinstance(value, bool)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    is_union = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if is_union else (annotation,)


def _literal_words(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _describe(annotation: Any) -> str:
    if len(alternatives := _alternatives(annotation)) > 1:
        return " or ".join(map(_describe, alternatives))
    if words := _literal_words(annotation):
        return " or ".join(map(repr, words))
    if get_origin(annotation) is tuple:
        return f"a tuple, each item {_describe(get_args(annotation)[0])}"
    return KINDS[annotation][1]
