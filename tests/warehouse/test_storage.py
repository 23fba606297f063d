"""What a warehouse holds on disk and what its scores cost, against the files themselves."""

import io
from statistics import median

import pytest
from rich.console import Console
from scenes_warehouse import MODELS
from small_warehouse import commit_block, small_warehouse
from warehouse_answers import query_rows

from flows.commands import display
from warehouse.commits.current import COMPACTED_KINDS
from warehouse.query.catalog import connect
from warehouse.query.views import views
from warehouse.upkeep.compaction import compact


@pytest.fixture(scope="module")
def small(scenes):
    return scenes


def stored_tables(warehouse):
    return {row["table_name"]: row for row in query_rows(warehouse, "FROM out_storage")}


def said(store, study=None):
    text = io.StringIO()
    display.print_status(Console(file=text, width=160), store, study)
    return text.getvalue()


def test_storage_is_what_lies_on_disk(root):
    found = stored_tables(root)
    sizes = {}
    for file in (root / "tables").rglob("*.parquet"):
        table = file.relative_to(root / "tables").parts[0]
        sizes.setdefault(table, []).append(file.stat().st_size)
    assert found.keys() == sizes.keys()
    for table, own in sizes.items():
        row = found[table]
        assert (row["file_count"], row["total_bytes"]) == (len(own), sum(own))
        assert row["median_bytes"] == median(own)
        is_foldable = table in ("trajectories", "predictions", "costs", "profiles")
        assert row["small_file_count"] == (len(own) if is_foldable else 0)
        assert row["lost_file_count"] == 0
    assert found["profiles"]["file_count"] == 2 * len(MODELS)


def test_storage_after_a_compaction_and_a_loss(tmp_path):
    store = small_warehouse(tmp_path / "warehouse")
    for model in ("m", "007"):
        commit_block(store, "s", model, 0.3)
    before = stored_tables(store)
    assert (before["profiles"]["file_count"], before["profiles"]["small_file_count"]) == (4, 4)
    compact(store, "s")
    after = stored_tables(store)
    assert (after["profiles"]["file_count"], after["profiles"]["small_file_count"]) == (2, 0)
    assert {t: row["row_count"] for t, row in after.items()} == {
        t: row["row_count"] for t, row in before.items()
    }
    next((store.folder / "tables" / "runs").rglob("*.parquet")).unlink()
    assert stored_tables(store)["runs"]["lost_file_count"] == 1


def test_small_files_are_those_of_the_kinds_that_are_folded():
    (view,) = (view for view in views() if view.name == "out_storage")
    (kind,) = COMPACTED_KINDS
    assert f"kind = '{kind}'" in view.sql


def test_scores_of_the_paths_are_the_naive_rows(root):
    """Every pair on its own: each path stores what it would have to score."""
    with connect(root) as connection:
        rows = connection.sql(
            "SELECT model_id, naive_rows, sum(score_count), sum(score_frac), sum(trajectory_count) "
            "FROM out_costs JOIN out_path_costs USING (study, model_id) GROUP BY ALL"
        ).fetchall()
        stored = dict(
            connection.sql(
                "SELECT model_id, sum(2 * len(q_plus)) FROM core_trajectories GROUP BY ALL"
            ).fetchall()
        )
    assert len(rows) == len(MODELS)
    for model, naive, scores, share, trajectories in rows:
        assert naive == scores == stored[model]
        assert share == pytest.approx(1)
        assert trajectories == 16


def test_status_counts_files(store, monkeypatch):
    text = said(store)
    assert "demo: finished" in text
    assert "demo: files" in text
    assert "trajectories" in text
    assert "decaf compact" not in text
    small = sum(row["small_file_count"] for row in stored_tables(store).values())
    monkeypatch.setattr(display, "MANY_SMALL_FILES", small)
    text = said(store)
    assert f"{small} small files" in text
    assert f"decaf compact demo -w {store.address}" in text
    monkeypatch.setattr(display, "MANY_SMALL_FILES", small + 1)
    assert "decaf compact" not in said(store)


def test_status_keeps_studies_apart(store):
    small_warehouse(store.folder, study="s")
    only = said(store, "s")
    assert "s: files" in only
    assert "demo" not in only
    assert "demo: files" in said(store)
