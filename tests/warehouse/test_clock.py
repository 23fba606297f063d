"""Clocks that are set back or ahead between two commits, or between a commit and a look at it."""

import os
from datetime import UTC, datetime, timedelta

import pytest
from old_runs_warehouse import add_run, three_runs
from small_warehouse import PAIRS, commit_profiles, commit_run, small_warehouse
from warehouse_answers import failed_checks, queried_counts, query_rows

from warehouse.commits import receipts, writer
from warehouse.commits.current import resolve
from warehouse.commits.writer import commit, next_moment
from warehouse.upkeep import garbage
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import GRACE, find_garbage
from warehouse.upkeep.retention import Keep, withdraw

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def clock(monkeypatch):
    """Set the clock of everything that commits or collects: clock(moment)."""

    def set_to(moment):
        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return moment

        for module in (writer, garbage):
            monkeypatch.setattr(module, "datetime", Clock)

    return set_to


@pytest.fixture
def store(tmp_path, clock):
    clock(NOON)
    return small_warehouse(tmp_path / "warehouse")


def moments(store, kind):
    return {
        r.key: datetime.fromisoformat(r.committed_at) for r in receipts.read_kind(store, kind, "s")
    }


@pytest.mark.parametrize("back", [HOUR, 365 * DAY])
def test_the_next_commit_of_a_kind_is_the_newest(store, clock, back):
    assert next_moment(store, "runs", "s") == NOON + timedelta(microseconds=1)
    clock(NOON - back)
    assert next_moment(store, "runs", "s") == NOON + timedelta(microseconds=1)
    # Of a kind that is not there yet nothing is newer than now.
    assert next_moment(store, "reaudits", "s") == NOON - back
    commit(store, "runs", "s", "second", {}, at=next_moment(store, "runs", "s"))
    commit(store, "runs", "s", "third", {}, at=next_moment(store, "runs", "s"))
    found = moments(store, "runs")
    assert sorted(found, key=found.get) == ["r", "second", "third"]
    clock(NOON + HOUR)
    assert next_moment(store, "runs", "s") == NOON + HOUR


@pytest.mark.parametrize("shift", [-DAY, DAY])
def test_a_compaction_holds_whatever_the_clock_says(store, clock, shift):
    clock(NOON + shift)
    compact(store, "s")
    commit_profiles(store, "s", "m", 0.3)
    clock(NOON)
    compact(store, "s")
    clock(NOON + 2 * shift)
    commit_profiles(store, "s", "m", 0.5)
    compact(store, "s")
    current = resolve(list(receipts.read(store)))
    assert sorted(len(r.inputs) for r in current.read if r.kind == "compactions") == [4]
    assert queried_counts(store, "profiles") == (4 * len(PAIRS),)
    assert failed_checks(store) == []


def test_the_grace_period_starts_no_sooner_than_what_was_folded(store, clock):
    commit_profiles(store, "s", "m", 0.3)
    # A clock that lost its time, and found it again.
    clock(datetime(1970, 1, 1, tzinfo=UTC))
    compact(store, "s")
    clock(NOON + GRACE - HOUR)
    assert find_garbage(store) == []
    clock(NOON + GRACE + HOUR)
    assert {one.reason.split(" as ")[0] for one in find_garbage(store)} == {"compacted"}


def test_the_grace_period_starts_no_sooner_than_what_was_withdrawn(tmp_path, clock):
    clock(NOON)
    store = three_runs(tmp_path / "warehouse")
    for path in store.folder.rglob("*.parquet"):
        os.utime(path, (0, 0))
    clock(datetime(1970, 1, 1, tzinfo=UTC))
    withdraw(store, Keep(1))
    clock(NOON + GRACE - HOUR)
    assert find_garbage(store) == []
    clock(NOON + GRACE + HOUR)
    assert len(find_garbage(store)) > 20


def test_nothing_is_collected_for_a_clock_that_is_behind(store, clock):
    folder = store.folder / "tables" / "trajectories"
    stray = next(folder.rglob("*.parquet")).with_name("stray.parquet")
    stray.write_bytes(b"")
    written = datetime.fromtimestamp(stray.stat().st_mtime, UTC)
    clock(written - DAY)
    assert find_garbage(store, HOUR) == []
    clock(written + HOUR + HOUR)
    assert [store.folder / one.path for one in find_garbage(store, HOUR)] == [stray]


def test_a_run_with_a_future_start_is_the_current_one_and_stays(tmp_path, clock):
    """Whoever kept the old order by mistake keeps it: the view and retention agree."""
    clock(NOON)
    store = three_runs(tmp_path / "warehouse", run_ids=["r1"])
    add_run(store, "s", "ahead", ("a", "b"), 0.02, 31)
    commit_run(store, "s", "behind", ("a", "b"), 0.02, 2)
    withdraw(store, Keep(1))
    assert query_rows(store, "SELECT run_id FROM core_current_runs") == [{"run_id": "ahead"}]
    assert receipts.keys(store, "runs", "s") == {"ahead"}
