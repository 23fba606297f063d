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

from decaf.errors import AlreadyRunning
from warehouse import storage
from warehouse.commits import layout
from warehouse.commits.lock import held_studies, is_held, study_lock
from warehouse.commits.migrations import upgrade
from warehouse.commits.writer import open_root
from warehouse.storage import lease

HOLD = """
import sys, time
from warehouse.commits.lock import study_lock
with study_lock(sys.argv[1], "s"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def url(s3):
    return s3.url(uuid4().hex)


@pytest.fixture(params=["folder", "store"])
def root(request, tmp_path):
    return str(tmp_path) if request.param == "folder" else request.getfixturevalue("url")


@pytest.fixture
def memory():
    return f"memory://{uuid4().hex}/warehouse"


def claims(root):
    store = storage.open(root)
    return {entry.key: store.read(entry.key) for entry in store.entries("locks", ("",))}


def claim(root, host, until):
    content = {"process": 7, "host": host, "since": "2026-03-01T00:00:00+00:00"}
    text = json.dumps(content | {"until": until.isoformat()})
    storage.open(root).put(f"{layout.lock('s')}/theirs.json", text.encode())


def test_a_second_run_is_refused_until_the_first_has_died(root):
    is_store = root.startswith("s3")
    command = [sys.executable, "-c", HOLD, root]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert is_held(root, "s")
        assert held_studies(root) == ["s"]
        told = f"process {holder.pid} on .*" + "at most until 20" * is_store
        with pytest.raises(AlreadyRunning, match=told), study_lock(root, "s"):
            pass
        with study_lock(root, "other"):
            assert held_studies(root) == ["other", "s"]
        assert held_studies(root) == ["s"]
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # On a store its claim is still there, and counts no more on the machine where it died.
    assert not is_store or len(claims(root)) == 1
    assert not is_held(root, "s")
    with study_lock(root, "s"):
        (content,) = (claims(root)[key] for key in claims(root) if key.startswith(layout.lock("s")))
        assert json.loads(content)["process"] == os.getpid()
    assert not is_store or claims(root) == {}


@pytest.mark.parametrize(("seconds_left", "is_free"), [(30, False), (-1, True)])
def test_the_lease_of_another_machine_ends_in_time(memory, seconds_left, is_free):
    claim(memory, "elsewhere", datetime.now(UTC) + timedelta(seconds=seconds_left))
    assert is_held(memory, "s") != is_free
    if is_free:
        with study_lock(memory, "s"):
            assert len(claims(memory)) == 1
        assert claims(memory) == {}
    else:
        with (
            pytest.raises(AlreadyRunning, match="process 7 on elsewhere since 2026-03-01"),
            study_lock(memory, "s"),
        ):
            pass
        assert list(claims(memory)) == [f"{layout.lock('s')}/theirs.json"]


def test_a_holder_renews_its_lease(memory, monkeypatch):
    monkeypatch.setattr(lease, "LEASE_SECONDS", 0.6)
    with study_lock(memory, "s"):
        (first,) = claims(memory).values()
        stop = time.monotonic() + 30
        while first in claims(memory).values():
            assert time.monotonic() < stop
            time.sleep(0.05)
    assert claims(memory) == {}


def test_the_lease_ends_with_an_error_too(memory):
    with pytest.raises(ZeroDivisionError), study_lock(memory, "s"):
        raise ZeroDivisionError
    assert claims(memory) == {}


def test_an_upgrade_waits_for_a_running_study(memory, monkeypatch):
    root = open_root(memory)
    storage.open(root).publish(layout.FORMAT, lambda file: file.write(b'{"schema_version": 0}'))
    with storage.open(root).hold(layout.UPGRADE_LOCK), pytest.raises(AlreadyRunning):
        upgrade(root)


def _contend(root, ready, found):
    ready.wait()
    held = 0
    for _ in range(3):
        try:
            with study_lock(root, "s"):
                start = time.time()
                time.sleep(0.2)
                found.put((start, time.time()))
                held += 1
        except AlreadyRunning:
            pass
    found.put(held)


def test_two_processes_never_hold_a_study_at_once(url):
    context = multiprocessing.get_context("spawn")
    ready, found = context.Barrier(2), context.Queue()
    processes = [context.Process(target=_contend, args=(url, ready, found)) for _ in range(2)]
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
    assert claims(url) == {}
