"""Rows of a table that share their values, or have none to share."""

import pytest

from decaf.data.adapters.table_pairs import TablePairs
from decaf.data.equal_pairs import remark_copies


def adapter(table, **settings):
    given = {"id": "who", "label": "hired", "adapter": "table_pairs", **settings}
    return TablePairs.model_validate({**given, "table": str(table)})


@pytest.mark.parametrize(("row_count", "kinds", "count"), [(20, 9, 2), (20, 10, 0), (19, 1, 0)])
def test_copies_under_other_ids_are_remarked_on(tmp_path, row_count, kinds, count):
    rows = [f"r{n},1,{30 + n % kinds}" for n in range(row_count)]
    (tmp_path / "copies.csv").write_text("\n".join(["who,hired,age", *rows]) + "\n")
    changes = {"older": {"add": {"age": 40}}, "younger": {"add": {"age": -9}}}
    remarks = [*remark_copies(adapter(tmp_path / "copies.csv", changes=changes).pair_set())]
    assert len(remarks) == count
    assert all("20 sources, but only 9 different" in remark for remark in remarks)


def test_rows_without_a_value_are_a_group(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("who,hired,job,level,age\na,1,,2,30\nb,0,cook,,31\nc,1,NA,3,20\n")
    changes = {"older": {"set": {"age": 40}}}
    pairs = adapter(path, changes=changes, groups=["job", "level"]).pair_set()
    assert [dict(pair.groups) for pair in pairs.pairs] == [
        {"job": "(no value)", "level": "2"},
        {"job": "cook", "level": "(no value)"},
        {"job": "NA", "level": "3"},
    ]
