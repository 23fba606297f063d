"""Writers that are killed at every step, and folders that are not as they should be."""

import multiprocessing
import shutil
from pathlib import Path

import pytest
from faults import every_step
from small_warehouse import PAIRS, commit_block, renamed
from warehouse_answers import failed_checks, queried_counts, row_counts

from decaf.errors import WarehouseError, WriteFailed
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.stored import read_file, read_unit
from warehouse.commits.writer import commit, open_root, remove_temporary_files
from warehouse.query.catalog import connect
from warehouse.storage import local
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import GRACE, delete_garbage, find_garbage

TABLES_OF_A_SCAN = ("trajectories", "predictions", "costs")
KEYS = {"study": "s", "model_id": "m"}


def counts(store):
    return row_counts(store, *TABLES_OF_A_SCAN, "profiles")


def queried(store):
    """The same count in SQL."""
    return queried_counts(store, *TABLES_OF_A_SCAN, "profiles")


def one_more(store):
    """Rows of one more unit, of the three tables that scanning a block fills."""
    files = receipts.read_one(store, "units", "s", "m-scores").files
    return {file.table: renamed(read_file(store, file), "late") for file in files}


@pytest.mark.slow
def test_a_commit_killed_at_any_step_is_there_whole_or_not_at_all(copies, small, monkeypatch):
    tables, old = one_more(storage.open(small)), (6, 12, 2, 6)
    new = (9, 18, 3, 6)

    def act(store):
        commit(store, "units", "s", "late", tables, model_id="m", units=("late",))

    names = set()
    for store, step in every_step(monkeypatch, copies(small), act):
        is_committed = "late" in receipts.keys(store, "units", "s")
        assert counts(store) == (new if is_committed else old), step
        if (step, is_committed) not in names:
            assert queried(store) == (new if is_committed else old), step
        remove_temporary_files(store, "s")
        act(store)
        assert counts(store) == new, step
        assert not list(store.folder.rglob("*.tmp")), step
        if (step, is_committed) not in names:
            assert failed_checks(store) == [], step
        names.add((step, is_committed))
        shutil.rmtree(store.folder)
    assert {step for step, _ in names} >= {"within write_to", "before replace", "after fsync"}
    assert ("after replace", True) in names
    assert ("within write_to", False) in names
    assert ("within write_to", True) not in names


@pytest.mark.slow
def test_a_compaction_killed_at_any_step_changes_no_row(store, copies, monkeypatch):
    commit_block(store, "s", "m", 0.3)
    states = set()
    for store, step in every_step(
        monkeypatch, copies(store.folder), lambda store: compact(store, "s")
    ):
        assert counts(store) == (6, 12, 2, 9), step
        state = len(receipts.keys(store, "compactions", "s"))
        if state not in states:
            assert queried(store) == (6, 12, 2, 9), step
            assert failed_checks(store) == [], step
        states.add(state)
        compact(store, "s")
        assert counts(store) == (6, 12, 2, 9), step
        assert len(receipts.keys(store, "compactions", "s")) == 1
        assert not list(store.folder.rglob("*.tmp")), step
        shutil.rmtree(store.folder)
    assert states == {0, 1}


def test_garbage_collection_killed_at_any_step_loses_no_row(store, copies, monkeypatch):
    for epsilon in (0.3, 0.5):
        commit_block(store, "s", "m", epsilon)
        compact(store, "s")
    prepare, steps = copies(store.folder), 0
    for store, step in every_step(
        monkeypatch, prepare, lambda store: delete_garbage(store, 0 * GRACE)
    ):
        assert counts(store) == (6, 12, 2, 12), step
        delete_garbage(store, 0 * GRACE)
        assert counts(store) == (6, 12, 2, 12), step
        shutil.rmtree(store.folder)
        steps += 1
    assert steps > 10
    store = prepare("last")
    delete_garbage(store, 0 * GRACE)
    assert failed_checks(store) == []
    assert find_garbage(store, 0 * GRACE) == []


def _commit_study(store, study, number):
    for key in range(number):
        commit(store, "units", study, f"key-{key}", one_more(store), model_id="m")


def in_processes(*calls):
    """Run calls at once, each in a process of its own, and wait for all of them."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=function, args=arguments) for function, *arguments in calls]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


def test_processes_commit_at_once(store):
    """Two of them make the same commits, the third those of another study."""
    studies = ("s", "s", "t")
    in_processes(*((_commit_study, store, study, 10) for study in studies))
    for study in studies:
        assert receipts.keys(store, "units", study) >= {f"key-{key}" for key in range(10)}
    assert counts(store)[0] == 6 + 3 * 10 * len(set(studies))
    assert "check_rows_match_receipts" not in failed_checks(store)


def _read_until(store, stop, reads, found):
    seen = set()
    while not stop.is_set():
        seen.add(queried(store))
        reads.release()
    found.put(seen)


def test_a_reader_sees_the_same_rows_at_every_moment_of_a_compaction(store):
    commit_block(store, "s", "m", 0.3)
    context = multiprocessing.get_context("spawn")
    stop, reads, found = context.Event(), context.Semaphore(0), context.Queue()
    reader = context.Process(target=_read_until, args=(store, stop, reads, found))
    reader.start()
    # Folds and gives up what it folded, over and over, until the reader has looked ten times.
    seen = 0
    while seen < 10 and reader.is_alive():
        compact(store, "s")
        for key in receipts.keys(store, "compactions", "s"):
            (store.folder / layout.receipt("compactions", "s", key)).unlink()
        seen += reads.acquire(block=False)
    stop.set()
    assert found.get(timeout=60) == {(6, 12, 2, 9)}
    reader.join()


def test_data_without_a_receipt_and_foreign_files_are_passed_over(store):
    file = store.folder / layout.table_file("trajectories", KEYS, "m-scores")
    shutil.copy(file, file.with_name("stray.parquet"))
    file.with_name("half.parquet").write_bytes(b"PAR1")
    file.with_name("notes.txt").write_text("mine")
    (store.folder / "receipts" / "units" / "s" / "notes.txt").write_text("mine")
    (store.folder / "tables" / "foreign").mkdir()
    assert queried(store) == (6, 12, 2, 6)
    assert failed_checks(store) == []
    compact(store, "s")
    delete_garbage(store, 0 * GRACE)
    assert file.with_name("notes.txt").exists()


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_receipt_without_its_data_is_said_and_costs_nothing_else(store, damage):
    path = store.folder / layout.table_file("trajectories", KEYS, "m-scores")
    content = path.read_bytes()
    path.unlink() if damage == "missing" else path.write_bytes(content[:-9])
    assert queried(store) == (3, 12, 2, 6)
    with connect(store) as connection:
        lost = connection.sql("SELECT path FROM receipt_files WHERE NOT is_readable").fetchall()
    assert lost == [(path.relative_to(store.folder).as_posix(),)]
    assert "check_rows_match_receipts" in failed_checks(store)
    with pytest.raises(WarehouseError, match=r"m-scores.parquet is missing or damaged"):
        read_unit(store, "s", "m-scores", "m-blend", "trajectories")


def test_a_warehouse_that_was_moved_meanwhile_is_not_begun_again(store):
    tables = one_more(store)
    store.folder.rename(store.folder.with_name("moved"))
    with pytest.raises(WriteFailed, match="the folder of the warehouse no longer exists"):
        commit(store, "units", "s", "late", tables, model_id="m", units=("late",))
    assert not store.folder.exists()


@pytest.mark.parametrize("writer", ["commit", "compact", "open"])
def test_a_folder_that_turned_read_only_is_said_and_read_on(store, monkeypatch, writer):
    tables = one_more(store)
    commit_block(store, "s", "m", 0.3)

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(local, "write_to", refuse)
        patch.setattr(Path, "write_text", refuse)
        if writer == "open":
            with pytest.raises(WarehouseError, match="cannot be written: Read-only file system"):
                open_root(store.folder)
        elif writer == "commit":
            with pytest.raises(WriteFailed, match="Read-only file system"):
                commit(store, "units", "s", "late", tables, model_id="m", units=("late",))
        else:
            with pytest.raises(WriteFailed, match="compactions/s/.*Read-only file system"):
                compact(store, "s")
        assert counts(store) == (len(PAIRS) * 2, 12, 2, 9)
