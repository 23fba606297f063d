"""The filter of a page, as people write it: ``orange role:evidence abs>0.2``."""

import math
import re
from collections.abc import Callable

import pyarrow as pa

from decaf.errors import suggestion
from flows.view.addresses import BadAddress
from flows.view.snapshot import NAMED
from warehouse.query.pages import Filter, Term

WORD = re.compile(r'[^\s"]*"[^"]*"|\S+')
COMPARISON = re.compile(r"(\w+)(<=|>=|<|>|:)(.*)", re.DOTALL)
SHORT = {
    "abs": "abs_response",
    "e": "evidence",
    "c": "contradiction",
    "f": "fragility",
    "d": "endpoint_delta",
    "m": "endpoint_magnitude",
    "model": "model_id",
    "pair": "pair_id",
    "type": "pair_type",
}
"""Short names of columns."""

FindNames = Callable[[str, str], set[str]]
"""Return the pair types or paths whose display name contains a text."""


def parse_filter(text: str, columns: pa.Schema, find_names: FindNames) -> list[Filter]:
    """Read the words of a filter, all of which must fit a row.

    ``name:text`` is a part of a column's text, in any case, or the value of a number; ``name>0.2``
    bounds a number; any other word is a part of some text. Quotes hold a text with spaces together.

    Raises BadAddress for a column that is unknown or of another type, and for a value that should
    be a number and is not.
    """
    return [_filter(word, columns, find_names) for word in WORD.findall(text)]


def _filter(word: str, columns: pa.Schema, find_names: FindNames) -> Filter:
    comparison = COMPARISON.fullmatch(word)
    if comparison is None:
        texts = [name for name in columns.names if pa.types.is_string(columns.field(name).type)]
        part = word.replace('"', "")
        return Filter(tuple(term for name in texts for term in _parts(name, part, find_names)))
    short, sign, value = comparison.groups()
    name, value = SHORT.get(short.lower(), short.lower()), value.replace('"', "")
    if name not in columns.names:
        hint = suggestion(short, [*columns.names, *SHORT])
        raise BadAddress(f"the filter {word!r} names an unknown column{hint}")
    if is_number(columns.field(name).type):
        return Filter((Term(name, "is" if sign == ":" else sign, _number(word, value)),))
    if sign != ":":
        raise BadAddress(
            f"the filter {word!r} compares a text column by size; write {short}:{value} to search "
            "in it"
        )
    return Filter(_parts(name, value, find_names))


def _parts(name: str, part: str, find_names: FindNames) -> tuple[Term, ...]:
    """Terms of a text that contains a part, or whose display name does."""
    names = find_names(name, part) if name in NAMED else set()
    hidden = sorted(kind for kind in names if part.lower() not in kind.lower())
    return (Term(name, "has", part), *(Term(name, "is", kind) for kind in hidden))


def _number(word: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadAddress(f"the filter {word!r} compares with {text!r}; expected a number")
    return number


def is_number(kind: pa.DataType) -> bool:
    """True for the type of a column of numbers."""
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)
