"""Remarks on counterfactual rows that differ in other ways than intended."""

import warnings

import numpy as np
import pandas as pd
import pytest

import decaf
from decaf import DataWarning
from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.table_pairs import TablePairs
from decaf.models.sources.estimator import EstimatorCard
from decaf.plan.missing_marks import drop_stated_marks

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


MARKED = FACTUAL.assign(income=FACTUAL["income"].mask(FACTUAL.index % 8 == 0, -999.0))
"""Five of forty incomes are -999."""


def raise_income(frame):
    return frame.assign(income=frame["income"] + 500)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"more": {"add": {"income": 500}}}, {"more": 5}),
        ({"same": {"multiply": {"income": 1}}, "both": {"add": {"income": 1}}}, {"both": 5}),
        ({"older": {"add": {"age": 1}}}, {}),
    ],
)
def test_a_change_that_moves_marks_is_remarked_even_if_a_card_states_them(
    tmp_path, changes, counts
):
    MARKED.to_csv(tmp_path / "rows.csv", index=False)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "who"}
    pairs = TablePairs.model_validate({**data, "changes": changes}).pair_set()
    card = EstimatorCard(
        id="m", family="f", source="estimator", file=tmp_path / "m.ubj", missing=-999.0
    )
    remarks = drop_stated_marks(pairs, [card]).remarks
    moved = [remark for remark in remarks if "mark missing values" in remark]
    assert len(moved) == len(counts)
    for remark, (name, count) in zip(moved, counts.items(), strict=True):
        assert f"change '{name}' " in remark
        assert f"-999 of 'income' in {count} rows" in remark


def test_a_second_table_that_keeps_the_marks_has_no_remark_on_them(tmp_path):
    MARKED.to_csv(tmp_path / "rows.csv", index=False)
    raised = raise_income(MARKED)
    kept = raised.assign(income=raised["income"].where(MARKED["income"] != -999, -999))
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "who"}
    data["counterfactuals"] = str(tmp_path / "second.csv")
    for second, is_remarked in ((raised, True), (kept, False)):
        second.to_csv(tmp_path / "second.csv", index=False)
        remarks = TablePairs.model_validate(data).pair_set().remarks
        words = "counterfactuals: pair type 'pair' moves numbers that seem to mark"
        assert any(remark.startswith(words) for remark in remarks) == is_remarked


def test_the_library_warns_of_marks_that_move():
    rows = MARKED[["age", "income"]]
    gaps = rows.assign(income=rows["income"].where(rows["income"] != -999))
    with pytest.warns(DataWarning, match="-999 of 'income' in 5 rows"):
        decaf.audit(lambda frame: frame["income"] / 1e4, rows, raise_income(rows), stages=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        warnings.filterwarnings("ignore", ".* pairs x_minus equals x_plus")
        decaf.audit(
            lambda frame: frame["income"].fillna(0) / 1e4, gaps, raise_income(gaps), stages=2
        )
