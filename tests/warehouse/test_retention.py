"""Old runs are withdrawn: what stays, what goes, and what readers see meanwhile."""

import shutil
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from faults import every_change
from hypothesis import given, settings
from hypothesis import strategies as st
from old_runs_warehouse import add_model, add_reaudit, add_run, three_runs
from planned_units import STARTED, commit_rows
from small_warehouse import PAIRS
from warehouse_answers import failed_checks, query_rows, rows_by_table, rows_of

from decaf.errors import UnknownName, WarehouseError
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.commits.lock import study_lock
from warehouse.commits.stored import read_unit
from warehouse.query.catalog import connect, run_query
from warehouse.query.views import sort_views
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import GRACE, delete_garbage, find_garbage
from warehouse.upkeep.retention import Keep, find_withdrawals, kept_runs, withdraw

NOW = timedelta(0)
MADE = ("scores", "at-0.02", "measured", "lime")
ONLY_OLD = {
    "units/c-at-0.02",
    *(f"units/{model}-{made}" for model in "ab" for made in MADE),
    *(f"{kind}/{run}" for kind in ("runs", "outcomes") for run in ("r1", "r2")),
    *(f"units/{run}-matched" for run in ("r1", "r2")),
}
"""What r1 and r2 name and r3 does not: it has the scores of c, at another epsilon."""


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return three_runs(tmp_path_factory.mktemp("three") / "warehouse")


@pytest.fixture(scope="module")
def folded(three, tmp_path_factory):
    """The same without small files of c, which two runs share."""
    store = storage.open(shutil.copytree(three.folder, tmp_path_factory.mktemp("folded") / "one"))
    compact(store, "s")
    # Of c scores in 3 files, 2 profiles and 2 beside; of all models 3 matched pairs.
    assert len(delete_garbage(store, NOW)) == 10
    return store


@pytest.fixture(params=["three", "folded"])
def store(request, tmp_path):
    folder = request.getfixturevalue(request.param).folder
    return storage.open(shutil.copytree(folder, tmp_path / "warehouse"))


def names(store):
    return {r.name for r in receipts.read(store) if r.kind not in ("compactions", "withdrawals")}


def answers(store):
    """Rows of all tables and of the views that others build on, but for where they are."""
    names = [view.name for view in sort_views() if view.kind == "stg" and view.name != "stg_files"]
    names += ["core_run_profiles", "core_entry_versions", "out_runs", "out_progress"]
    return rows_of(store, names)


@pytest.fixture(scope="module")
def answers_of_last_run(tmp_path_factory):
    """What a warehouse answers that has had no run but the last."""
    return answers(three_runs(tmp_path_factory.mktemp("alone") / "warehouse", run_ids=["r3"]))


def test_what_only_old_runs_name_goes_and_nothing_else(store, answers_of_last_run):
    before, files = names(store), store.entries("", ("",))
    (found,) = find_withdrawals(store, Keep(1))
    assert store.entries("", ("",)) == files
    assert (found.study, found.run_count, found.unit_count) == ("s", 3, 13)
    # Both name the units of b, and r3 names those of c but for its profiles.
    assert [(run.run_id, run.started_at.day, run.unit_count) for run in found.runs] == [
        ("r1", 1, 11),
        ("r2", 2, 7),
    ]
    assert {receipt.name for receipt in found.commits} == ONLY_OLD
    own = [r for r in receipts.read(store) if r.name in ONLY_OLD]
    assert found.byte_count == sum(file.byte_count for r in own for file in r.files)
    assert withdraw(store, Keep(1)) == [found]
    assert names(store) == before - ONLY_OLD
    # As if there had never been another run.
    assert answers(store) == answers_of_last_run
    assert find_withdrawals(store, Keep(1)) == withdraw(store, Keep(1)) == []
    assert find_garbage(store) == []
    delete_garbage(store, NOW)
    assert find_garbage(store, NOW) == []
    assert rows_by_table(store)["trajectories"] == 2 * len(PAIRS)
    left = {entry.key for entry in store.entries("tables", ("",))}
    assert left == {f.path for r in resolve(list(receipts.read(store))).read for f in r.files}
    assert receipts.keys(store, "withdrawals", "s") == set()
    assert failed_checks(store) == []


def test_as_many_runs_stay_as_there_are(store):
    for keep in (Keep(3), Keep(300), Keep(age=timedelta(days=9999))):
        assert find_withdrawals(store, keep) == withdraw(store, keep) == []
    (found,) = find_withdrawals(store, Keep(2))
    of_a = {f"units/a-{made}" for made in MADE}
    of_r1 = {"runs/r1", "outcomes/r1", "units/r1-matched"}
    assert {receipt.name for receipt in found.commits} == of_a | of_r1


def test_open_readers_and_the_grace_period(store):
    query = "FROM core_run_profiles ORDER BY ALL"
    with connect(store, threads=1) as reader:
        before = run_query(reader, query).to_pylist()
        assert len(before) == 6 * len(PAIRS)
        withdraw(store, Keep(1))
        delete_garbage(store)
        assert run_query(reader, query).to_pylist() == before
    assert len(query_rows(store, query)) == 2 * len(PAIRS)


def test_scores_that_are_wanted_again_are_made_again_and_stay(store):
    withdraw(store, Keep(1))
    with pytest.raises(WarehouseError, match=r"a-scores.json"):
        read_unit(store, "s", "a-scores", "a-blend", "trajectories")
    add_model(store, "s", "a", 0.02)
    assert "a-scores" in receipts.keys(store, "units", "s")
    delete_garbage(store, NOW)
    assert read_unit(store, "s", "a-scores", "a-blend", "trajectories").num_rows == len(PAIRS)
    assert find_withdrawals(store, Keep(1)) == find_garbage(store, NOW) == []


def test_a_study_that_is_audited_and_other_studies(three, tmp_path):
    store = storage.open(shutil.copytree(three.folder, tmp_path / "warehouse"))
    three_runs(store.folder, "t", ("r1", "r2"))
    with study_lock(store, "s"):
        assert [one.study for one in find_withdrawals(store, Keep(1))] == ["t"]
        assert [one.study for one in withdraw(store, Keep(1), "s")] == []
    assert [one.study for one in withdraw(store, Keep(1), "t")] == ["t"]
    assert [one.study for one in find_withdrawals(store, Keep(1))] == ["s"]
    assert find_garbage(store, NOW, "s") == []
    assert find_garbage(store, NOW) == find_garbage(store, NOW, "t") != []
    with pytest.raises(UnknownName, match="unknown study 'x'.*known: s, t"):
        withdraw(store, Keep(1), "x")


def test_pairs_of_a_kept_run_stay(tmp_path):
    store = three_runs(tmp_path / "warehouse", run_ids=["r1"])
    add_run(store, "s", "later", ("a", "b"), 0.02, 5, digest="others")
    (found,) = find_withdrawals(store, Keep(1))
    of_r1 = {"runs/r1", "outcomes/r1", "units/r1-matched", "pairs/pairs"}
    assert {receipt.name for receipt in found.commits} == of_r1


def test_trials_stay_with_the_units_that_they_are_about(tmp_path):
    store = three_runs(tmp_path / "warehouse", run_ids=["r1", "r3"])
    for trial_id, model in (("old", "a"), ("shown", "d")):
        row = {"trial_id": trial_id, "model_id": model, "tried_at": STARTED, "remarks": ["first"]}
        rows = {"model_trials": [row | {"unit_keys": [f"{model}-clean"]}]}
        commit_rows(store, "trials", "s", trial_id, rows)
    withdraw(store, Keep(1))
    assert receipts.keys(store, "trials", "s") == {"shown"}


def test_the_newest_finished_run_stays_when_later_ones_were_stopped(tmp_path):
    store = three_runs(tmp_path / "warehouse", run_ids=["r1", "r2"])
    for day, run_id in ((4, "r4"), (5, "r5")):
        add_run(store, "s", run_id, ("c", "d"), 0.1, day, is_finished=False)
    (found,) = find_withdrawals(store, Keep(1))
    assert [run.run_id for run in found.runs] == ["r1", "r4"]


def test_what_re_audits_compare_stays(three, tmp_path):
    store = storage.open(shutil.copytree(three.folder, tmp_path / "warehouse"))
    # old was last audited at the first re-audit; since then it cannot be loaded.
    add_reaudit(store, "s", "first", "r1", 1, {"net": ("a", None), "old": ("b", None)})
    add_reaudit(store, "s", "second", "r2", 2, {"net": ("b", "first"), "old": (None, "first")})
    add_reaudit(store, "s", "third", "r3", 3, {"net": ("c", "second"), "old": (None, "first")})
    assert find_withdrawals(store, Keep(1)) == []
    # Without it only the re-audit before is needed.
    add_reaudit(store, "s", "third", "r3", 3, {"net": ("c", "second")})
    columns = "entry, version, run_id, run_before, model_before, reason"
    query = f"SELECT {columns} FROM core_entry_versions WHERE is_newest"
    before = query_rows(store, query)
    (found,) = withdraw(store, Keep(1))
    assert [run.run_id for run in found.runs] == ["r1"]
    gone = {f"{kind}/first" for kind in ("reaudits", "verdicts", "alerts")}
    assert {r.name for r in found.commits if r.name.endswith("/first")} == gone
    assert query_rows(store, query) == before
    versions = "SELECT DISTINCT reaudit_id, run_before FROM core_entry_versions ORDER BY ALL"
    assert query_rows(store, versions) == [
        {"reaudit_id": "second", "run_before": None},
        {"reaudit_id": "third", "run_before": "r2"},
    ]
    assert failed_checks(store) == []
    assert withdraw(store, Keep(1)) == []


def test_what_the_version_that_is_there_was_compared_with_stays(three, tmp_path):
    store = storage.open(shutil.copytree(three.folder, tmp_path / "warehouse"))
    add_reaudit(store, "s", "first", "r1", 1, {"net": ("a", None)})
    add_reaudit(store, "s", "second", "r2", 2, {"net": ("b", "first")})
    add_reaudit(store, "s", "third", "r3", 3, {"net": ("b", "second")}, judged_by="second")
    assert find_withdrawals(store, Keep(1)) == []


def test_the_last_version_that_passed_stays(three, tmp_path):
    store = storage.open(shutil.copytree(three.folder, tmp_path / "warehouse"))
    # What the first re-audit found passed; the versions of the second and the third did not.
    add_reaudit(store, "s", "first", "r1", 1, {"net": ("a", None)})
    add_reaudit(store, "s", "second", "r2", 2, {"net": ("b", "first")})
    add_reaudit(store, "s", "third", "r3", 3, {"net": ("c", "second", "first")})
    assert find_withdrawals(store, Keep(1)) == []
    add_run(store, "s", "r4", ("c", "d"), 0.1, 4)
    add_reaudit(store, "s", "fourth", "r4", 4, {"net": ("d", "third", "first")})
    (found,) = withdraw(store, Keep(1))
    assert [run.run_id for run in found.runs] == ["r2"]
    query = "SELECT against, run_before FROM core_entry_versions WHERE is_newest ORDER BY ALL"
    assert [tuple(row.values()) for row in query_rows(store, query)] == [
        ("last_passed", "r1"),
        ("previous", "r4"),
    ]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two runs that share the scores of c, of which only a compaction has the rows."""
    store = three_runs(tmp_path_factory.mktemp("two") / "warehouse", run_ids=["r2", "r3"])
    compact(store, "s")
    delete_garbage(store, NOW)
    return store


@pytest.mark.slow
def test_a_withdrawal_killed_at_any_step_is_done_or_not(two, copies, monkeypatch):
    whole, seen, steps = rows_by_table(two), set(), 0
    left = {"trajectories": 2 * len(PAIRS), "profiles": 2 * len(PAIRS), "runs": 1, "run_units": 11}
    prepare = copies(two.folder)
    for store, step in every_change(monkeypatch, prepare, lambda store: withdraw(store, Keep(1))):
        is_gone = bool(receipts.keys(store, "withdrawals", "s"))
        found = rows_by_table(store)
        assert found == whole or is_gone, step
        assert found | left == found or not is_gone, step
        assert (names(store) & ONLY_OLD == set()) == is_gone, step
        assert receipts.exists(store, "units", "s", "b-scores") != is_gone, step
        assert ("b-scores" in receipts.keys(store, "units", "s")) != is_gone, step
        assert len(list(receipts.read_kind(store, "runs", "s"))) == (1 if is_gone else 2), step
        if (step, is_gone) not in seen:
            assert failed_checks(store) == [], step
            withdraw(store, Keep(1))
            delete_garbage(store)
            assert receipts.read_withdrawn(store, "s") == [], step
            assert rows_by_table(store) | left == rows_by_table(store), step
            assert failed_checks(store) == [], step
        seen.add((step, is_gone))
        steps += 1
        shutil.rmtree(store.folder)
    # 6 tables of c, the matched pairs, a receipt of each, what goes, and 8 receipts.
    assert (seen, steps) == ({("replace", False), ("delete", True)}, 18)


def test_collection_after_a_withdrawal_killed_at_any_step_loses_no_row(two, copies, monkeypatch):
    before = copies(two.folder)("before")
    withdraw(before, Keep(1))
    kept = rows_by_table(before)

    def act(store):
        delete_garbage(store, NOW)

    for store, step in every_change(monkeypatch, copies(before.folder), act):
        assert rows_by_table(store) == kept, step
        assert names(store) & ONLY_OLD == set(), step
        shutil.rmtree(store.folder)
    delete_garbage(before, NOW)
    assert find_garbage(before, NOW) == []
    assert rows_by_table(before) == kept


@pytest.mark.usefixtures("no_copies")
def test_on_an_object_store(answers_of_last_run):
    store = three_runs(f"memory://{uuid4().hex}/warehouse")
    compact(store, "s")
    delete_garbage(store, -GRACE)
    withdraw(store, Keep(1))
    assert names(store) & ONLY_OLD == set()
    assert failed_checks(store) == []
    delete_garbage(store, -GRACE)
    assert find_garbage(store, -GRACE) == []
    assert rows_by_table(store)["trajectories"] == 2 * len(PAIRS)
    assert answers(store) == answers_of_last_run


def test_rows_that_a_compaction_lacks_stop_the_withdrawal(folded, tmp_path):
    store = storage.open(shutil.copytree(folded.folder, tmp_path / "warehouse"))
    before = names(store)
    (compaction,) = (r for r in receipts.read_kind(store, "compactions", "s") if r.model_id == "c")
    (store.folder / compaction.files[0].path).unlink()
    with pytest.raises(WarehouseError, match=compaction.files[0].path):
        withdraw(store, Keep(1))
    assert names(store) == before


@pytest.mark.parametrize("table", ["runs", "run_units", "run_outcomes"])
@pytest.mark.parametrize("damage", ["missing", "another byte"])
def test_nothing_goes_while_a_manifest_is_damaged(two, tmp_path, table, damage):
    store = storage.open(shutil.copytree(two.folder, tmp_path / "warehouse"))
    path = store.folder / layout.table_file(table, {"study": "s"}, "r3")
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.unlink() if damage == "missing" else path.write_bytes(content)
    before = names(store)
    for act in (find_withdrawals, withdraw):
        with pytest.raises(
            WarehouseError, match=r"(runs|outcomes)/r3 of study s are missing or dam"
        ):
            act(store, Keep(1))
    assert names(store) == before


DAYS = st.integers(0, 60)
AT = datetime(2026, 3, 1, tzinfo=UTC)


@st.composite
def histories(draw):
    """Runs, the newest first, and re-audits that name some of them and an earlier re-audit."""
    count = draw(st.integers(1, 8))
    starts = sorted((AT + timedelta(days=draw(DAYS)) for _ in range(count)), reverse=True)
    runs = [
        {"run_id": f"r{n}", "started_at": at, "finished_at": at if draw(st.booleans()) else None}
        for n, at in enumerate(starts)
    ]
    reaudits = []
    for n in range(draw(st.integers(0, 6))):
        before = draw(st.sampled_from([None, *(row["reaudit_id"] for row in reaudits)]))
        run_id = draw(st.sampled_from([None, *(run["run_id"] for run in runs)]))
        row = {"reaudit_id": f"a{n}", "run_id": run_id, "needed_reaudit_id": before}
        reaudits.insert(0, row | {"resolved_at": AT + timedelta(days=n)})
    return runs, reaudits


@settings(max_examples=300)
@given(histories(), st.integers(1, 9), DAYS)
def test_runs_that_stay(history, count, days):
    runs, reaudits = history
    now = AT + timedelta(days=60)
    kept = kept_runs(runs, reaudits, Keep(count), now)
    young = kept_runs(runs, reaudits, Keep(age=timedelta(days=days)), now)
    both = kept_runs(runs, reaudits, Keep(count, timedelta(days=days)), now)
    assert kept | young <= both
    assert kept_runs(runs, reaudits, Keep(count + 1), now) >= kept
    assert {run["run_id"] for run in runs[:count]} <= kept
    assert {r["run_id"] for r in runs if (now - r["started_at"]).days <= days} <= young
    assert runs[0]["run_id"] in kept & young
    assert {r["run_id"] for r in runs if r["finished_at"]} == set() or any(
        r["finished_at"] for r in runs if r["run_id"] in kept
    )
    # What the newest re-audit found, and what it was compared with.
    of = {row["reaudit_id"]: row["run_id"] for row in reaudits}
    for row in reaudits[:1]:
        assert {row["run_id"], of.get(row["needed_reaudit_id"])} - {None} <= kept
    # What is left says the same: a second withdrawal finds nothing.
    left = [run for run in runs if run["run_id"] in kept]
    told = [row for row in reaudits if row["run_id"] in kept | {None}]
    assert kept_runs(left, told, Keep(count), now) == kept


@pytest.mark.slow
@settings(max_examples=4)
@given(
    plan=st.lists(st.sets(st.sampled_from("abc"), min_size=2, max_size=2), min_size=2, max_size=4),
    keep=st.integers(1, 3),
    compacted_after=st.integers(0, 4),
    is_collected=st.booleans(),
)
def test_kept_runs_answer_as_before(tmp_path_factory, plan, keep, compacted_after, is_collected):
    runs = {
        f"r{day}": {"models": tuple(sorted(models)), "epsilon": 0.02, "day": day}
        for day, models in enumerate(plan, start=1)
    }
    folder = tmp_path_factory.mktemp("runs")
    store, alone = (three_runs(folder / name, run_ids=()) for name in ("all", "kept"))
    for number, (run_id, run) in enumerate(runs.items()):
        add_run(store, "s", run_id, **run)
        if number == compacted_after:
            compact(store, "s")
            if is_collected:
                delete_garbage(store, NOW)
    for run_id, run in list(runs.items())[-keep:]:
        add_run(alone, "s", run_id, **run)
    withdraw(store, Keep(keep))
    assert answers(store) == answers(alone)
    assert failed_checks(store) == []
    assert find_withdrawals(store, Keep(keep)) == []
    delete_garbage(store, NOW)
    assert answers(store) == answers(alone)
    assert find_garbage(store, NOW) == []
