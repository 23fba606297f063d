"""Models of an audit side by side: as many as keep all workers busy, in the plan's order."""

import threading
from types import SimpleNamespace

import pytest
from prefect.states import Completed, Failed

from decaf.errors import DiskRefuses, ModelError, OrchestrationLost
from tasks.estimate import Estimate
from tasks.prefect import audit_steps as steps
from tasks.prefect.reaudit_steps import problems_of

WORKERS = 2
PATIENCE_SECONDS = 60


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

    def run(names, compute):
        monkeypatch.setattr(steps, "store_labelled", lambda plan: None)
        monkeypatch.setattr(steps, "compute_model", compute)
        monkeypatch.setattr(steps, "estimate_of", lambda root, study: Estimate())
        by_model = {name: [("unit",)] for name in names}
        plan = SimpleNamespace(by_model=by_model, root=None, study=None, pending=[])
        return steps.compute(client, plan, None, {})

    return run


def test_one_model_more_than_workers_is_under_way(audit):
    meeting = threading.Barrier(WORKERS + 1, timeout=PATIENCE_SECONDS)

    def compute(client, plan, model_id, rank, *_, **__):
        meeting.wait()
        return Completed(message=f"{model_id} {rank}")

    states = audit("abcdef", compute)
    assert [state.message for state in states.values()] == [
        f"{name} {rank}" for rank, name in enumerate("abcdef")
    ]


def test_a_model_that_fails_stops_no_other(audit):
    def compute(client, plan, model_id, rank, *_, **__):
        return (Failed if model_id == "b" else Completed)(message=f"{model_id} {rank}")

    states = audit("abc", compute)
    assert {name: state.is_completed() for name, state in states.items()} == {
        "a": True,
        "b": False,
        "c": True,
    }


def test_no_further_model_is_begun_once_the_disk_refuses(audit):
    begun = []

    def compute(client, plan, model_id, rank, *_, **__):
        begun.append(model_id)
        return Failed(data=DiskRefuses("no room"))

    states = audit("abcdefgh", compute)
    assert 0 < len(begun) <= WORKERS + 1
    assert len(states) == 8
    with pytest.raises(DiskRefuses, match="no room"):
        states["h"].result()


def test_stopped_by_a_signal_it_lets_go_of_the_workers(audit, client):
    def compute(client, plan, model_id, *_, **__):
        if model_id == "a":
            raise KeyboardInterrupt
        assert client.closed.wait(PATIENCE_SECONDS)
        return Completed()

    with pytest.raises(KeyboardInterrupt):
        audit("abcdef", compute)
    assert client.closed.is_set()


def test_a_re_audit_leaves_out_what_a_model_is_to_blame_for():
    failed = Failed(data=ModelError("no head"))
    assert problems_of({"a": Completed(), "b": failed}) == {"b": "no head"}


@pytest.mark.parametrize("error", [DiskRefuses("no room"), OrchestrationLost("no scheduler")])
def test_a_re_audit_ends_where_no_model_is_to_blame(error):
    with pytest.raises(type(error), match=str(error)):
        problems_of({"a": Failed(data=ModelError("no head")), "b": Failed(data=error)})
