"""What a stored text says is read and shown, never run."""

import pytest
import small_warehouse
from small_warehouse import MODELS

from warehouse.query.catalog import connect, run_query
from warehouse.query.checks import run_checks
from warehouse.query.views import sort_views

TEXTS = (
    "'); DROP VIEW core_pairs; --",
    "(SELECT content FROM read_text('/etc/hosts'))",
    "$(touch touched) `touch touched` {{ 7 * 7 }} {7 * 7} %s",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(small_warehouse, "PAIRS", TEXTS)
    return small_warehouse.small_warehouse(tmp_path / "warehouse").folder


@pytest.mark.slow
def test_every_view_and_check_takes_texts_as_they_are(root):
    before = {path: path.read_bytes() for path in root.rglob("*.*")}
    with connect(root) as connection:
        for view in sort_views():
            if view.kind != "macro":
                run_query(connection, f"FROM {view.name}")
        assert [check.name for check in run_checks(connection) if check.offending_count] == []
        for view in ("stg_pairs", "core_profiles", "core_trajectories", "core_stages"):
            found = run_query(connection, f"SELECT DISTINCT pair_id FROM {view}")
            assert sorted(found["pair_id"].to_pylist()) == sorted(TEXTS)
        for text in TEXTS:
            sql = "SELECT count(*) AS n FROM core_profiles WHERE pair_id = $pair"
            assert run_query(connection, sql, {"pair": text})["n"].to_pylist() == [len(MODELS)]
    assert {path: path.read_bytes() for path in root.rglob("*.*")} == before
    assert [path.name for path in root.parent.iterdir()] == ["warehouse"]
