"""Pair types that are one type in several spellings."""

import pytest
from own_data import rows_of_squares, write_table
from small_studies import network_card, of_scenes

from decaf.errors import DataError
from decaf.plan.study import Study


def study_of(folder, **data):
    score = {"kind": "target_logit", "classes": 2, "target": 0}
    models = [network_card("a", weights="a.pt")]
    return Study(**of_scenes(folder, models) | {"data": data, "score": score})


def with_types(folder, *types):
    """A study of four pairs with these types, in turn."""
    rows = rows_of_squares(folder, range(2))
    table = [[*row[:2], types[place % len(types)]] for place, row in enumerate(rows)]
    write_table(folder / "pairs.csv", table, ("factual", "counterfactual", "pair_type"))
    return study_of(folder, adapter="image_pairs", pairs=str(folder / "pairs.csv"))


@pytest.mark.parametrize("second", ["Wall", "wall ", " WALL"])
def test_types_that_differ_in_capitals_or_spaces_are_refused(second, tmp_path):
    with pytest.raises(DataError, match=f"'wall' \\(2\\), '{second}' \\(2\\)"):
        with_types(tmp_path, "wall", second).pair_set()


def test_other_types_are_accepted(tmp_path):
    pairs = with_types(tmp_path, "shift 1", "shift -1", "shift1", "shift_1").pair_set()
    assert len(pairs.pairs.pair_types.values) == 4


def test_removed_columns_may_differ_in_capitals(tmp_path):
    (tmp_path / "rows.csv").write_text("age,Age\n1,2\n3,4\n")
    table = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv")}
    study = study_of(tmp_path, **table, removed=["age", "Age"])
    assert len(study.pair_set().pairs) == 4
