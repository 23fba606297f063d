import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_warehouse import PAIRS

from decaf.errors import WarehouseError
from warehouse.commits import layout
from warehouse.commits.writer import open_root
from warehouse.query.catalog import connect
from warehouse.query.checks import EXAMPLES, CheckResult, Offence, run_checks
from warehouse.query.views import SQL_FOLDER

EXPECTED = "3 rows (decaf check --repair withdraws units/m-scores)"
NAMES = sorted(path.stem for path in (SQL_FOLDER / "checks").glob("*.sql"))


def table_file(root, table, model="m"):
    key = f"{model}-at-0.02" if table == "profiles" else f"{model}-scores"
    return root / layout.table_file(table, {"study": "s", "model_id": model}, key)


def replace_column(file, name, values):
    """Write a file again with other values in a column."""
    rows = pq.read_table(file)
    position = rows.schema.get_field_index(name)
    field = rows.schema.field(position)
    pq.write_table(rows.set_column(position, field, pa.array(values, field.type)), file)


def failures(root):
    with connect(root) as connection:
        results = run_checks(connection)
    assert [result.name for result in results] == NAMES
    return {result.name: result for result in results if result.offending_count}


def test_clean_warehouse_passes(root):
    assert failures(root) == {}


def test_warehouse_without_commits_passes(tmp_path):
    assert failures(open_root(tmp_path)) == {}


def test_lost_file(root):
    file = table_file(root, "trajectories")
    file.unlink()
    found = failures(root)
    path = file.relative_to(root).as_posix()
    lost = Offence("s", "m", path, "missing or damaged", EXPECTED)
    assert found["check_rows_match_receipts"] == CheckResult(
        "check_rows_match_receipts", 1, (lost,)
    )
    assert found["check_units_complete"].offending_count == 2
    assert found["check_profiles_recompute"].offending_count == len(PAIRS)


def test_rows_lost_from_a_file(root):
    file = table_file(root, "trajectories")
    pq.write_table(pq.read_table(file).slice(0, 2), file)
    found = failures(root)
    offence = found["check_rows_match_receipts"].examples[0]
    assert (offence.found, offence.expected) == ("2 rows", EXPECTED)
    assert str(offence) == (
        f"s/m/{file.relative_to(root).as_posix()}: found 2 rows, expected {EXPECTED}"
    )


def test_missing_units(root):
    (root / layout.receipt("units", "s", "m-scores")).unlink()
    found = failures(root)
    examples = {offence.found for offence in found["check_units_complete"].examples}
    assert examples == {"no predict", "no score blend", "3 profiles"}


@pytest.mark.parametrize(
    ("column", "value", "check"),
    [
        ("evidence", 7.0, "check_conservation"),
        ("endpoint_delta", 7.0, "check_profiles_recompute"),
        ("opposed_mass", 7.0, "check_profiles_recompute"),
        ("fragility", float("nan"), "check_finite"),
    ],
)
def test_changed_profile(root, column, value, check):
    replace_column(table_file(root, "profiles"), column, [value] * len(PAIRS))
    assert failures(root)[check].offending_count == len(PAIRS)


def test_stage_zero_counts_where_the_run_says_so(root):
    file = table_file(root, "trajectories")
    q_plus = pq.read_table(file)["q_plus"].to_pylist()
    replace_column(file, "q_plus", [[q[0] + 0.25, *q[1:]] for q in q_plus])
    found = failures(root)["check_stages_valid"]
    assert found.examples[0].found == "r(0) = 0.25"
    assert "reveal()" in found.examples[0].expected
    assert "decaf check-plugin" in found.examples[0].expected
    paths = root / layout.table_file("paths", {"study": "s"}, "r")
    replace_column(paths, "has_common_start", [False])
    assert "check_stages_valid" not in failures(root)


def test_row_of_a_pair_that_the_run_lacks(root):
    file = root / layout.table_file("pairs", {"study": "s"}, "pairs")
    pq.write_table(pq.read_table(file).slice(1), file)
    found = failures(root)
    assert found.keys() == {
        "check_manifest_consistent",
        "check_pairs_and_paths_known",
        "check_rows_match_receipts",
    }
    offence = found["check_pairs_and_paths_known"].examples[0]
    assert (offence.found, offence.expected) == ("1 rows, such as p0/blend", "a pair of the run")


def test_models_that_were_shown_other_pairs(root):
    file = root / layout.table_file("unit_parts", {"study": "s"}, "r")
    parts = pq.read_table(file).to_pylist()
    is_of_m = [part["part"] == "pairs" and part["unit_key"].startswith("m-") for part in parts]
    values = [part["value"] for part in parts]
    replace_column(file, "value", np.where(is_of_m, "pairs of m", values))
    found = failures(root)
    assert found.keys() == {"check_pair_digests_consistent"}
    (offence,) = found["check_pair_digests_consistent"].examples
    assert (offence.key, offence.found) == ("block 0", "2 digests of its pairs")


def test_row_twice(root):
    file = table_file(root, "predictions")
    rows = pq.read_table(file)
    pq.write_table(rows.take([0, *range(rows.num_rows)]), file)
    found = failures(root)
    assert found.keys() == {"check_keys_unique", "check_rows_match_receipts"}
    assert found["check_keys_unique"].examples[0].key == "predictions/p0/same/m-clean"


def test_examples_are_few_and_sorted(root):
    for file in (table_file(root, "predictions"), table_file(root, "predictions", "007")):
        rows = pq.read_table(file)
        pq.write_table(rows.take([*range(rows.num_rows), *range(rows.num_rows)]), file)
    result = failures(root)["check_keys_unique"]
    assert (result.offending_count, len(result.examples)) == (12, EXAMPLES)
    assert [example.model_id for example in result.examples] == ["007"] * 6 + ["m"] * 4


def test_damaged_content_names_the_file(root):
    file = table_file(root, "trajectories")
    content = file.read_bytes()
    file.write_bytes(bytes(len(content)))
    with connect(root) as connection, pytest.raises(WarehouseError, match=str(file)):
        run_checks(connection)
