"""Reading ahead: which order, when, and whose failure it is."""

import tempfile
import threading
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client, LocalCluster
from in_process import orders_of
from small_studies import of_scenes, untrained
from warehouse_answers import fetched

from decaf.errors import BadInput, WorkerEnded
from decaf.foundation.digests import json_sha256, short
from decaf.plan.study import Study
from tasks.cluster import worker_deaths
from tasks.cluster.drive import drive
from tasks.cluster.upcoming import Upcoming
from tasks.cluster.worker_deaths import noted, noted_ahead
from tasks.units import ahead, state_plans
from tasks.units.ahead import Ahead
from tasks.units.bench import Bench, Together
from tasks.units.orders import run_order, run_together


@pytest.fixture
def study(tmp_path):
    models = [untrained(tmp_path, f"model-{seed}", seed) for seed in (1, 2)]
    return Study(**of_scenes(tmp_path, models, 4, sources_per_block=2))


@pytest.fixture
def orders(study):
    """Two blocks of two models, in the order in which a worker gets them."""
    return orders_of(study)


@pytest.fixture
def a_gpu(monkeypatch):
    """The processor has nothing to do while a model scores, as if that were on a GPU."""
    monkeypatch.setattr(ahead, "has_gpu", lambda _: True)


@pytest.fixture
def reads(monkeypatch):
    """What is read: the order's name, and whether in the thread that scores."""
    found, inputs, here = [], Bench.inputs, threading.get_ident()

    def noting(bench, positions):
        found.append((bench.order.label, threading.get_ident() == here))
        return inputs(bench, positions)

    monkeypatch.setattr(Bench, "inputs", noting)
    return found


def carry_out(orders):
    """Run orders one after the other, as a worker that holds the next one."""
    for order, following in zip(orders, [*orders[1:], None], strict=True):
        ahead.expect(following)
        run_order(order)


@pytest.mark.usefixtures("a_gpu")
def test_every_order_but_the_first_is_read_ahead_and_no_number_changes(study, reads, monkeypatch):
    orders = orders_of(study)
    names = [order.label for order in orders]
    carry_out(orders)
    assert reads == [(name, name == names[0]) for name in names]

    monkeypatch.setattr(ahead, "has_gpu", lambda _: False)
    monkeypatch.setattr(state_plans, "_kept", {})
    reads.clear()
    carry_out(orders_of(study.model_copy(update={"study": "other"})))
    assert reads == [(name, True) for name in names]
    differing = fetched(
        study.warehouse,
        "SELECT count(*), count(*) FILTER (one.q_plus <> two.q_plus OR one.q_minus <> two.q_minus) "
        "FROM core_trajectories AS one JOIN core_trajectories AS two USING (model_id, path, "
        "pair_id, repetition) WHERE one.study = 'try' AND two.study = 'other'",
    )
    assert differing == [(2 * len(study.pair_set().pairs), 0)]


@pytest.mark.usefixtures("a_gpu")
def test_a_block_of_several_models_is_read_ahead_once(orders, reads):
    blocks = [Together(tuple(orders[block::2])) for block in range(2)]
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        ahead.expect(following)
        assert all(done.forward_rows for done in run_together(block))
    first, second = (block.orders[0].label for block in blocks)
    assert reads == [(first, True), (second, False)]


@pytest.mark.slow
@pytest.mark.usefixtures("a_gpu")
def test_a_worker_that_is_told_what_comes_next_reads_it_in_another_thread(orders, monkeypatch):
    threads, read_ahead = [], ahead.read

    def noting(order):
        threads.append(threading.current_thread().name)
        return read_ahead(order)

    monkeypatch.setattr(ahead, "read", noting)
    here = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with LocalCluster(**here, dashboard_address=None) as cluster, Client(cluster) as client:
        client.register_plugin(Upcoming(ahead.expect))
        done = []
        drive(client, run_order, orders, [order.label for order in orders], done.append)
    assert all(one.forward_rows for one in done)
    assert len(threads) == len(done) == len(orders), "each is read once"
    assert not all(name.startswith("Dask") for name in threads)


@pytest.mark.usefixtures("a_gpu")
def test_what_was_read_for_another_order_is_dropped(orders, reads):
    ahead.expect(orders[1])
    run_order(orders[0])
    ahead.expect(None)  # it was given to another worker
    run_order(orders[2])
    assert reads[-1] == (orders[2].label, True)
    assert len(reads) == 3


@pytest.mark.usefixtures("a_gpu")
def test_parts_of_an_order_come_before_the_next_order(orders, reads):
    first, second, third, _ = orders
    desk = Ahead()
    desk.expect(third)
    desk.bench(first)
    with desk.beside(first, second):
        pass
    desk.bench(second)
    with desk.beside(second, None):
        pass
    desk.bench(third)
    assert [(name, here) for name, here in reads] == [
        (first.label, True),
        (second.label, False),
        (third.label, False),
    ]


@pytest.mark.usefixtures("a_gpu")
def test_an_order_that_cannot_be_read_fails_when_it_is_run(orders, monkeypatch):
    broken = replace(orders[1], block=replace(orders[1].block, input_positions=np.array([10**9])))
    ahead.expect(broken)
    assert run_order(orders[0]).forward_rows
    with pytest.raises(IndexError):
        run_order(broken)
    # What fails once, as for want of memory with two blocks at a time, is read again.
    monkeypatch.setattr(ahead, "read", failing_once(ahead.read))
    ahead.expect(orders[1])
    with ahead.AHEAD.beside(orders[0], None):
        pass
    assert run_order(orders[1]).forward_rows


def failing_once(read):
    failures = [SystemExit(1)]

    def again(order):
        if failures:
            raise failures.pop()
        return read(order)

    return again


@pytest.mark.usefixtures("a_gpu")
def test_an_order_that_may_have_ended_a_worker_runs_alone(orders, reads, notes):
    notes.write_text(f"\n{worker_deaths.BEGUN} 1\n")
    ahead.expect(orders[1])
    with noted("work"):
        run_order(orders[0])
    assert len(reads) == 1


@pytest.fixture
def notes(monkeypatch, tmp_path):
    """The file with the notes of some work."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"decaf-{short(json_sha256('work'))}.notes"


@pytest.mark.parametrize(
    "ended", ["Fatal Python error: Segmentation fault\n", "Timeout (0:00:01)\n"]
)
def test_a_death_while_something_is_read_ahead_is_not_yet_held_against_work(notes, ended):
    with noted("work"):
        with noted_ahead():
            during = notes.read_text()
        after = notes.read_text()
    notes.write_text(during + ended)
    with noted("work"):
        assert worker_deaths.has_died()
        alone = notes.read_text()
    assert not worker_deaths.has_died()
    # Alone, it is known what ended the process; and so it is where reading was over.
    for certain in (alone, after):
        notes.write_text(certain + ended)
        with pytest.raises(WorkerEnded), noted("work"):
            pass


def test_a_gpu_that_is_asked_for_and_not_there_is_bad_input(orders, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    order = replace(orders[0], model=replace(orders[0].model, device="cuda"))
    with pytest.raises(BadInput, match="sees no GPU"):
        run_order(order)
