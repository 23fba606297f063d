"""Words of a CSV that pandas reads as missing values, such as NA and None: some of them are values.

An empty cell is always missing. A word is a value if a configuration declares it for its column,
or if its column holds names (ids, labels, groups) that are text. A column of numbers keeps its
type: in it, a word stays missing, unless the configuration declares it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from decaf.data.frame_libraries import LIBRARIES, Frame
from decaf.errors import MOST_KNOWN, abridge
from decaf.foundation.names import quote

Values = Mapping[str, Collection[Any]]
"""Values by column."""
Words = Mapping[str, Counter[str]]
"""Words with their counts, by column."""


class Declarations(NamedTuple):
    """Values that the words of a table may stand for."""

    declared: Values = {}
    """Levels and classes by column, of any column."""
    of_text: Values = {}
    """Values by column that are declared only if the column is text."""
    names: Collection[str] = ()
    """Columns of names."""


NOTHING_DECLARED = Declarations()


class ReadTable(NamedTuple):
    """A table as a data frame, and the words of its file that pandas reads as missing."""

    frame: Frame
    missing: Words = {}
    """Words that were read as missing."""
    names: Words = {}
    """Words that were taken as names although pandas reads them as missing."""
    zeros: Mapping[str, str] = {}
    """First cell with leading zeros of each column that was read as numbers."""
    thousands: Mapping[str, str] = {}
    """First cell like 32.878 of each column of numbers whose points may separate thousands."""


def restore_words(frame: Frame, cells: Frame, declarations: Declarations) -> ReadTable:
    """Put words that are values back into the columns in which pandas read them as missing.

    ``cells`` are the texts of columns without any conversion, among them all columns that have
    missing values.
    """
    missing: dict[str, Counter[str]] = {}
    names: dict[str, Counter[str]] = {}
    for name in cells:
        texts = cells[name].fillna("")
        is_word = frame[name].isna() & (texts != "")
        words = set(texts[is_word])
        if not words:
            continue
        present = frame[name].dropna()
        is_text = present.empty or LIBRARIES["pandas"].content(present) == "string"
        values = set(declarations.declared.get(name, ()))
        if is_text:
            values |= set(declarations.of_text.get(name, ()))
        undeclared = words - values
        if name in declarations.names and is_text and undeclared:
            names[name] = Counter(texts[is_word & texts.isin(undeclared)])
            undeclared = set()
        is_value = is_word & ~texts.isin(undeclared)
        if undeclared:
            missing[name] = Counter(texts[is_word & ~is_value])
        if is_value.any():
            column = frame[name].astype("str") if is_text else frame[name].astype(object)
            frame[name] = column.mask(is_value, texts)
    return ReadTable(frame, missing, names)


def remark_words(table: ReadTable, used: Collection[str | None]) -> Iterator[str]:
    """Remark on words of used columns: those read as missing, and those taken as names."""
    if missing := [*_count_words(table.missing, used)]:
        yield (
            f"words read as missing values: {abridge(missing, MOST_KNOWN)}; a word that is a value "
            "belongs under 'categories:'"
        )
    if names := [*_count_words(table.names, used)]:
        yield (
            f"words read as names, not as missing values: {abridge(names, MOST_KNOWN)}; if the "
            "name is missing, leave the cell empty"
        )


def _count_words(words: Words, used: Collection[str | None]) -> Iterator[str]:
    for column, counts in words.items():
        if column in used:
            for word, count in sorted(counts.items()):
                yield f"{quote(column)} {quote(word)} ({count:,})"
