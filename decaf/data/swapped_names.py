"""Find factual and counterfactual columns or files that seem to be swapped or shifted.

The user decides which input of a pair is the factual one; decaf remarks only on names that
contradict it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from decaf.errors import DataError, abridge, number_of
from decaf.foundation.files import is_inside
from decaf.foundation.names import fault_of, quote

CHANGED = {"counterfactual", "counterfactuals", "cf", "cfs"} | {
    "changed",
    "edited",
    "edits",
    "swapped",
}
UNCHANGED = {"factual", "factuals", "original", "originals"} | {"plain", "unchanged"}
COUNTER = re.compile(r"counter[^a-z]factual")
NO_LETTERS = re.compile(r"[^a-z]+")
LOOKED_AT = 100
"""Most rows whose names are read."""


def remark_swapped(factual: Iterable[str], counterfactual: Iterable[str]) -> tuple[str, ...]:
    """Remark that factual inputs have names of counterfactuals, or the reverse.

    There is a remark only if all factual inputs are called counterfactual, or all counterfactual
    inputs factual; a name with words of both kinds is neither. Equal names are not swapped. Names
    may be paths.
    """
    factual, counterfactual = list(factual), list(counterfactual)
    if factual == counterfactual:
        return ()
    says_changed = all(_is_called(name, CHANGED, UNCHANGED) for name in factual)
    says_unchanged = all(_is_called(name, UNCHANGED, CHANGED) for name in counterfactual)
    if not (says_changed or says_unchanged):
        return ()
    return (
        f"factual inputs come from {quote(factual[0])} and counterfactual ones from "
        f"{quote(counterfactual[0])}, so they seem to be swapped: if they are, exchange them; "
        "otherwise d has the wrong sign and the accuracy is that of the counterfactual inputs",
    )


def remark_other_pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Remark on counterfactual files that have the name of the factual file of another pair.

    ``pairs`` has the factual and the counterfactual path of each pair. Names have no folders and
    no suffix. A file that is itself a factual input is paired on purpose.

    >>> list(remark_other_pairs([("a.png", "edits/b.png"), ("b.png", "edits/b.png")]))[0][:40]
    'in 1 of 2 pairs the counterfactual file '
    """
    files = {factual for factual, _ in pairs}
    names = {_name_of(file) for file in files}
    mismatched = [
        f"{factual} with {changed}"
        for factual, changed in pairs
        if changed not in files
        and _name_of(changed) in names
        and _name_of(changed) != _name_of(factual)
    ]
    if mismatched:
        yield (
            f"in {len(mismatched)} of {number_of(len(pairs), 'pair')} the counterfactual file has "
            f"the name of another pair's factual file ({abridge(mismatched)}); expected a photo "
            "and its own edit: check that no column of the table is shifted or sorted"
        )


def _name_of(file: str) -> str:
    return PurePosixPath(file).stem


def refuse_swapped_columns(
    table: Mapping[str, Sequence[str | None]],
    files: Iterable[str],
    words: Iterable[str],
    root: Path,
    path: Path,
) -> None:
    """Refuse a table whose column for file names has no file, while a column for words has files.

    ``files`` and ``words`` are names of columns; files lie below ``root``. Raises DataError.
    """
    strange = [name for name in files if not any(_are_files(table, name, root))]
    for name in words:
        if strange and name in table and all(_are_files(table, name, root)):
            word, file = (quote(str(table[column][0])) for column in (strange[0], name))
            raise DataError(
                f"table {path}: {word} in column {quote(strange[0])} is not a file in {root}, but "
                f"{file} in column {quote(name)} is; expected files in {quote(strange[0])}: "
                "correct the header, or name the columns under 'columns:'"
            )


def _are_files(table: Mapping[str, Sequence[str | None]], name: str, root: Path) -> list[bool]:
    cells = [cell or "" for cell in table[name][:LOOKED_AT]]
    return [not fault_of(cell) and _is_file(root / cell, root) for cell in cells]


def _is_file(file: Path, root: Path) -> bool:
    try:
        return is_inside(file, root) and file.is_file()
    except OSError:  # not a possible file name, such as 300 letters
        return False


def _is_called(name: str, words: set[str], others: set[str]) -> bool:
    parts = {*NO_LETTERS.split(COUNTER.sub("counterfactual", name.lower()))}
    return bool(parts & words) and not parts & others
