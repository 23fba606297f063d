"""Models of an audit side by side: as many as keep all workers busy, in the plan's order."""

import threading
from types import SimpleNamespace

import pytest
from prefect.states import Completed, Failed

from decaf.errors import DiskRefuses
from tasks.plan import ModelWork
from tasks.prefect import audit_steps as steps

WORKERS = 2
PATIENCE_SECONDS = 60


@pytest.fixture
def client():
    closed = threading.Event()
    return SimpleNamespace(
        nthreads=lambda: dict.fromkeys(range(WORKERS), 1), close=closed.set, closed=closed
    )


@pytest.fixture
def audit(monkeypatch, client):
    """Run the models of a plan with these functions for its two steps."""

    def run(models, score, measure):
        plan = SimpleNamespace(pending=(), unmeasured=(), measurements=("one",))
        monkeypatch.setattr(steps, "store_alone", lambda plan: None)
        monkeypatch.setattr(steps, "by_model", lambda plan: models)
        monkeypatch.setattr(steps, "score", score)
        monkeypatch.setattr(steps, "measure", measure)
        return steps.model_by_model(client, plan, None)

    return run


def work(*names):
    return [ModelWork(name, ["shard"], ["measurement"]) for name in names]


def test_one_model_more_than_workers_is_under_way(audit):
    meeting = threading.Barrier(WORKERS + 1, timeout=PATIENCE_SECONDS)

    def score(client, plan, model_id, rank, *_, **__):
        meeting.wait()
        return Completed(message=f"{model_id} {rank}")

    states = audit(work(*"abcdef"), score, lambda *_, **__: Completed(message="measured"))
    assert [state.message for state in states] == ["measured"] * 6


def test_a_model_that_fails_is_not_measured_and_stops_no_other(audit):
    measured = []

    def score(client, plan, model_id, rank, *_, **__):
        return (Failed if model_id == "b" else Completed)(message=f"{model_id} {rank}")

    def measure(client, plan, model_id, rank, *_, **__):
        measured.append(model_id)
        return Completed(message=f"{model_id} {rank}")

    states = audit(work(*"abc"), score, measure)
    assert [state.message for state in states] == ["a 0", "b 1", "c 2"]
    assert [state.is_completed() for state in states] == [True, False, True]
    assert sorted(measured) == ["a", "c"]


def test_no_further_model_is_begun_once_the_disk_refuses(audit):
    begun = []

    def score(client, plan, model_id, rank, *_, **__):
        begun.append(model_id)
        return Failed(data=DiskRefuses("no room"))

    states = audit(work(*"abcdefgh"), score, None)
    assert 0 < len(begun) <= WORKERS + 1
    assert len(states) == 8
    with pytest.raises(DiskRefuses, match="no room"):
        states[-1].result()


def test_stopped_by_a_signal_it_lets_go_of_the_workers(audit, client):
    def score(client, plan, model_id, *_, **__):
        if model_id == "a":
            raise KeyboardInterrupt
        assert client.closed.wait(PATIENCE_SECONDS)
        return Completed()

    with pytest.raises(KeyboardInterrupt):
        audit(work(*"abcdef"), score, None)
    assert client.closed.is_set()
