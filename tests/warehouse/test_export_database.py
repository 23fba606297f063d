"""One DuckDB file with core and outcome views, for programs that do not know decaf."""

import shutil
import struct
import subprocess
import sys

import duckdb
import pytest
from ended_commands import refused, succeeded
from small_warehouse import MODELS, PAIRS, small_warehouse

from decaf.errors import BadInput, UnknownName
from warehouse.query import database
from warehouse.query.catalog import connect, run_query
from warehouse.query.database import export_database
from warehouse.query.views import views

PLAIN = """
import duckdb, sys
assert "warehouse" not in sys.modules
with duckdb.connect(sys.argv[1], read_only=True) as copy:
    for query in (
        "SELECT count(*), sum(evidence) FROM core_profiles",
        "SELECT comment FROM duckdb_tables() WHERE table_name = 'core_profiles'",
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'core_profiles' "
        "AND column_name = 'evidence'",
    ):
        print(*copy.sql(query).fetchall()[0])
"""


@pytest.mark.slow
def test_plain_duckdb_reads_every_view_and_what_it_means(opened_two, tmp_path):
    file = tmp_path / "results.duckdb"
    exported = export_database(opened_two, file)
    usual = {view.name for view in views() if view.kind in ("core", "out")}
    found = {view.name for view in exported}
    assert found < usual
    assert {"core_published", "core_scenes_comparisons"} <= usual - found
    assert len(usual - found) < 10
    with duckdb.connect(str(file), read_only=True) as copy:
        for name, count in exported:
            assert copy.sql(f"SELECT count(*) FROM {name}").fetchall() == [(count,)]
        for name in ("core_trajectories", "out_model_profiles", "out_model_intervals"):
            stored = run_query(opened_two, f"FROM {name}").to_pylist()
            assert sorted(copy.sql(f"FROM {name}").to_arrow_table().to_pylist(), key=repr) == (
                sorted(stored, key=repr)
            )
    asked = subprocess.run(
        [sys.executable, "-P", "-c", PLAIN, file], capture_output=True, text=True, check=True
    )
    numbers, table, column = asked.stdout.splitlines()
    total = run_query(opened_two, "SELECT sum(evidence) AS e FROM core_profiles")["e"][0].as_py()
    assert [*map(float, numbers.split())] == pytest.approx([2 * len(MODELS) * len(PAIRS), total])
    assert "one row per" in table
    assert column


def test_one_study_and_some_views(opened_two, tmp_path):
    file = tmp_path / "of_t.duckdb"
    assert export_database(opened_two, file, ["profiles", "out_costs"], "t") == [
        ("profiles", len(MODELS) * len(PAIRS)),
        ("out_costs", run_query(opened_two, "FROM out_costs WHERE study = 't'").num_rows),
    ]
    with duckdb.connect(str(file), read_only=True) as copy:
        assert copy.sql("SELECT DISTINCT study FROM profiles").fetchall() == [("t",)]


def test_a_file_has_the_format_of_releases_before_2(opened_two, tmp_path):
    file = tmp_path / "old.duckdb"
    export_database(opened_two, file, ["profiles"])
    with file.open("rb") as content:
        _, magic, number = struct.unpack("<Q4sQ", content.read(20))
    assert (magic, number) == (b"DUCK", 64), "64 is the format of 0.10 to 1.1"
    with duckdb.connect(str(file)) as copy:  # as a copy that an earlier version of decaf made
        copy.execute("ALTER TABLE decaf_export DROP COLUMN storage_version")
    assert export_database(opened_two, file, ["profiles"])
    assert export_database(opened_two, file, ["profiles"]) is None


def test_a_column_means_what_its_table_says_or_most_tables(opened_two, tmp_path):
    file = tmp_path / "meanings.duckdb"
    export_database(opened_two, file, ["gate_verdicts", "core_paths"])
    with duckdb.connect(str(file), read_only=True) as copy:
        said = dict(
            copy.sql("SELECT (table_name, column_name), comment FROM duckdb_columns()").fetchall()
        )
    assert said["gate_verdicts", "path"] == "reveal path of the row; NULL for accuracy"
    assert said["core_paths", "path"] == "name of the reveal path in the study"
    assert said["core_paths", "kind"] is None, "tables mean different things by it"


def test_a_copy_is_made_anew_when_something_changed(opened_two, two_studies, tmp_path):
    file = tmp_path / "again.duckdb"
    names = ["out_runs"]
    assert export_database(opened_two, file, names) == [("out_runs", 2)]
    made = file.stat().st_mtime_ns
    assert export_database(opened_two, file, names) is None
    assert file.stat().st_mtime_ns == made
    assert export_database(opened_two, file, ["out_models"])
    later = small_warehouse(
        shutil.copytree(two_studies, tmp_path / "later"), study="u", run_id="third"
    )
    with connect(later) as connection:
        assert export_database(connection, file, names) == [("out_runs", 3)]


def test_nothing_is_lost_where_it_cannot_be_written(opened_two, tmp_path, monkeypatch):
    file = tmp_path / "results.duckdb"
    file.write_text("notes of mine")
    with pytest.raises(UnknownName, match="nothing"):
        export_database(opened_two, file, ["nothing"])
    with pytest.raises(UnknownName, match="study"):
        export_database(opened_two, file, study="v")
    (tmp_path / "folder.duckdb").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        export_database(opened_two, tmp_path / "folder.duckdb")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database, "stream_view", broken)
    with pytest.raises(Exception, match="No space left"):
        export_database(opened_two, file, ["out_runs"])
    assert file.read_text() == "notes of mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.duckdb", "results.duckdb"]


def test_the_command(two_studies, decaf, tmp_path):
    done = decaf("export", "results.duckdb", "out_runs", "-w", two_studies)
    assert "1 table in results.duckdb" in succeeded(done)
    assert (tmp_path / "results.duckdb").is_file()
    again = decaf("export", "results.duckdb", "out_runs", "-w", two_studies)
    assert "up to date" in succeeded(again)
    wrong = decaf("export", "other.duckdb", "--format", "csv", "-w", two_studies)
    refused(wrong, "other.duckdb", "csv", code=2)
    assert not (tmp_path / "other.duckdb").exists()
