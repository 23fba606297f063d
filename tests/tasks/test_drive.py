"""Real Dask workers: order, failures, deaths, a scheduler at an address."""

import errno
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster, Nanny, Scheduler, SpecCluster

from decaf.errors import (
    BadInput,
    DiskRefuses,
    ModelError,
    OrchestrationLost,
    ScoringFailed,
    WriteFailed,
)
from decaf.plan.cluster import CudaWorkers, LocalWorkers, SchedulerAddress
from tasks.cluster.drive import WINDOW_PER_WORKER, drive
from tasks.cluster.fork_server import WORKER_MEMORY
from tasks.cluster.workers import connect, share_devices

PATIENCE_SECONDS = 120
HELD_BY_WORKER = 2
"""Tasks that a worker of one thread is given before it has done any."""


@pytest.fixture(scope="module")
def client():
    with connect(LocalWorkers(workers=2)) as client:
        yield client


@contextmanager
def scheduler(workers):
    """A scheduler that runs already with its workers, as somebody else's: address and cluster."""
    addresses = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    quiet = addresses | {"threads_per_worker": 1, "silence_logs": 50}
    with LocalCluster(n_workers=workers, **quiet) as cluster:
        yield SchedulerAddress(kind="address", address=cluster.scheduler_address), cluster


def double(order):
    return 2 * order


def fail_on_odd(order):
    if order % 2:
        raise ModelError(f"{order} is odd")
    return order


def refuse(order):
    Path(order).touch()
    raise WriteFailed("no room")


def blocked_on_odd(order):
    if order % 2:
        raise WriteFailed("a folder is in its place") from IsADirectoryError(errno.EISDIR, "dir")
    return order


def fail_on_three(order):
    if order == 3:
        raise ZeroDivisionError("three")
    return order


def die_once(order):
    marker = Path(order)
    if not marker.exists():
        marker.touch()
        os._exit(1)
    return order


def environment(order):
    return {name: os.environ.get(name) for name in order}


def run(client, work, orders):
    results = []
    drive(client, work, orders, [f"order {order}" for order in orders], results.append)
    return results


def test_every_order_is_done_once_whatever_the_window(client):
    assert sorted(run(client, double, list(range(50)))) == list(range(0, 100, 2))


def test_orders_are_made_as_they_are_sent(client):
    made, done, ahead = [], [], []

    def orders():
        for order in range(40):
            made.append(order)
            yield order

    def on_done(result):
        ahead.append(len(made) - len(done))
        done.append(result)

    drive(client, double, orders(), [f"order {n}" for n in range(40)], on_done)
    assert len(done) == 40
    assert max(ahead) <= WINDOW_PER_WORKER * 2


def test_no_orders_are_no_work(client):
    assert run(client, double, []) == []


def test_a_failure_stops_no_other_order_and_keeps_its_kind(client):
    results = []
    with pytest.raises(ModelError, match=r"2 of 4 tasks failed.*\n.*is odd") as caught:
        drive(client, fail_on_odd, range(4), "abcd", results.append)
    assert sorted(results) == [0, 2]
    assert caught.value.exit_code == 2


def test_a_worker_begins_nothing_more_once_the_disk_refuses(tmp_path):
    folders = [tmp_path / name for name in ("one", "other", "again")]
    for folder in folders:
        folder.mkdir()

    def refused(client, folder):
        orders = [str(folder / f"{number:03}") for number in range(200)]
        with pytest.raises(DiskRefuses, match="tasks failed") as caught:
            drive(client, refuse, orders, orders, lambda _: None)
        return caught.value

    with scheduler(workers=2) as (address, _):
        with connect(address) as client, ThreadPoolExecutor() as threads:
            # Models that are audited side by side share the refusal.
            errors = list(threads.map(refused, [client] * 2, folders[:2]))
            assert [error.exit_code for error in errors] == [3, 3]
            assert all("no room" in str(error) for error in errors)
        begun = [path for folder in folders for path in folder.iterdir()]
        assert 1 <= len(begun) <= 2
        # The same workers try again for who comes later.
        with connect(address) as client:
            assert "no room" in str(refused(client, folders[2]))


def test_a_file_that_cannot_be_written_stops_no_other(client):
    results = []
    with pytest.raises(WriteFailed, match=r"2 of 5 tasks failed.*\n.*in its place") as caught:
        drive(client, blocked_on_odd, range(5), "abcde", results.append)
    assert sorted(results) == [0, 2, 4]
    assert not isinstance(caught.value, DiskRefuses)
    assert run(client, double, [1]) == [2]


def test_a_failure_that_nobody_foresaw_is_scoring_failed(client):
    with pytest.raises(ScoringFailed, match="c: ZeroDivisionError"):
        drive(client, fail_on_three, [1, 2, 3], "abc", lambda _: None)


def test_an_order_whose_worker_dies_is_done_again(client, tmp_path):
    orders = [str(tmp_path / name) for name in "ab"]
    assert sorted(run(client, die_once, orders)) == orders


def test_workers_run_with_the_settings_of_the_cluster(client):
    (found,) = run(client, environment, [(*WORKER_MEMORY, "OMP_NUM_THREADS")])
    assert found == {**WORKER_MEMORY, "OMP_NUM_THREADS": "1"}


def test_a_scheduler_that_runs_already_is_reached_by_its_address():
    with scheduler(workers=1) as (address, _), connect(address) as client:
        assert run(client, double, [4]) == [8]


def test_a_scheduler_that_is_not_there_is_bad_input(monkeypatch):
    monkeypatch.setattr("tasks.cluster.workers.CONNECT_SECONDS", 1)
    address = SchedulerAddress(kind="address", address="tcp://127.0.0.1:9")
    with pytest.raises(BadInput, match=r"tcp://127.0.0.1:9"):
        connect(address).__enter__()


@pytest.mark.slow
def test_a_scheduler_that_is_lost_in_the_middle_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.cluster.workers.CONNECT_SECONDS", 2)
    gate = tmp_path / "gate"
    with scheduler(workers=1) as (address, cluster), connect(address) as client:
        closing = threading.Timer(0.5, cluster.close)
        closing.start()
        with pytest.raises(OrchestrationLost, match="Dask scheduler is lost") as caught:
            run(client, wait_for, [str(gate)])
        gate.touch()
        closing.join()
    assert caught.value.exit_code == 3


def test_a_machine_without_gpus_or_the_extra_says_so():
    with pytest.raises(BadInput, match="dask_cuda"):
        connect(CudaWorkers(kind="cuda")).__enter__()


def visible_device():
    return os.environ["CUDA_VISIBLE_DEVICES"]


def test_workers_of_one_device_have_its_environment():
    def spec(device):
        options = {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": device}}
        return {"cls": Nanny, "options": options}

    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1", "port": 0}}
    workers = {0: spec("0,1"), 1: spec("1,0")}
    with (
        SpecCluster(workers, scheduler, silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        share_devices(cluster, 2)
        client.wait_for_workers(4, timeout=PATIENCE_SECONDS)
        devices = client.run(visible_device)
    assert sorted(devices.values()) == ["0,1", "0,1", "1,0", "1,0"]


def wait_for(order):
    stop = time.monotonic() + PATIENCE_SECONDS
    while not Path(order).exists():
        assert time.monotonic() < stop
        time.sleep(0.01)


def known_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def note(order):
    folder, name = order
    number = len(list(Path(folder).iterdir()))
    (Path(folder) / f"{number}-{name}").touch()


def origin():
    """Parent of a worker, the parent's threads, use of CUDA, and a random draw."""
    import torch

    parent = psutil.Process(os.getppid())
    draw = np.random.random()  # noqa: NPY002 - the generator that forks would share
    return parent.pid, parent.num_threads(), torch.cuda._is_in_bad_fork(), draw


@pytest.mark.skipif(sys.platform != "linux", reason="only there are workers forked")
def test_workers_are_forks_of_a_process_that_has_no_threads_and_not_used_cuda(client):
    found = client.run(origin).values()
    parents, threads, cuda, draws = zip(*found, strict=True)
    (parent,) = {*parents}
    assert parent != os.getpid()
    assert ({*threads}, {*cuda}) == ({1}, {False})
    assert len({*draws}) == 2


def test_of_two_calls_at_a_time_the_lower_rank_goes_first(tmp_path):
    notes, gate = tmp_path / "notes", tmp_path / "gate"
    notes.mkdir()
    with connect(LocalWorkers(workers=1)) as client:
        held = client.submit(wait_for, str(gate), priority=1)
        threads = []
        for rank in (1, 0):
            orders = [(str(notes), rank)] * WINDOW_PER_WORKER
            names = [f"{rank}-{number}" for number in range(WINDOW_PER_WORKER)]
            given = (client, note, orders, names, id, rank)
            threads.append(threading.Thread(target=drive, args=given))
            threads[-1].start()
            submitted = 1 + len(threads) * WINDOW_PER_WORKER
            stop = time.monotonic() + PATIENCE_SECONDS
            while client.run_on_scheduler(known_tasks) < submitted:
                assert time.monotonic() < stop
                time.sleep(0.01)
        gate.touch()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        held.result()
    done = [int(path.name.split("-")[1]) for path in sorted(notes.iterdir())]
    # What the worker held before the lower rank was submitted is done first.
    assert done[HELD_BY_WORKER:] == sorted(done[HELD_BY_WORKER:])
    assert sorted(done) == [0] * WINDOW_PER_WORKER + [1] * WINDOW_PER_WORKER
