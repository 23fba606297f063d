"""A machine that is not as it should be: every command works all the same, or says what is wrong.

A row is what a command meets (`tests/support/surroundings.py`, or variables), the command, its exit
code, and words of its message; the warehouse is the same after it, and nothing half-made is left.
"""

import hashlib
import os
import shutil
import socket
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from ended_commands import refused, succeeded
from s3_server import BUCKET, Gate
from small_studies import of_scenes, untrained
from small_warehouse import commit_block
from surroundings import can_mount

from decaf.errors import OutOfReach
from warehouse import storage
from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root

NEEDS_MOUNTS = ("read_only", "full")
READ_ONLY, FULL = "read_only={warehouse}", "full={warehouse}"
NOTHING_READ, NO_ROWS_READ = "unprivileged locked={receipts}", "unprivileged locked={tables}"
WORKSPACE_LOCKED = "unprivileged locked={workspace} PREFECT_API_URL={api}"
NO_LOCKS, NO_FLUSH = "without_locks", "without_flush"
NOTHING_OURS = "unprivileged umask=777"
HOMELESS = "HOME=/nonexistent/decaf DECAF_CACHE= XDG_CACHE_HOME="
SQL = "sql -w {warehouse} -o {out}.csv FROM·stg_profiles"
GC = "gc -w {warehouse} --older-than 0"
CASES = [
    (READ_ONLY, "run {config}", 2, "Read-only file system"),
    (READ_ONLY, SQL, 0, "9 rows"),
    (READ_ONLY, "check -w {warehouse} --study s", 0, "pass"),
    (FULL, "run {config}", 2, "No space left on device"),
    (FULL, "compact -w {warehouse}", 3, "No space left on device"),
    (FULL, f"{GC} --delete", 0, "1 files (0.00 MB)"),
    (NOTHING_READ, "run {config}", 2, "Permission denied"),
    (NOTHING_READ, SQL, 2, "Permission denied"),
    (NO_ROWS_READ, GC, 2, "Permission denied"),
    (NO_ROWS_READ, "check -w {warehouse}", 2, "Permission denied"),
    (WORKSPACE_LOCKED, "run {config}", 3, "{workspace}"),
    ("unprivileged locked={config}", "plan {config}", 2, "{config}"),
    (NO_LOCKS, "run {config}", 2, "No locks available"),
    (NO_LOCKS, "serve --port {port}", 2, "No locks available"),
    (NO_FLUSH, "compact -w {warehouse}", 0, "now"),
    (NOTHING_OURS, SQL, 2, "Permission denied"),
    (f"{HOMELESS} TMPDIR=/nonexistent open_files=64", SQL, 0, "9 rows"),
    ("PREFECT_API_URL=http://127.0.0.1:{port}/api", "serve --port {port}", 2, "{port}"),
    ("PREFECT_API_URL=nonsense", "schedule list", 2, "nonsense"),
    ("folder_gone={out}", "sql SELECT·1", 2, "directory"),
    ("closed_stdin", "run {held}", 2, "try"),
    ("ascii_terminal TERM= COLUMNS=1", "status -w {warehouse}", 0, "s: finished"),
    ("", "sql -w {warehouse} -o {pipe} --format csv FROM·receipts", 2, "{pipe}"),
    ("", "sql -w {warehouse} -f {tmp}", 2, "Is a directory"),
]


@pytest.fixture(scope="module")
def small(small, tmp_path_factory):
    """A warehouse with something to fold, since a block is committed twice, and to delete."""
    root = shutil.copytree(small, tmp_path_factory.mktemp("small") / "warehouse")
    commit_block(storage.open(root), "s", "m", 0.3)
    (root / "tables/profiles/study=s/stray.parquet").write_bytes(b"12345")
    return root


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    return untrained(tmp_path_factory.mktemp("weights"), "m")


@pytest.fixture
def places(tmp_path, root, card, write, prefect_server, workers):
    """Names of the commands' words: a warehouse, a study, a pipe."""
    settings = of_scenes(tmp_path, [card])
    (tmp_path / "workspace").mkdir()
    os.mkfifo(tmp_path / "pipe")
    held = {**settings, "warehouse": str(tmp_path / "held")}
    served = {**settings, "cluster": workers}  # to start others takes longer than the command
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as taken,
        study_lock(open_root(tmp_path / "held"), "try"),
    ):
        yield {
            "tmp": tmp_path,
            "warehouse": root,
            "receipts": root / "receipts",
            "tables": root / "tables" / "profiles",
            "workspace": tmp_path / "workspace",
            "config": write(served),
            "elsewhere": write({**settings, "warehouse": str(tmp_path / "other")}, "other.yaml"),
            "held": write(held, "held.yaml"),
            "out": tmp_path / "out",
            "pipe": tmp_path / "pipe",
            "port": taken.getsockname()[1],
            "api": prefect_server["PREFECT_API_URL"],
        }


def committed(root):
    """Receipts and the rows that they name, with their content."""
    files = (*root.glob("receipts/units/**/*.json"), *root.glob("tables/**/*-*.parquet"))
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize(("met", "command", "code", "words"), CASES)
def test_every_command(met, command, code, words, places, decaf):
    if met.startswith(NEEDS_MOUNTS) and not can_mount():
        pytest.skip("mounts of a process of its own need root")
    filled = [word.format(**places) for word in met.split()]
    variables = dict(word.split("=", 1) for word in filled if word.split("=")[0].isupper())
    locked = [Path(word.split("=")[1]) for word in filled if word.startswith("locked=")]
    rest = [word for word in filled if word.split("=")[0] not in (*variables, "locked")]
    arguments = [word.replace("·", " ").format(**places) for word in command.split()]
    before = committed(places["warehouse"])
    for path in locked:
        path.chmod(0)
    done = decaf(*arguments, SURROUNDINGS=" ".join(rest), **variables)
    for path in locked:
        path.chmod(0o755)
    if code:
        refused(done, words.format(**places), code=code)
    else:
        assert words in succeeded(done)
        assert "Traceback" not in done.stderr
    assert committed(places["warehouse"]) == before
    assert not list(places["warehouse"].rglob("*.tmp"))


@pytest.mark.slow
def test_a_run_beside_a_file_in_the_place_of_prefects_folder(places, decaf):
    assert "Study try" in succeeded(
        decaf("run", places["elsewhere"], PREFECT_HOME=str(places["config"]))
    )


@pytest.mark.slow
def test_too_few_open_files_for_workers(places, decaf, prefect_server):
    """Dask would wait for ever."""
    done = decaf("run", places["elsewhere"], SURROUNDINGS="open_files=50", **prefect_server)
    refused(done, "50", "60")


def uploads(server):
    """How many uploads in parts have begun and not ended."""
    with urlopen(f"http://127.0.0.1:{server.port}/{BUCKET}?uploads", timeout=10) as listing:
        return listing.read().count(b"<UploadId>")


def test_a_store_that_goes_away_between_two_parts_of_a_put(s3, tmp_path, monkeypatch):
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path / "cache"))
    content = os.urandom(40 << 20)
    with Gate(s3.port) as gate:
        store = storage.open(s3.url("parts", port=gate.port))

        def close():
            while not uploads(s3):
                time.sleep(0.005)
            gate.close()

        closing_gate = threading.Thread(target=close)
        closing_gate.start()
        with pytest.raises(OutOfReach):
            store.put("tables/x.parquet", content)
        closing_gate.join()
        direct = storage.open(s3.url("parts"))
        assert direct.entries("tables", ("",)) == []
        gate.open()
        store.put("tables/x.parquet", content)
        assert direct.read("tables/x.parquet") == content
