"""Rows of the tables of pairs: those of pairs taken one by one."""

import pyarrow as pa
import pytest
from blocks import features, foregrounds

from decaf.data.pairs import Input, Pair, PairSet
from tasks import pair_rows


def grouped():
    """Three pairs: two groups, none, and one group; without labels, and one input with a file."""
    inputs = [Input("a", "x", "1", "", "a.png"), Input("b", "y", "2", "")]
    groups = ((("sex", "f"), ("age", "60s")), (), (("age", "20s"),))
    pairs = [
        Pair(f"p{n}", "s", "t", 0, "all", 0, 1, weight=n + 0.5, groups=own)
        for n, own in enumerate(groups)
    ]
    return PairSet(inputs, pairs, "g", has_labels=False)


def rows_one_by_one(pairs):
    digest = {"pairs_digest": pairs.analysed_digest}
    tables = {"pairs": [], "images": [], "image_files": [], "features": [], "pair_groups": []}
    for pair in pairs.pairs:
        plus, minus = pairs.inputs[pair.plus], pairs.inputs[pair.minus]
        row = digest | {"pair_id": pair.pair_id}
        tables["pairs"].append(
            row
            | {
                "source_id": pair.source_id,
                "pair_type": pair.pair_type,
                "class_id": pair.class_id if pairs.has_labels else None,
                "split": pair.split,
                "weight": pair.weight,
                "plus_image": plus.image_id,
                "minus_image": minus.image_id,
                "plus_variant": plus.variant,
                "minus_variant": minus.variant,
            }
        )
        if pair.feature:
            mask = pairs.masks[pair.plus].digest if pairs.masks else None
            tables["features"].append(row | {"feature": pair.feature, "mask": mask})
        tables["pair_groups"] += [
            row | {"grouping": name, "member": member} for name, member in pair.groups
        ]
    for image in pairs.inputs:
        row = digest | {"image_id": image.image_id}
        tables["images"].append(row | {"variant": image.variant, "digest": image.digest})
        if image.file:
            tables["image_files"].append(row | {"file": image.file})
    return {name: rows for name, rows in tables.items() if rows}


@pytest.mark.parametrize("pairs", [foregrounds(3), features(2, 3), grouped()])
@pytest.mark.parametrize("at_once", [2, 1000])
def test_rows_are_those_of_single_pairs(monkeypatch, pairs, at_once):
    monkeypatch.setattr(pair_rows, "AT_ONCE", at_once)
    tables = {
        name: pa.concat_tables([*parts]).to_pylist()
        for name, parts in pair_rows.pair_tables(pairs).items()
    }
    assert tables == rows_one_by_one(pairs)
