import csv
import hashlib
import json

import pyarrow.parquet as pq
import pytest
import small_warehouse as made
from ended_commands import succeeded
from small_warehouse import MODELS, PAIRS

from decaf.errors import BadInput, QueryError, UnknownName, WriteFailed
from warehouse.commits.writer import open_root
from warehouse.query import export
from warehouse.query.catalog import run_query
from warehouse.query.export import export_views
from warehouse.tables.declarations import TABLES


def ordered(rows):
    return sorted(rows.to_pylist(), key=repr)


def test_every_table_comes_back_equal(opened_two, tmp_path):
    exported = export_views(opened_two, tmp_path / "copies")
    assert [file.name for file in exported] == list(TABLES)
    for name in TABLES:
        copied = pq.read_table(tmp_path / "copies" / f"{name}.parquet")
        stored = run_query(opened_two, f"FROM stg_{name}")
        assert copied.schema.equals(stored.schema)
        assert ordered(copied) == ordered(stored)
    profiles = next(file for file in exported if file.name == "profiles")
    assert profiles.row_count == 2 * len(MODELS) * len(PAIRS)


def test_the_manifest_is_true(opened_two, tmp_path):
    export_views(opened_two, tmp_path, ["out_model_profiles", "profiles"], study="t")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["study"] == "t"
    assert [entry["row_count"] for entry in manifest["files"]] == [2, len(MODELS) * len(PAIRS)]
    for entry in manifest["files"]:
        content = (tmp_path / entry["file"]).read_bytes()
        assert entry["byte_count"] == len(content)
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        table = pq.read_table(tmp_path / entry["file"])
        assert (table.num_rows, table.schema.names) == (entry["row_count"], entry["columns"])
        assert set(table["study"].to_pylist()) == {"t"}


def test_csv_holds_the_same_numbers(opened_two, tmp_path):
    export_views(opened_two, tmp_path, ["core_trajectories"], "csv", "s")
    with (tmp_path / "core_trajectories.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["model_id"], row["pair_id"]): json.loads(row["q_plus"]) for row in rows}
    stored = run_query(opened_two, "FROM core_trajectories WHERE study = 's'").to_pylist()
    assert found == {(row["model_id"], row["pair_id"]): row["q_plus"] for row in stored}


@pytest.mark.parametrize(
    ("names", "study", "message"),
    [
        (["profile"], None, "did you mean 'profiles'"),
        (["check_finite"], None, "unknown table or view"),
        (["epsilon_sweep"], None, "unknown table or view"),
        (["profiles"], "u", "unknown study 'u'.*known: s, t"),
    ],
)
def test_unknown_names(opened_two, tmp_path, names, study, message):
    with pytest.raises(UnknownName, match=message):
        export_views(opened_two, tmp_path / "copies", names, study=study)
    assert not (tmp_path / "copies").exists()


def test_a_study_is_data_not_sql(opened_two, tmp_path):
    with pytest.raises(UnknownName, match="unknown study"):
        export_views(opened_two, tmp_path, ["profiles"], study="s' OR '1' = '1")


def test_an_export_that_fails_leaves_no_manifest_and_no_half_file(
    opened_two, tmp_path, monkeypatch
):
    export_views(opened_two, tmp_path, ["runs", "pairs"])
    before = (tmp_path / "pairs.parquet").read_bytes()

    def stream_and_fail(connection, view, study):
        rows = stream_view(connection, view, study)
        return rows._replace(batches=failing()) if view == "stg_pairs" else rows

    def failing():
        raise QueryError("late")
        yield

    stream_view = export.stream_view
    monkeypatch.setattr(export, "stream_view", stream_and_fail)
    with pytest.raises(QueryError, match="late"):
        export_views(opened_two, tmp_path, ["runs", "pairs"])
    assert (tmp_path / "pairs.parquet").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.parquet", "runs.parquet"]


def test_a_full_disk_and_a_folder_that_is_none(opened_two, tmp_path, small_disk, monkeypatch):
    (small_disk / "filler").write_bytes(bytes(126 * 1024))
    with pytest.raises(WriteFailed):
        export_views(opened_two, small_disk, ["profiles"])
    assert [path.name for path in small_disk.iterdir()] == ["filler"]
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="choose another"):
        export_views(opened_two, tmp_path / "taken", ["runs"])


@pytest.mark.slow
def test_two_exports_of_one_warehouse_have_the_same_bytes(tmp_path, decaf, monkeypatch):
    # So many rows of so many files come in another order each time, where two threads read them.
    monkeypatch.setattr(made, "PAIRS", [f"p{number}" for number in range(2000)])
    store, models = open_root(tmp_path / "warehouse"), [f"m{number}" for number in range(24)]
    made.commit_pairs(store, "s")
    made.commit_run(store, "s", "r", models, 0.02, day=1)
    for number, model in enumerate(models):
        made.commit_block(store, "s", model, 0.02, seed=number)
    names = ("core_profiles", "core_predictions", "core_model_metrics", "out_model_profiles")
    digests = []
    for copy in ("one", "two"):
        succeeded(decaf("export", copy, *names, "-w", store.address))
        manifest = json.loads((tmp_path / copy / "manifest.json").read_text())
        digests.append({file["name"]: file["sha256"] for file in manifest["files"]})
    assert digests[0] == digests[1]
    assert len(digests[0]) == len(names)
