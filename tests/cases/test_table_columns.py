"""Columns of tables: joined types of two tables, many categories, marks of missing values."""

import warnings

import numpy as np
import pandas as pd
import pytest

import decaf
from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.table_pairs import TablePairs
from decaf.data.column_remarks import MARKS, find_marks
from decaf.data.typed_frames import cast_counterfactuals
from decaf.errors import DataError
from decaf.models.sources.estimator import EstimatorCard
from decaf.plan.missing_marks import drop_stated_marks

JOBS = ["nurse", "cook", "smith"]
"""Categories in an order that is not that of the alphabet."""


def table(job):
    return pd.DataFrame({"id": ["a", "b", "c"], "age": [40.0, 31.0, 20.0], "job": job})


FACTUAL, CHANGED = ["cook", "nurse", None], ["smith", None, "cook"]
DTYPES = {
    "text": "str",
    "category": pd.CategoricalDtype(JOBS),
    "ordered": pd.CategoricalDtype(JOBS, ordered=True),
    "present": "category",
}
"""Types of the jobs; of ``present``, only the categories that the file holds."""


def section(folder, factual, other):
    """`data:` of two tables, each a frame, or a frame that is stored as CSV."""
    paths = []
    for name, frame in (("rows", factual), ("other", other)):
        is_text = not isinstance(frame, pd.DataFrame)
        paths.append(folder / f"{name}.{'csv' if is_text else 'parquet'}")
        if is_text:
            paths[-1].write_text(frame)
        else:
            frame.to_parquet(paths[-1])
    given = {"adapter": "table_pairs", "table": str(paths[0]), "id": "id"}
    return given | {"counterfactuals": str(paths[1])}


def jobs_of(data):
    """Jobs of both inputs of each pair as a model gets them, and the dtype of the column."""
    adapter = TablePairs.model_validate(data)
    pairs = adapter.pair_set()
    frame = pairs.columns.decode(np.stack([adapter.read_input(image) for image in pairs.inputs]))
    jobs = frame["job"].astype(object).where(frame["job"].notna(), None)
    return [(jobs[pair.plus], jobs[pair.minus]) for pair in pairs.pairs], frame["job"].dtype


@pytest.mark.parametrize("other", [*DTYPES, "csv"])
@pytest.mark.parametrize("factual", ["text", "category", "ordered"])
def test_text_and_categories_are_joined_where_values_fit(tmp_path, factual, other):
    rows, changed = table(FACTUAL), table(CHANGED)
    rows["job"] = rows["job"].astype(DTYPES[factual])
    if other == "csv":
        changed = changed.to_csv(index=False)
    else:
        changed["job"] = changed["job"].astype(DTYPES[other])
    jobs, dtype = jobs_of(section(tmp_path, rows, changed))
    assert jobs == list(zip(FACTUAL, CHANGED, strict=True))
    assert dtype == DTYPES[factual]


def test_categories_that_look_like_numbers_or_missing_values(tmp_path):
    """A CSV is read by the categories of the first table: 01 is no 1, and None no gap."""
    rows, changed = table(["01", "1", "None"]), table(["1", "None", "01"])
    rows["job"] = rows["job"].astype(pd.CategoricalDtype(["None", "1", "01"]))
    jobs, _ = jobs_of(section(tmp_path, rows, changed.to_csv(index=False)))
    assert jobs == [("01", "1"), ("1", "None"), ("None", "01")]


@pytest.mark.parametrize("levels", [[1, 2, 3], [True, False], [0.5, 1.5]])
def test_categories_of_numbers_are_joined_with_numbers(levels):
    numbers = pd.DataFrame({"n": [levels[0], levels[-1], levels[1]]})
    categories = numbers.astype(pd.CategoricalDtype(levels))
    for factual, other in ((numbers, categories), (categories, numbers)):
        joined = cast_counterfactuals(other, factual, ["n"])["n"]
        assert joined.dtype == factual["n"].dtype
        assert joined.tolist() == numbers["n"].tolist()


def test_truth_values_join_those_that_may_be_missing(tmp_path):
    factual = "id,age,job\na,40,True\nb,31,\nc,20,False\n"
    jobs, _ = jobs_of(section(tmp_path, factual, "id,age,job\na,40,False\nb,31,True\n"))
    assert jobs == [(True, False), (None, True)]


def test_missing_truth_values_of_json_and_csv_are_joined(tmp_path):
    data = section(tmp_path, "", "id,age,job\na,40,False\nb,31,True\nc,20,\n")
    rows = [("a", 40, "true"), ("b", 31, "null"), ("c", 20, "false")]
    lines = [f'{{"id": "{who}", "age": {age}, "job": {job}}}\n' for who, age, job in rows]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    jobs, _ = jobs_of({**data, "table": str(tmp_path / "rows.jsonl")})
    assert jobs == [(True, False), (None, True), (False, None)]


def test_what_no_category_is_refused(tmp_path):
    rows, other = table(FACTUAL), table(["pilot", "cook", "cook"])
    rows["job"] = rows["job"].astype(DTYPES["category"])
    with pytest.raises(DataError, match="'job' .*'pilot'.*'categories:'"):
        jobs_of(section(tmp_path, rows, other.to_csv(index=False)))
    with pytest.raises(DataError, match="'categories:'"):
        jobs_of(section(tmp_path, table(FACTUAL), table([1.0, 2.0, 3.0])))


def dates(count):
    return pd.DataFrame(
        {
            "day": pd.date_range("2020-01-01", periods=count).strftime("%Y-%m-%d"),
            "town": (["Ulm", "Bonn"] * count)[:count],
            "age": np.arange(count) % 40 + 20,
        }
    )


@pytest.mark.parametrize(("count", "is_told"), [(50, False), (51, True)])
def test_a_column_of_dates_is_remarked(tmp_path, count, is_told):
    dates(count).to_csv(tmp_path / "rows.csv", index=False)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv")}
    data["changes"] = {"older": {"add": {"age": 1}}}
    pairs = TablePairs.model_validate(data).pair_set()
    remarks = [one for one in pairs.remarks if "'day'" in one]
    assert len(remarks) == is_told
    if is_told:
        assert f"{count} categories" in remarks[0]
        assert f"{count + 3} input values" in remarks[0]
        assert "'drop:'" in remarks[0]


def test_the_library_warns_of_many_categories():
    plus, minus = dates(60), dates(60)
    minus["age"] += 1

    def score(frame):
        return frame["age"].to_numpy(float)

    with pytest.warns(decaf.DataWarning, match="'day' has 60 categories"):
        decaf.audit(score, plus, minus, stages=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decaf.audit(score, plus[["town", "age"]], minus[["town", "age"]], stages=2)


NUMBERS = np.arange(200) % 90 + 1.0
GAPS = np.arange(200) % 40 == 7


@pytest.mark.parametrize("mark", [-999, -1, -9, 9999, 99999, 999, -32768, 1e20])
def test_a_number_far_off_is_a_mark(mark):
    (found,) = find_marks(np.where(GAPS, mark, NUMBERS))
    assert found == (mark, 5, 1.0, 90.0)


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS,
        NUMBERS - 40,
        np.where(GAPS, 0, NUMBERS),  # nothing was paid
        np.where(GAPS, 0, NUMBERS + 1000),
        np.where(GAPS, 99, NUMBERS),  # an age
        np.where(GAPS, 120, NUMBERS),  # the end of a tail
        np.where(np.arange(200) < 4, -999, NUMBERS),  # four rows
        np.where(np.arange(2000) < 6, -999, np.arange(2000) % 90),  # 0.3 % of them
        np.where(GAPS, -1, np.arange(200) % 2),  # codes
        np.where(GAPS, -1.0, 1.0),
        np.where(GAPS, -1, NUMBERS - 40),
        np.array([]),
    ],
)
def test_other_numbers_are_no_marks(values):
    assert find_marks(values) == []


def test_several_marks_of_one_column():
    values = np.where(GAPS, -9, np.where(np.roll(GAPS, 1), -8, NUMBERS))
    assert [mark[:2] for mark in find_marks(values)] == [(-9, 5), (-8, 5)]


def marks_of(remarks):
    return [remark for remark in remarks if remark.startswith(MARKS)]


def test_marks_are_remarked_unless_cards_state_them(tmp_path):
    frame = pd.DataFrame({"income": np.where(GAPS, -999.0, NUMBERS * 100), "age": NUMBERS})
    frame.loc[3, "age"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv")}
    data["changes"] = {"older": {"add": {"age": 1}}}
    pairs = TablePairs.model_validate(data).pair_set()
    (remark,) = marks_of(pairs.remarks)
    for word in ("'income' has -999 in 5 of 200 rows", "100 to 9000", "'missing:'"):
        assert word in remark
    assert "'age'" not in remark
    card = {"id": "m", "family": "f", "source": "estimator"}
    silent = EstimatorCard(**card, file=tmp_path / "m.ubj")
    stating = silent.model_copy(update={"missing": -999.0})
    forest = EstimatorCard(**card, file=tmp_path / "m.skops")
    for cards, is_told in (
        ([], True),
        ([forest], True),
        ([silent], True),
        ([silent, stating], True),
        ([stating], False),
        ([stating, forest], False),
    ):
        assert len(marks_of(drop_stated_marks(pairs, cards).remarks)) == is_told


def test_marks_in_arrays_of_rows(tmp_path):
    rows = np.stack([NUMBERS, np.where(GAPS, -999, NUMBERS)], axis=1)
    np.save(tmp_path / "plus.npy", rows)
    np.save(tmp_path / "minus.npy", rows + 1)
    files = {
        name: tmp_path / f"{role}.npy"
        for name, role in (("factual", "plus"), ("counterfactual", "minus"))
    }
    (remark,) = marks_of(Arrays(adapter="arrays", **files).pair_set().remarks)
    assert all(word in remark for word in ("column 2", "-999", "5 of 200"))
