import json
import shutil

import pyarrow.parquet as pq
import pytest
import warehouse_answers
from small_warehouse import MODELS, PAIRS, commit_block, commit_profiles
from warehouse_answers import failed_checks, queried_counts, query_rows

from decaf.errors import AlreadyRunning, UnknownName, WarehouseError
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.commits.lock import study_lock
from warehouse.commits.stored import read_unit
from warehouse.query.catalog import connect
from warehouse.query.checks import run_checks
from warehouse.upkeep.compaction import Extent, compact, repair_compactions

EPSILONS = (0.02, 0.1, 0.3)


@pytest.fixture(scope="module")
def small(small, tmp_path_factory):
    """Two models; beside trajectories, predictions and costs, profiles at three thresholds."""
    root = shutil.copytree(small, tmp_path_factory.mktemp("small") / "warehouse")
    store = storage.open(root)
    for epsilon in EPSILONS[1:]:
        for number, model in enumerate(MODELS):
            commit_block(store, "s", model, epsilon, seed=number)
    return root


def answers(store):
    """Rows; where the files are is another matter."""
    return warehouse_answers.answers(store, but=["stg_files"])


@pytest.fixture(scope="module")
def before(small):
    """What is answered before anything is folded."""
    return answers(small)


def own_files(store, kind="units", of=""):
    commits = [r for r in receipts.read_kind(store, kind, "s") if r.key.endswith(of)]
    return [store.folder / file.path for receipt in commits for file in receipt.files]


def test_compaction_changes_no_answer(store, before):
    done = compact(store, "s")
    # 2 models x (3 tables + 3 profiles) + 2 of the pairs + 5 of the run + 1 outcome
    assert done.before.file_count == 20
    # 2 models x 4 tables + 8
    assert done.after.file_count == 16
    assert answers(store) == before
    assert failed_checks(store) == []


def test_small_files_are_not_read_any_more(store, before):
    compact(store, "s")
    for path in own_files(store):
        path.unlink()
    assert answers(store) == before


def test_a_second_compaction_changes_nothing(store):
    compact(store, "s")
    files = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.[jp]*")}
    done = compact(store, "s")
    assert done.before == done.after
    assert {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.[jp]*")} == files


def test_new_commits_join_an_earlier_compaction(store):
    compact(store, "s")
    commit_block(store, "s", "m", 0.5)
    profile = store.folder / layout.receipt("units", "s", "m-at-0.5")
    assert profile.exists()
    before = answers(store)
    # Its scores were committed again, so what was folded of it does not count any more.
    current = resolve(list(receipts.read(store)))
    assert [compaction.model_id for compaction in current.idle] == ["m"]
    compact(store, "s")
    assert answers(store) == before
    current = resolve(list(receipts.read(store)))
    assert sorted(r.model_id for r in current.read if r.kind == "compactions") == sorted(MODELS)


def test_a_larger_compaction_replaces_a_smaller_one_whole(store, before):
    late = store.folder / layout.receipt("units", "s", "m-at-0.3")
    hidden = late.with_name("hidden")
    late.rename(hidden)
    compact(store, "s")
    hidden.rename(late)
    for path in own_files(store, of="-scores"):
        path.unlink()
    assert answers(store) == before
    compact(store, "s")
    assert answers(store) == before
    current = resolve(list(receipts.read(store)))
    assert [len(compaction.inputs) for compaction in current.idle] == [3]
    assert current.covered["s/units/m-at-0.3"].model_id == "m"


def test_a_limit_makes_several_compactions(store, before):
    size = max(sum(f.byte_count for f in r.files) for r in receipts.read_kind(store, "units", "s"))
    compact(store, "s", merge_bytes=size // 2)
    current = resolve(list(receipts.read(store)))
    folded = [r for r in current.read if r.kind == "compactions"]
    assert {len(compaction.inputs) for compaction in folded} < {2, 3}
    assert answers(store) == before


def test_a_withdrawn_commit_takes_the_compaction_with_it_but_no_rows(store):
    compact(store, "s")
    (store.folder / layout.receipt("units", "s", "m-at-0.3")).unlink()
    assert queried_counts(store, "profiles") == ((2 * len(EPSILONS) - 1) * len(PAIRS),)
    assert failed_checks(store) == []


def test_rows_are_folded_anew_from_a_compaction_that_does_not_hold(store):
    compact(store, "s")
    for path in own_files(store, of="-scores"):
        path.unlink()
    (store.folder / layout.receipt("units", "s", "m-at-0.3")).unlink()
    assert failed_checks(store) != []
    compact(store, "s")
    assert failed_checks(store) == []


@pytest.mark.parametrize("is_made_again", [False, True])
def test_what_only_an_unused_compaction_holds_is_mended(store, is_made_again):
    def profiles():
        return query_rows(store, "FROM stg_profiles ORDER BY ALL"), failed_checks(store)

    every_row, _ = profiles()
    left = [row for row in every_row if is_made_again or row["unit_key"] != "m-blend-at-0.3"]
    compact(store, "s")
    for path in own_files(store):
        path.unlink()
    (store.folder / layout.receipt("units", "s", "m-at-0.3")).unlink()
    if is_made_again:
        commit_profiles(store, "s", "m", 0.3, seed=MODELS.index("m"))
    assert profiles() == (
        [row for row in left if row["model_id"] != "m" or row["unit_key"] == "m-blend-at-0.3"],
        ["check_rows_match_receipts", "check_units_complete"],
    )
    assert repair_compactions(store, "s") == 1
    (new,) = (r for r in resolve(list(receipts.read(store))).read if r.model_id == "m" and r.inputs)
    assert new.inputs.keys() == {"units/m-scores", "units/m-at-0.02", "units/m-at-0.1"}
    assert profiles() == (left, [])
    assert repair_compactions(store, "s") == 0
    compact(store, "s")
    assert profiles() == (left, [])


def test_a_unit_is_read_from_wherever_its_rows_are(store):
    def rows(commit, unit, table):
        return sorted(read_unit(store, "s", commit, unit, table).to_pylist(), key=repr)

    places = [
        ("m-scores", "m-blend", "trajectories"),
        ("m-scores", "m-clean", "predictions"),
        ("m-at-0.3", "m-blend-at-0.3", "profiles"),
    ]
    before = [rows(*place) for place in places]
    compact(store, "s")
    for path in own_files(store):
        path.unlink()
    assert [rows(*place) for place in places] == before
    assert read_unit(store, "s", "m-scores", "m-blend", "quarantine") is None
    assert read_unit(store, "s", "m-scores", "m-clean", "trajectories") is None
    for path in own_files(store, "compactions"):
        path.unlink()
    with pytest.raises(WarehouseError, match=r"no compaction holds its 3 rows; decaf check"):
        rows(*places[0])


def test_a_damaged_compaction_is_named_and_can_be_given_up(store, before):
    compact(store, "s")
    damaged = next(receipts.read_kind(store, "compactions", "s"))
    path = store.folder / damaged.files[0].path
    path.write_bytes(path.read_bytes()[:-20])
    check = "check_rows_match_receipts"
    with connect(store, threads=1) as connection:
        (example,) = next(r.examples for r in run_checks(connection) if r.name == check)
    advice = f"decaf check --repair withdraws compactions/{damaged.key}"
    assert (example.found, advice in example.expected) == ("missing or damaged", True)
    (store.folder / layout.receipt("compactions", "s", damaged.key)).unlink()
    assert answers(store) == before


def test_rows_missing_from_a_small_file_stop_the_compaction(store):
    path = store.folder / layout.table_file("costs", {"study": "s", "model_id": "m"}, "m-scores")
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(
        WarehouseError, match=r"costs.*m-scores.parquet is not the file that was committed"
    ):
        compact(store, "s")


def test_a_running_study_is_not_compacted(store):
    with study_lock(store, "s"), pytest.raises(AlreadyRunning):
        compact(store, "s")
    assert receipts.keys(store, "compactions", "s") == set()


def test_an_unknown_study_is_named(store):
    with pytest.raises(UnknownName, match="unknown study 'x'.*known: s"):
        compact(store, "x")
    assert not (store.folder / layout.lock("x")).exists()


def test_a_compaction_names_commits_with_their_moments(store):
    compact(store, "s")
    (receipt,) = (r for r in receipts.read_kind(store, "compactions", "s") if r.model_id == "m")
    moments = {
        f"{r.kind}/{r.key}": r.committed_at
        for r in receipts.read_kind(store, "units", "s")
        if r.model_id == "m"
    }
    assert receipt.inputs == moments
    text = (store.folder / layout.receipt("compactions", "s", receipt.key)).read_text()
    assert json.loads(text)["inputs"] == moments
    assert isinstance(compact(store, "s").after, Extent)
