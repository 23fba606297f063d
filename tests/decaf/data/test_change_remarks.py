"""Remarks on a second table whose rows differ in other ways than intended."""

import warnings

import numpy as np
import pandas as pd
import pytest

import decaf
from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.table_pairs import TablePairs

COUNT = 40
FACTUAL = pd.DataFrame(
    {
        "who": [f"p{n}" for n in range(COUNT)],
        "age": 20 + np.arange(COUNT),
        "income": 20_000.5 + 500 * np.arange(COUNT),
        "gender": ["woman", "man", "man", "man"] * (COUNT // 4),
    }
)
FLIPPED = FACTUAL.assign(gender=["man", "woman", "woman", "woman"] * (COUNT // 4), way="flip")


@pytest.fixture
def remarks_on(tmp_path):
    """Remarks on a second table."""
    FACTUAL.to_csv(tmp_path / "rows.csv", index=False)

    def read(second):
        second.to_csv(tmp_path / "second.csv", index=False)
        files = {"table": tmp_path / "rows.csv", "counterfactuals": tmp_path / "second.csv"}
        settings = {"adapter": "table_pairs", "id": "who", "pair_type": "way"}
        pairs = TablePairs.model_validate({**settings, **{k: str(v) for k, v in files.items()}})
        return pairs.pair_set().remarks

    return read


def test_changed_columns_of_a_second_table_are_counted(remarks_on):
    (remark,) = remarks_on(FLIPPED)
    assert remark.endswith("pair type 'flip': 'gender' in 40 of 40 pairs")


def test_another_unit_in_one_file_is_remarked(remarks_on):
    changed, outside = remarks_on(FLIPPED.assign(income=FLIPPED["income"] / 1000))
    assert "'income' in 40 of 40, 'gender' in 40 of 40 pairs" in changed
    assert "'income' 20,000.5 to 39,500.5 (100 % outside)" in outside


def test_numbers_of_one_pair_type_outside_of_the_table_are_remarked(remarks_on):
    # Of 40 ages, one more year leaves only the last one outside; 30 more leave 30 of 40 outside.
    older = FACTUAL.assign(age=FACTUAL["age"] + 1, way="older")
    oldest = FACTUAL.assign(age=FACTUAL["age"] + 30, way="oldest")
    changed, outside = remarks_on(pd.concat([oldest, older]))
    assert "'oldest': 'age' in 40 of 40 pairs, of pair type 'older': 'age' in 40 of 40" in changed
    assert "'oldest'" in outside
    assert "'age' 20 to 59 (75 % outside)" in outside


def test_ids_of_other_rows_are_remarked(remarks_on):
    shifted = FLIPPED.assign(who=np.roll(FLIPPED["who"], 2))
    changed, reordered = remarks_on(shifted)
    # Two rows further, a man is a woman only in every second row.
    assert "'age' in 40 of 40, 'income' in 40 of 40, 'gender' in 20 of 40 pairs" in changed
    assert "2 of 3 columns" in reordered
    assert "ids" in reordered


@pytest.mark.parametrize("shape", [(40, 3), (40, 3, 50), (40, 1)])
@pytest.mark.parametrize(("shift", "is_shuffled"), [(0, False), (7, True)])
def test_shuffled_rows_of_arrays_are_remarked(tmp_path, shape, shift, is_shuffled):
    factual = np.random.default_rng(0).normal(size=shape)
    changed = factual.copy()
    changed.reshape(40, -1)[:, 0] += 1  # one value of each row
    counterfactual = np.roll(changed, shift, axis=0)
    for name, array in {"factual": factual, "counterfactual": counterfactual}.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = {name: tmp_path / f"{name}.npy" for name in ("factual", "counterfactual")}
    remarks = Arrays(adapter="arrays", **files).pair_set().remarks
    is_remarked = any("rows" in remark for remark in remarks)
    assert is_remarked == (is_shuffled and shape != (40, 1))  # one column has no order
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        decaf.audit(lambda x: x.reshape(len(x), -1).sum(axis=1), factual, counterfactual, epsilon=1)
    assert any("x_minus" in str(each.message) for each in caught) == is_remarked
