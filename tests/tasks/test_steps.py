"""Models of an audit side by side: as many as keep all workers busy, in the plan's order."""

import threading
from types import MappingProxyType, SimpleNamespace

import pytest

from decaf.errors import DiskRefuses, ModelError
from tasks.estimate import Estimate
from tasks.prefect import audit_steps as steps

WORKERS = 2
PATIENCE_SECONDS = 60
NO_ERRORS = MappingProxyType({})


@pytest.fixture
def client():
    closed = threading.Event()
    return SimpleNamespace(
        nthreads=lambda: dict.fromkeys(range(WORKERS), 1),
        close=closed.set,
        closed=closed,
    )


@pytest.fixture
def audit(monkeypatch, client):
    """Compute the models of a plan with functions in the place of the steps."""

    def run(names, compute, skipped=NO_ERRORS):
        monkeypatch.setattr(steps, "store_foregrounds", lambda study, images: None)
        monkeypatch.setattr(steps, "compute_model", compute)
        monkeypatch.setattr(steps, "estimate_of", lambda store, study: Estimate())
        by_model = {name: [("unit",)] for name in names}
        work = SimpleNamespace(by_model=by_model, pending=[])
        plan = SimpleNamespace(
            work=work, store=None, study=SimpleNamespace(names={}), foregrounds=None
        )
        return steps.compute(client, plan, None, skipped)

    return run


def test_one_model_more_than_workers_is_under_way(audit):
    meeting = threading.Barrier(WORKERS + 1, timeout=PATIENCE_SECONDS)

    def compute(client, plan, model_id, rank, *_):
        meeting.wait()
        ranks[model_id] = rank

    ranks = {}
    assert audit("abcdef", compute) == {}
    assert ranks == {name: rank for rank, name in enumerate("abcdef")}


def test_a_model_that_fails_stops_no_other(audit):
    def compute(client, plan, model_id, rank, *_):
        computed.append(model_id)
        if model_id == "b":
            raise error

    computed, error = [], ModelError("no head")
    assert audit("abc", compute) == {"b": error}
    assert sorted(computed) == ["a", "b", "c"]


def test_a_model_that_failed_before_is_skipped(audit):
    def compute(client, plan, model_id, rank, *_):
        computed.append(model_id)

    computed = []
    assert audit("abc", compute, skipped={"b": ModelError("no head")}) == {}
    assert sorted(computed) == ["a", "c"]


def test_no_further_model_is_begun_once_the_disk_refuses(audit):
    begun = []

    def compute(client, plan, model_id, rank, *_):
        begun.append(model_id)
        raise DiskRefuses("no room")

    errors = audit("abcdefgh", compute)
    assert 0 < len(begun) <= WORKERS + 1
    assert {name: type(error) for name, error in errors.items()} == dict.fromkeys(
        "abcdefgh", DiskRefuses
    )


def test_stopped_by_a_signal_it_lets_go_of_the_workers(audit, client):
    def compute(client, plan, model_id, *_):
        if model_id == "a":
            raise KeyboardInterrupt
        assert client.closed.wait(PATIENCE_SECONDS)

    with pytest.raises(KeyboardInterrupt):
        audit("abcdef", compute)
    assert client.closed.is_set()
