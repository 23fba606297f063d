"""Queries of `decaf view`: what it reads ahead, and what it computes once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from planned_units import STARTED, commit_run
from scenes_warehouse import MODELS, scenes_warehouse
from starlette.testclient import TestClient
from test_view import shown

from flows.view import snapshot as snapshots
from flows.view.site import Site
from warehouse import storage
from warehouse.query.catalog import run_query
from warehouse.query.pages import Question
from warehouse.query.views import query


@pytest.fixture
def asked(monkeypatch):
    """Queries that a site sends to the warehouse, in order."""
    queries = []

    def run(connection, sql, *values):
        queries.append(sql)
        return run_query(connection, sql, *values)

    monkeypatch.setattr(snapshots, "run_query", run)
    return queries


def test_models_are_read_ahead_at_the_start_and_after_renewal(scenes, asked):
    site = Site(storage.open(scenes))
    client = TestClient(site.application(), "http://127.0.0.1", follow_redirects=False)

    def read_findings():
        return [query for query in asked if "out_findings" in query or "out_responses" in query]

    for read_ahead in (site.read_ahead, lambda: client.post("/renew")):
        read_ahead()
        assert any("FROM out_findings" in query for query in asked)
        asked.clear()
        page = shown(client, "/models?study=demo")
        assert not read_findings()
        assert len(page.rows) == 1 + len(MODELS)


@pytest.mark.parametrize(("is_opened_again", "count"), [(False, 3), (True, 1)])
def test_older_studies_are_read_ahead_until_the_warehouse_is_opened_again(
    tmp_path, monkeypatch, is_opened_again, count
):
    store = scenes_warehouse(tmp_path / "warehouse")
    for study in ("older", "oldest"):
        run = {"run_id": "r", "epsilon": 0.02, "started_at": STARTED - timedelta(days=1)}
        commit_run(store, study, run, [], [], [{"path": "blend", "t": [0.0, 1.0]}])
    site, findings = Site(store), []
    opened_again = snapshots.Snapshot(store)

    def run(connection, sql, *values):
        if "FROM out_findings" in sql:
            findings.append(sql)
            if is_opened_again:
                site._snapshot = opened_again
        return run_query(connection, sql, *values)

    monkeypatch.setattr(snapshots, "run_query", run)
    site.read_ahead()
    assert len(findings) == count


def test_other_pages_answer_while_models_are_read(scenes, monkeypatch):
    site = Site(storage.open(scenes))
    client = TestClient(site.application(), "http://127.0.0.1")
    is_reading, may_read = Event(), Event()

    def run(connection, sql, *values):
        if "out_findings" in sql:
            is_reading.set()
            assert may_read.wait(60)
        return run_query(connection, sql, *values)

    monkeypatch.setattr(snapshots, "run_query", run)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(site.read_ahead)
        try:
            assert is_reading.wait(60)
            assert shown(client, "/responses?study=demo").rows
            assert not reading.done()
        finally:
            may_read.set()
        reading.result()


def test_findings_that_share_their_responses_are_those_of_separate_queries(scenes):
    names = ("models", "verdict_bars")
    findings, bars = (Question(query(f"view/{name}"), {}) for name in names)
    bars = bars._replace(values={"study": "demo"})
    snapshot = snapshots.Snapshot(storage.open(scenes))
    together = snapshot.ask_together("demo", [findings, bars])
    alone = snapshots.Snapshot(storage.open(scenes))
    for question, rows in zip((findings, bars), together, strict=True):
        assert rows.num_rows
        assert sorted(map(repr, alone.ask(question).to_pylist())) == sorted(
            map(repr, rows.to_pylist())
        )
    again = snapshot.ask_together("demo", [findings, bars])
    assert [rows is kept for rows, kept in zip(again, together, strict=True)] == [True, True]
