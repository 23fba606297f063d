"""One holder of a study at a time, in a folder and on an object store, also when holders die."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from running_command import wait_for

from decaf.errors import AlreadyRunning
from warehouse import storage
from warehouse.commits import layout
from warehouse.commits.lock import held_studies, is_held, study_lock
from warehouse.storage import lease
from warehouse.storage.objects import Objects

HOLD = """
import sys, time
from warehouse import storage
from warehouse.commits.lock import study_lock
with study_lock(storage.open(sys.argv[1]), "s"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def url(s3):
    return s3.url(uuid4().hex)


@pytest.fixture(params=["folder", "store"])
def store(request, tmp_path):
    is_folder = request.param == "folder"
    return storage.open(tmp_path if is_folder else request.getfixturevalue("url"))


@pytest.fixture
def memory():
    return storage.open(f"memory://{uuid4().hex}/warehouse")


def leases(store):
    """Leases of the study by number."""
    folder = layout.lock("s")
    keys = [entry.key for entry in store.entries(folder, ("",))]
    return {int(key[len(folder) + 1 : -len(".lease")]): store.read(key) for key in keys}


def lease_of_another(number, host, until):
    content = {"process": 7, "host": host, "since": "2026-03-01T00:00:00+00:00"}
    return lease_key(number), json.dumps(content | {"until": until.isoformat()}).encode()


def lease_key(number):
    return f"{layout.lock('s')}/{number:09}.lease"


def in_seconds(seconds):
    return datetime.now(UTC) + timedelta(seconds=seconds)


def test_a_second_run_is_refused_until_the_first_has_died(store):
    is_store = store.folder is None
    command = [sys.executable, "-c", HOLD, store.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert is_held(store, "s")
        assert held_studies(store) == ["s"]
        told = f"process {holder.pid} on .*" + "at most until 20" * is_store
        with pytest.raises(AlreadyRunning, match=told), study_lock(store, "s"):
            pass
        with study_lock(store, "other"):
            assert held_studies(store) == ["other", "s"]
        assert held_studies(store) == ["s"]
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # On a store its lease is still there, and counts no more on the machine where it died.
    assert not is_store or list(leases(store)) == [1]
    assert not is_held(store, "s")
    with study_lock(store, "s"):
        assert is_held(store, "s")
        if is_store:
            ((number, content),) = leases(store).items()
            assert (number, json.loads(content)["process"]) == (2, os.getpid())
    assert held_studies(store) == []


@pytest.mark.parametrize(("seconds_left", "is_free"), [(30, False), (-1, True)])
def test_the_lease_of_another_machine_ends_in_time(memory, seconds_left, is_free):
    memory.put(*lease_of_another(4, "elsewhere", in_seconds(seconds_left)))
    assert is_held(memory, "s") != is_free
    if is_free:
        with study_lock(memory, "s"):
            assert list(leases(memory)) == [5]
        assert not is_held(memory, "s")
    else:
        with (
            pytest.raises(AlreadyRunning, match="process 7 on elsewhere since 2026-03-01"),
            study_lock(memory, "s"),
        ):
            pass
        assert list(leases(memory)) == [4]


@pytest.mark.parametrize(("number", "held_by"), [(1, "there"), (2, "here")])
def test_another_machine_takes_the_lease_after_the_first_look(memory, monkeypatch, number, held_by):
    """Of two that see no holder one gets the next number; a later number counts more."""
    put_new = Objects.put_new

    def put_after(store, key, content):
        assert put_new(store, *lease_of_another(number, held_by, in_seconds(30)))
        return put_new(store, key, content)

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "put_new", put_after)
        with (
            pytest.raises(AlreadyRunning, match=f"process 7 on {held_by}"),
            study_lock(memory, "s"),
        ):
            pass
    assert list(leases(memory)) == [number]


def test_a_lease_whose_put_got_no_answer_is_held(memory, monkeypatch):
    """obstore puts again, and is told that there is an object already."""
    put_new = Objects.put_new
    monkeypatch.setattr(Objects, "put_new", lambda *given: put_new(*given) and False)
    with study_lock(memory, "s"):
        assert list(leases(memory)) == [1]
    assert not is_held(memory, "s")


def test_a_holder_renews_its_lease(memory, monkeypatch):
    monkeypatch.setattr(lease, "LEASE_SECONDS", 0.6)
    with study_lock(memory, "s"):
        (first,) = leases(memory).values()
        wait_for(lambda: first not in leases(memory).values())
    assert not is_held(memory, "s")


def test_the_lease_ends_with_an_error_too(memory):
    with pytest.raises(ZeroDivisionError), study_lock(memory, "s"):
        raise ZeroDivisionError
    assert not is_held(memory, "s")


def _contend(store, ready, found):
    ready.wait()
    held = 0
    for _ in range(3):
        try:
            with study_lock(store, "s"):
                start = time.time()
                time.sleep(0.2)
                found.put((start, time.time()))
                held += 1
        except AlreadyRunning:
            pass
    found.put(held)


def test_two_processes_never_hold_a_study_at_once(url):
    store, context = storage.open(url), multiprocessing.get_context("spawn")
    ready, found = context.Barrier(2), context.Queue()
    processes = [context.Process(target=_contend, args=(store, ready, found)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    times = []
    counts = []
    while len(counts) < 2:
        item = found.get(timeout=10)
        (counts if isinstance(item, int) else times).append(item)
    assert len(times) == sum(counts) >= 1
    times.sort()
    for (_, end), (start, _) in zip(times, times[1:], strict=False):
        assert end <= start
    assert not is_held(store, "s")
