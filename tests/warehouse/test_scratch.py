import os
import signal
import subprocess
import sys

import pytest

from decaf.errors import QueryError
from warehouse.commits.writer import open_root
from warehouse.query import catalog, scratch
from warehouse.query.catalog import connect, run_query

SORT = "SELECT md5(i::VARCHAR) || i FROM range(2000000) t(i) ORDER BY ALL"
SPILLS = """
import os, sys
from pathlib import Path
from warehouse.query.catalog import connect
connection = connect(Path(sys.argv[1]), memory_limit="60MB", threads=1)
reader = connection.sql(sys.argv[2]).to_arrow_reader(10)
reader.read_next_batch()
print("spilled", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The temporary folder of this process and of those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    scratch.scratch_folder.cache_clear()
    yield tmp_path / "tmp"
    scratch.scratch_folder.cache_clear()


def test_what_a_killed_process_has_spilled_goes_with_the_next_one(folder, tmp_path):
    store = open_root(tmp_path / "warehouse")
    command = [sys.executable, "-c", SPILLS, store.address, SORT]
    owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert owner.stdout.readline() == b"spilled\n"
        (spilled,) = folder.iterdir()
        assert any(file.stat().st_size for file in spilled.rglob("duckdb_temp*"))
        # Of a process that is there, nothing is touched.
        connect(store).close()
        assert spilled in folder.iterdir()
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    scratch.scratch_folder.cache_clear()  # as in another process
    connect(store).close()
    assert spilled not in folder.iterdir()


def test_a_forked_process_has_a_folder_of_its_own(folder):
    own = scratch.scratch_folder()
    assert scratch.scratch_folder() == own
    if not (child := os.fork()):
        other = scratch.scratch_folder()
        scratch.remove_scratch()
        os._exit(0 if other != own and not other.exists() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert own.exists()
    scratch.remove_scratch()
    assert not own.exists()


def test_a_command_leaves_nothing_there(folder, tmp_path, decaf):
    decaf("status", "-w", open_root(tmp_path / "warehouse").address)
    assert list(folder.iterdir()) == []


def test_a_spill_is_bounded_by_half_of_the_room_that_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog.shutil, "disk_usage", lambda place: (0, 0, 2 * 10**6))
    store = open_root(tmp_path / "warehouse")
    bounded = connect(store, memory_limit="60MB", threads=1)
    words = pytest.raises(QueryError, match="half of the temporary folder")
    with bounded as connection, words:
        run_query(connection, SORT)
