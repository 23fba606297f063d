"""Rows of a table and their counterfactuals as values, a part of them at a time.

A table of a million rows is held packed: the values of its rows would take several gigabytes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.change_remarks import (
    describe_other_rows,
    differing_rows,
    remark_moved_marks,
    remark_outside,
)
from decaf.data.coded import Coded, code_texts, concat_coded, first_rows, recode, texts_of
from decaf.data.column_proxies import ChangedRows
from decaf.data.frames import FrameSchema
from decaf.data.inputs import InputColumns
from decaf.data.texts import (
    SHA256_BYTES,
    Texts,
    WrittenTexts,
    concat_texts,
    join_texts,
    parts_of,
    sha256_rows,
    write_hex,
    write_numbers,
)
from decaf.errors import MOST_KNOWN, abridge
from decaf.foundation.names import quote

FACTUAL = "factual"
"""Kind of the rows of the table."""
ROWS_AT_ONCE = 4096
"""Rows to unpack at a time, so that their values stay in the processor's cache."""
TABLE_ROW = -1
"""Origin of an input that is a row of the table."""


class PackedRows(NamedTuple):
    """Rows of a frame: a number for the category of each, not a value for every category."""

    columns: FrameSchema
    parts: Sequence[NDArray[Any]]
    """Part for each column, as :meth:`FrameSchema.pack` gives them."""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.parts[0])

    def values(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        """(n, width) values of some rows, as :meth:`FrameSchema.encode` gives them."""
        return self.columns.spread([part[rows] for part in self.parts])


class Counterfactuals(NamedTuple):
    """Counterfactual rows of one origin, each with the row that it belongs to."""

    place: NDArray[np.int64]
    """(m,) rows of the table."""
    rows: PackedRows
    """(m,)."""
    pair_type: Coded[Texts]
    """(m,)."""
    suffix: Texts | None = None
    """(m,) letters after row and type in the name of the pair."""
    feature: int = 0

    def change_counts(self, factual: PackedRows) -> NDArray[np.int64]:
        """(n_types, n_columns) rows of each pair type that differ from their row, by column."""
        codes, type_count = self.pair_type.codes, len(self.pair_type.values)
        counts = np.zeros((type_count, len(factual.parts)), np.int64)
        for number, (before, after) in enumerate(zip(factual.parts, self.rows.parts, strict=True)):
            if number + 1 == self.feature:
                counts[:, number] = np.bincount(codes, minlength=type_count)
            elif after is not before:
                is_changed = differing_rows(before[self.place], after)
                counts[:, number] = np.bincount(codes[is_changed], minlength=type_count)
        return counts


class PairedRows(NamedTuple):
    """Counterfactual rows that differ from their rows, and the inputs that these pairs use.

    The row of a pair comes before its counterfactual, unless an earlier pair has it.
    """

    factual: PackedRows
    origins: Sequence[Counterfactuals]
    row: NDArray[np.int64]
    """(n_pairs,) row of the table."""
    feature: NDArray[np.int64]
    """(n_pairs,) column that the pair removes, from 1; 0 for none."""
    pair_type: Coded[Texts]
    suffix: Texts | None
    plus: NDArray[np.int64]
    """(n_pairs,) position of the row among the inputs."""
    minus: NDArray[np.int64]
    origin: NDArray[np.int16]
    """(n_inputs,) number of the origin; -1 for rows of the table."""
    number: NDArray[np.int64]
    """(n_inputs,) number of the row in its origin."""

    def read(self, positions: NDArray[np.int64]) -> NDArray[np.floating]:
        """(n, width) values of inputs."""
        columns = self.factual.columns
        values = np.empty((positions.size, columns.width), columns.value_type)
        origin, number = self.origin[positions], self.number[positions]
        for code in np.unique(origin):
            rows = self.factual if code == TABLE_ROW else self.origins[code].rows
            values[origin == code] = rows.values(number[origin == code])
        return values

    def pair_ids(self, ids: Texts) -> Texts:
        """(n_pairs,) names of the pairs, by the names of the rows."""
        suffix = [] if self.suffix is None else [self.suffix]
        return join_texts(ids.take(self.row), "__", texts_of(self.pair_type), *suffix)

    def inputs(self, ids: Texts, pair_ids: Texts) -> InputColumns:
        """Inputs of the pairs, by the names of rows and pairs."""
        is_made = self.minus != self.plus
        kinds = code_texts([FACTUAL, *self.pair_type.values])
        kind = np.zeros(self.origin.size, np.int32)
        kind[self.minus[is_made]] = kinds.codes[1:][self.pair_type.codes[is_made]]
        return InputColumns(
            self._image_ids(ids, pair_ids),
            recode(kind, kinds.values),
            WrittenTexts(self._digests(), write_hex),
            WrittenTexts(np.arange(self.origin.size), write_numbers),
        )

    def _image_ids(self, ids: Texts, pair_ids: Texts) -> Texts:
        is_made = self.minus != self.plus
        used = np.flatnonzero(self.origin == TABLE_ROW)
        place = np.empty(self.origin.size, np.int64)
        place[used] = np.arange(used.size)
        place[self.minus[is_made]] = np.arange(used.size, place.size)
        names = concat_texts(
            join_texts(f"{FACTUAL}/", ids.take(self.number[used])),
            join_texts("counterfactual/", pair_ids.take(np.flatnonzero(is_made))),
        )
        return names.take(place)

    def changed_columns(self) -> dict[str, tuple[str, ...]]:
        """Columns that differ in any pair, by pair type, in the order of the table."""
        names = [column.name for column in self.factual.columns.columns]
        places: dict[str, set[int]] = {}
        for origin in self.origins:
            for code, place in np.argwhere(origin.change_counts(self.factual)).tolist():
                places.setdefault(origin.pair_type.values[code], set()).add(place)
        return {name: tuple(names[place] for place in sorted(places[name])) for name in places}

    def changes(self) -> Iterator[ChangedRows]:
        """Counterfactual rows of each pair type and origin, also those that equal their row."""
        for origin in self.origins:
            for code, pair_type in enumerate(origin.pair_type.values):
                number = np.flatnonzero(origin.pair_type.codes == code)
                factual_number, is_removal = origin.place[number], origin.feature > 0
                yield ChangedRows(pair_type, origin.rows.parts, number, factual_number, is_removal)

    def _digests(self) -> NDArray[np.uint8]:
        """(n_inputs, 32) sha256 of the values of each input."""
        digests = np.empty((self.origin.size, SHA256_BYTES), np.uint8)
        for some in parts_of(np.arange(self.origin.size), ROWS_AT_ONCE):
            digests[some[0] : some[-1] + 1] = sha256_rows(self.read(some))
        return digests


def remark_equal(origins: Sequence[Counterfactuals], paired: PairedRows) -> Iterator[str]:
    """Remark that counts, by type, the counterfactuals that equal their row, if there are any."""
    changed: Counter[str] = Counter()
    for origin in origins:
        if not origin.feature:
            changed.update(origin.pair_type.counts())
    equal = changed - Counter(paired.pair_type.take(np.flatnonzero(paired.feature == 0)).counts())
    if equal:
        types = [f"{name} {n:,} of {changed[name]:,}" for name, n in sorted(equal.items())]
        yield (
            "table: counterfactuals that equal their row are left out: "
            f"{equal.total():,} of {changed.total():,} ({abridge(types, MOST_KNOWN)})"
        )


def remark_changes(factual: PackedRows, origin: Counterfactuals) -> Iterator[str]:
    """Name the changed columns of each pair type, and remark on changes that are rarely intended.

    ``origin`` has the rows of a second table. A pair whose rows are equal does not count.
    """
    names = [quote(column.name) for column in factual.columns.columns]
    codes, types = origin.pair_type.codes, [*map(quote, origin.pair_type.values)]
    pair_counts = np.bincount(codes[_differing(factual, origin)], minlength=len(types))
    words = []
    for pair_type, count, counts in zip(
        types, pair_counts.tolist(), origin.change_counts(factual).tolist(), strict=True
    ):
        changed = [
            f"{name} in {n:,} of {count:,}" for name, n in zip(names, counts, strict=True) if n
        ]
        if changed:
            words.append(f"of pair type {pair_type}: {abridge(changed, MOST_KNOWN)} pairs")
    if words:
        yield f"changed columns {abridge(words, MOST_KNOWN)}"
    before = [part[origin.place] for part in factual.parts]
    if reason := describe_other_rows(before, origin.rows.parts):
        yield f"{reason}: check that equal ids name the same rows in both tables"
    order, ends = np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))
    for pair_type, rows in zip(types, np.split(order, ends[:-1]), strict=True):
        subject, columns = f"pair type {pair_type}", factual.columns
        changes = [part[rows] for part in before], [part[rows] for part in origin.rows.parts]
        yield from remark_outside(subject, "the table", columns, factual.parts, *changes)
        yield from remark_moved_marks(subject, columns, factual.parts, *changes)


def pair_rows(factual: PackedRows, origins: Sequence[Counterfactuals]) -> PairedRows:
    """Pair rows with their counterfactuals that differ, and with themselves without a feature.

    Pairs come in the order of ``origins``.
    """
    differing = [_differing(factual, counterfactuals) for counterfactuals in origins]
    row = np.concatenate(
        [
            counterfactuals.place[some]
            for counterfactuals, some in zip(origins, differing, strict=True)
        ]
    )
    sizes = [some.size for some in differing]
    feature = np.repeat([counterfactuals.feature for counterfactuals in origins], sizes)
    is_made = feature == 0
    first = first_rows(row, factual.row_count)
    is_new = first[row] == np.arange(row.size)
    ends = np.cumsum(np.add(is_new, is_made, dtype=np.int64))
    plus = (ends - is_new - is_made)[first[row]]
    minus = np.where(is_made, ends - 1, plus)
    count = int(ends[-1]) if ends.size else 0
    origin, number = np.full(count, TABLE_ROW, np.int16), np.empty(count, np.int64)
    number[plus] = row
    origin[minus[is_made]] = np.repeat(np.arange(len(origins)), sizes)[is_made]
    number[minus[is_made]] = np.concatenate(differing)[is_made]
    both = [*zip(origins, differing, strict=True)]
    types = [counterfactuals.pair_type.take(some) for counterfactuals, some in both]
    suffixes = [
        (counterfactuals.suffix or Texts.repeat("", counterfactuals.place.size)).take(some)
        for counterfactuals, some in both
    ]
    return PairedRows(
        *(factual, origins, row, feature, concat_coded(types)),
        concat_texts(*suffixes)
        if any(counterfactuals.suffix for counterfactuals in origins)
        else None,
        *(plus, minus, origin, number),
    )


def _differing(factual: PackedRows, origin: Counterfactuals) -> NDArray[np.int64]:
    """Numbers of the counterfactual rows to keep: those that differ, or lack a feature."""
    differs = np.full(origin.place.size, origin.feature > 0)
    for before, after in zip(factual.parts, origin.rows.parts, strict=True):
        if after is not before:
            differs |= differing_rows(before[origin.place], after)
    return np.flatnonzero(differs)
