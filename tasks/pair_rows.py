"""Rows of the tables about the pairs of a study and their inputs, in parts."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from decaf.data.pairs import PairSet, Rows
from decaf.data.texts import Texts, parts_of

AT_ONCE = 122_880
"""Pairs or inputs whose rows are made and written at a time: a row group."""


def pair_tables(pairs: PairSet) -> dict[str, Iterator[pa.Table]]:
    """Rows of every table about the pairs and their inputs, by its name.

    Tables without rows are left out.
    """
    columns, inputs = pairs.pairs, pairs.inputs
    tables = {"pairs": _rows_of_pairs(pairs), "images": _rows_of_images(pairs)}
    if inputs.files is not None:
        tables["image_files"] = _rows_of_files(pairs)
    if columns.features.any():
        tables["features"] = _rows_of_features(pairs)
    if any(columns.groups.values):
        tables["pair_groups"] = _rows_of_groups(pairs)
    return tables


def _table(pairs: PairSet, columns: Mapping[str, Any]) -> pa.Table:
    arrays = {
        name: column.arrow if isinstance(column, Texts) else pa.array(column)
        for name, column in columns.items()
    }
    count = len(next(iter(arrays.values())))
    return pa.table({"pairs_digest": pa.repeat(pairs.analysed_digest, count), **arrays})


def _rows_of_pairs(pairs: PairSet) -> Iterator[pa.Table]:
    columns, inputs = pairs.pairs, pairs.inputs
    for rows in parts_of(np.arange(len(columns)), AT_ONCE):
        sides: dict[str, Texts] = {}
        for side, positions in (("plus", columns.plus[rows]), ("minus", columns.minus[rows])):
            sides[f"{side}_image"] = inputs.image_ids.take(positions)
            sides[f"{side}_variant"] = inputs.variants.values.take(inputs.variants.codes[positions])
        class_ids = columns.class_ids[rows] if pairs.has_labels else pa.nulls(rows.size, pa.int64())
        yield _table(
            pairs,
            {
                "pair_id": columns.pair_ids.take(rows),
                "source_id": columns.sources.values.take(columns.sources.codes[rows]),
                "pair_type": columns.pair_types.values.take(columns.pair_types.codes[rows]),
                "class_id": class_ids,
                "split": columns.splits.values.take(columns.splits.codes[rows]),
                "weight": columns.weights[rows],
                **sides,
            },
        )


def _rows_of_images(pairs: PairSet) -> Iterator[pa.Table]:
    inputs = pairs.inputs
    for numbers in parts_of(np.arange(len(inputs)), AT_ONCE):
        columns = {
            "image_id": inputs.image_ids.take(numbers),
            "variant": inputs.variants.values.take(inputs.variants.codes[numbers]),
            "digest": inputs.digests.take(numbers),
        }
        yield _table(pairs, columns)


def _rows_of_files(pairs: PairSet) -> Iterator[pa.Table]:
    named = [(n, file) for n, file in enumerate(pairs.inputs.files or ()) if file is not None]
    image_ids = pairs.inputs.image_ids.take(np.array([number for number, _ in named]))
    yield _table(pairs, {"image_id": image_ids, "file": [file for _, file in named]})


def _rows_of_features(pairs: PairSet) -> Iterator[pa.Table]:
    columns = pairs.pairs
    for rows in parts_of(np.flatnonzero(columns.features), AT_ONCE):
        mask: Any = pa.nulls(rows.size, pa.string())
        if pairs.masks:
            mask = pairs.mask_set.inputs.digests.take(pairs.mask_numbers[columns.plus[rows]])
        feature = columns.features[rows]
        yield _table(
            pairs, {"pair_id": columns.pair_ids.take(rows), "feature": feature, "mask": mask}
        )


def _rows_of_groups(pairs: PairSet) -> Iterator[pa.Table]:
    columns = pairs.pairs
    groups = columns.groups.values
    sizes = np.array([len(of_pair) for of_pair in groups])
    first = np.cumsum(sizes) - sizes
    names, members = (
        Texts(group[place] for of_pair in groups for group in of_pair) for place in range(2)
    )
    for rows in parts_of(np.arange(len(columns)), AT_ONCE):
        places = _repeat_places(first, sizes, columns.groups.codes[rows])
        repeated = np.repeat(rows, sizes[columns.groups.codes[rows]])
        yield _table(
            pairs,
            {
                "pair_id": columns.pair_ids.take(repeated),
                "grouping": names.take(places),
                "member": members.take(places),
            },
        )


def _repeat_places(first: Rows, sizes: Rows, codes: Rows) -> Rows:
    """Positions of the groups of each pair, pair after pair; ``codes`` name the groups of pairs."""
    counts = sizes[codes]
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1])) - np.repeat(ends - counts, counts)
    return np.repeat(first[codes], counts) + within
