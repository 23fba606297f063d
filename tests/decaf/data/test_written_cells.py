"""Numbers as people write them in a table: leading zeros, points and commas."""

import pytest

from decaf.data.adapters.table_pairs import TablePairs


def test_numbers_that_lose_leading_zeros_are_remarked(tmp_path):
    (tmp_path / "rows.csv").write_text("id,x,code\n000001,1,0.5\n12,2,01\n")
    (tmp_path / "others.csv").write_text("id,x,code\n1,3,01\n12,4,02\n")
    files = {"table": tmp_path / "rows.csv", "counterfactuals": tmp_path / "others.csv"}
    pairs = TablePairs(adapter="table_pairs", id="id", **files).pair_set()
    of_code, of_id, of_counterfactuals = [r for r in pairs.remarks if "zeros" in r]
    assert all(word in of_id for word in ("table:", "'id'", "000001", "dtypes: {id: str}"))
    assert all(word in of_code for word in ("table:", "'code'", "01 is 1"))
    assert of_counterfactuals.startswith("counterfactuals:")
    unused = TablePairs(adapter="table_pairs", id="id", drop=("code",), **files).pair_set()
    assert not [remark for remark in unused.remarks if "'code' is read" in remark]
    (tmp_path / "others.csv").write_text("id,x,code\n000001,3,01\n12,4,02\n")
    dtypes = {"id": "str", "code": "str"}
    kept = TablePairs(adapter="table_pairs", id="id", dtypes=dtypes, **files).pair_set()
    assert not [remark for remark in kept.remarks if "zeros" in remark]
    assert [pair.pair_id for pair in kept.pairs] == ["000001__pair", "12__pair"]


@pytest.mark.parametrize(
    ("cells", "count"),
    [
        ([f"{n}.500" for n in range(1, 21)], 1),
        (["950", "2.000"] * 20, 1),  # below 1000, numbers have no point
        ([f"{n}.500" for n in range(1, 20)], 0),
        ([f"0.{n}" for n in range(100, 140)], 0),  # such as probabilities
        ([f"{n}.5" for n in range(1, 41)], 0),
        (["2.000", "1234"] * 20, 0),
    ],
)
def test_points_that_may_separate_thousands_are_remarked(tmp_path, cells, count):
    rows = "".join(f"{cell},{n}\n" for n, cell in enumerate(cells))
    (tmp_path / "rows.csv").write_text(f"income,age\n{rows}")
    settings = {"adapter": "table_pairs", "changes": {"older": {"add": {"age": 1}}}}

    def remarks(**more):
        data = TablePairs.model_validate({**settings, **more, "table": str(tmp_path / "rows.csv")})
        return [remark for remark in data.pair_set().remarks if "thousands" in remark]

    assert len(remarks()) == count
    assert all("'income'" in remark for remark in remarks())
    assert remarks(dtypes={"income": "float64"}) == []


def test_numbers_with_commas_may_be_text(tmp_path):
    (tmp_path / "rows.csv").write_text('id,rooms,note\n1,"2,3","1,5"\n2,"1,2","2,5"\n')
    files = {"table": tmp_path / "rows.csv", "changes": {"c": {"set": {"rooms": "1,2"}}}}
    settings = {"adapter": "table_pairs", "id": "id", "drop": ["note"], "dtypes": {"rooms": "str"}}
    (column,) = TablePairs(**settings, **files).pair_set().columns.columns
    assert column.categories == ("1,2", "2,3")
