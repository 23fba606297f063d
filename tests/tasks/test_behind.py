"""Behind: the next order begins before rows of this one are made and committed; no third does."""

import threading

import pytest
from distributed import Client, LocalCluster
from in_process import orders_of
from small_studies import of_scenes, untrained
from warehouse_answers import fetched

from decaf.errors import DiskRefuses, WriteFailed
from decaf.plan.study import Study
from tasks.cluster.drive import drive
from tasks.cluster.worker_deaths import limited, noted
from tasks.units import behind, orders, scan
from tasks.units.orders import run_order

PATIENCE = 20
HERE = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}


@pytest.fixture
def study(tmp_path):
    models = [untrained(tmp_path, "model", 1)]
    return Study(**of_scenes(tmp_path, models, 8, sources_per_block=2))


@pytest.fixture
def events(monkeypatch):
    """What a worker does with each block, in its order."""
    seen, ask, make, commit = [], orders._asked, orders._made, orders._commit

    def asked(parts, *others):
        seen.append(("begins", parts[0].units[0].block))
        return ask(parts, *others)

    def made(benches):
        seen.append(("makes rows", benches[0].order.units[0].block))
        return make(benches)

    def committed(given, results):
        block = given[0].units[0].block
        seen.append(("commits", block))
        result = commit(given, results)
        seen.append(("has committed", block))
        return result

    monkeypatch.setattr(orders, "_asked", asked)
    monkeypatch.setattr(orders, "_made", made)
    monkeypatch.setattr(orders, "_commit", committed)
    return seen


def carried_out(study):
    """Run all orders of a study on one worker of one thread."""
    asked = orders_of(study)
    with LocalCluster(**HERE) as cluster, Client(cluster) as client:
        done = []
        drive(client, run_order, asked, [order.label for order in asked], done.append)
    return done


def test_on_a_processor_an_order_is_committed_before_the_next_one_begins(study, events):
    assert len(carried_out(study)) == 4
    steps = ("begins", "makes rows", "commits", "has committed")
    assert events == [(step, block) for block in range(4) for step in steps]


def test_beside_a_gpu_one_order_is_committed_while_the_next_one_is_scored(
    study, events, monkeypatch
):
    """Rows of every order wait until the next one has been scored; the last one waits for none."""
    monkeypatch.setattr(behind, "has_gpu", lambda _: True)
    scored = [threading.Event() for _ in range(5)]
    scored[-1].set()
    ask, make = orders._asked, orders._made

    def asked(parts, *others):
        benches = ask(parts, *others)
        scored[parts[0].units[0].block].set()
        return benches

    def made(benches):
        following = benches[0].order.units[0].block + 1
        assert scored[following].wait(PATIENCE), "the next order has not begun"
        return make(benches)

    monkeypatch.setattr(orders, "_asked", asked)
    monkeypatch.setattr(orders, "_made", made)
    assert len(carried_out(study)) == 4
    pairs, paths = len(study.pair_set().pairs), len(study.paths)
    profiles = "SELECT count(*), count(DISTINCT unit_key) FROM stg_profiles"
    assert fetched(study.warehouse, profiles) == [(pairs * paths, 4 * paths)]
    at = {event: place for place, event in enumerate(events)}
    for block in range(3):
        assert at["begins", block + 1] < at["makes rows", block]
        assert at["has committed", block] < at["makes rows", block + 1], "one at a time"


def test_the_next_order_reaches_the_gpu_before_rows_are_made(study, events, monkeypatch):
    """Both would share one interpreter until then; of the last order nobody waits for a next."""
    is_last = threading.Event()

    class Reached(threading.Event):
        def wait(self, _):
            return super().wait(0 if is_last.is_set() else PATIENCE)

    ask, score = orders._asked, scan.score_together

    def asked(parts, *others):
        benches = ask(parts, *others)
        if parts[0].units[0].block == 3:
            is_last.set()
        return benches

    def scored(*given):
        events.append(("scores", sum(step == "scores" for step, _ in events)))
        return score(*given)

    monkeypatch.setattr(behind, "has_gpu", lambda _: True)
    monkeypatch.setattr(behind, "_reached", Reached())
    monkeypatch.setattr(orders, "_asked", asked)
    monkeypatch.setattr(scan, "score_together", scored)
    assert len(carried_out(study)) == 4
    at = {event: place for place, event in enumerate(events)}
    for block in range(3):
        assert at["scores", block + 1] < at["makes rows", block]


def test_a_commit_that_the_disk_refuses_fails_its_order(study, monkeypatch):
    monkeypatch.setattr(behind, "has_gpu", lambda _: True)

    def refused(*_):
        raise WriteFailed("no room") from OSError(28, "No space left on device")

    monkeypatch.setattr(orders, "_commit", refused)
    with pytest.raises(DiskRefuses, match="no room"):
        carried_out(study)


def test_outside_of_a_worker_an_order_is_committed_before_it_returns(study, events, monkeypatch):
    monkeypatch.setattr(behind, "has_gpu", lambda _: True)
    run_order(orders_of(study)[0])
    assert events[-1] == ("has committed", 0)


def test_work_that_is_committed_takes_no_note_of_the_next_one_away(tmp_path, monkeypatch):
    """The next work is noted, and its forward passes have limits, when the one before has ended."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second = noted("first"), noted("second")
    first.__enter__()
    second.__enter__()
    assert len(list(tmp_path.glob("*.notes"))) == 2
    first.__exit__(None, None, None)
    (left,) = tmp_path.glob("*.notes")
    ended_in = []
    monkeypatch.setattr(
        "faulthandler.dump_traceback_later", lambda *_, file, **__: ended_in.append(file.name)
    )
    with limited(1.0):
        assert ended_in == [str(left)]
    second.__exit__(None, None, None)
    assert not list(tmp_path.glob("*.notes"))
