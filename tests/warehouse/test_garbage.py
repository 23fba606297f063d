import os
import shutil
from datetime import timedelta

import pytest
from small_warehouse import commit_block, renamed
from warehouse_answers import failed_checks, query_rows

from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.lock import study_lock
from warehouse.commits.stored import read_unit
from warehouse.commits.writer import commit
from warehouse.query.catalog import connect, run_query
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import UNUSED, delete_garbage, find_garbage

NOW = timedelta(0)
KEYS = {"study": "s", "model_id": "m"}


@pytest.fixture(scope="module")
def small(small, tmp_path_factory):
    root = shutil.copytree(small, tmp_path_factory.mktemp("small") / "warehouse")
    store = storage.open(root)
    commit_block(store, "s", "m", 0.3)
    return root


def state(store):
    assert failed_checks(store) == []
    return query_rows(store, "FROM core_profiles ORDER BY ALL")


def by_reason(found):
    return {garbage.path: garbage.reason for garbage in found}


def test_a_clean_warehouse_has_nothing_to_delete(store):
    assert find_garbage(store, NOW) == []


def test_what_stopped_writers_left_goes_after_the_grace_period(store):
    trajectories = store.folder / layout.table_file("trajectories", KEYS, "stray")
    left = {
        trajectories: "no receipt names it",
        trajectories.with_name("x.parquet.7.tmp"): "left by a writer that was stopped",
        store.folder / "receipts/units/s/x.json.7.tmp": "left by a writer that was stopped",
    }
    for path in left:
        path.write_bytes(b"12345")
    foreign = trajectories.with_name("notes.txt")
    foreign.write_text("mine")
    assert find_garbage(store) == []
    for path in left:
        os.utime(path, (0, 0))
    found = find_garbage(store)
    assert by_reason(found) == {str(path.relative_to(store.folder)): left[path] for path in left}
    assert {garbage.byte_count for garbage in found} == {5}
    assert all(path.exists() for path in left)
    before = state(store)
    assert delete_garbage(store) == found
    assert not any(path.exists() for path in left)
    assert foreign.exists()
    assert state(store) == before


def test_files_of_a_deleted_receipt_go_after_the_grace_period(store):
    commit = receipts.read_one(store, "units", "s", "m-scores")
    (store.folder / layout.receipt("units", "s", "m-scores")).unlink()
    assert find_garbage(store) == []
    stray = dict.fromkeys((file.path for file in commit.files), "no receipt names it")
    assert by_reason(find_garbage(store, NOW)) == stray


def test_compacted_files_go_after_the_grace_period(store):
    before = state(store)
    commits = receipts.read_kind(store, "units", "s")
    folded = [file.path for r in commits if r.model_id == "m" for file in r.files]
    compact(store, "s")
    assert find_garbage(store) == []
    found = find_garbage(store, NOW)
    assert {garbage.path for garbage in found} == set(folded)
    assert {garbage.reason.split(" as ")[0] for garbage in found} == {"compacted"}
    with connect(store) as earlier:
        assert state(store) == before
        delete_garbage(store, NOW)
        assert state(store) == before
        assert run_query(earlier, "FROM core_profiles").num_rows == len(before)
    assert find_garbage(store, NOW) == []
    assert receipts.keys(store, "units", "s") >= {"m-at-0.02", "m-at-0.3"}


def test_a_replaced_compaction_goes_with_its_receipt(store):
    compact(store, "s")
    delete_garbage(store, NOW)
    (first,) = receipts.read_kind(store, "compactions", "s")
    commit_profiles(store)
    compact(store, "s")
    before = state(store)
    reasons = by_reason(find_garbage(store, NOW))
    assert reasons[f"receipts/compactions/s/{first.key}.json"] == UNUSED
    delete_garbage(store, NOW)
    assert first.key not in receipts.keys(store, "compactions", "s")
    assert len(receipts.keys(store, "compactions", "s")) == 1
    assert state(store) == before
    assert find_garbage(store, NOW) == []


def commit_profiles(store):
    """Commit the model's profiles under one more key; its scores stay as they are."""
    rows = renamed(read_unit(store, "s", "m-at-0.3", "m-blend-at-0.3", "profiles"), "more")
    commit(store, "units", "s", "m-more", {"profiles": rows}, model_id="m", units=("more",))


def test_nothing_goes_for_a_compaction_that_is_damaged(store):
    compact(store, "s")
    (compaction,) = receipts.read_kind(store, "compactions", "s")
    path = store.folder / compaction.files[0].path
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)
    assert find_garbage(store, NOW) == []


def test_a_compaction_that_alone_holds_rows_stays(store):
    compact(store, "s")
    delete_garbage(store, NOW)
    (store.folder / layout.receipt("units", "s", "m-at-0.3")).unlink()
    assert find_garbage(store, NOW) == []
    compact(store, "s")
    state(store)
    delete_garbage(store, NOW)
    state(store)


def test_a_study_that_is_being_audited_is_left_out(store):
    stray = store.folder / layout.table_file("trajectories", KEYS, "stray")
    stray.write_bytes(b"")
    with study_lock(store, "s"):
        assert find_garbage(store, NOW) == delete_garbage(store, NOW) == []
    assert len(find_garbage(store, NOW)) == 1
