import json
import shutil

import pyarrow.parquet as pq
import pytest
import warehouse_answers
from small_warehouse import MODELS, PAIRS, commit_block, commit_profiles
from warehouse_answers import failed_checks, queried_counts, query_rows

from decaf.errors import AlreadyRunning, UnknownName, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.commits.lock import study_lock
from warehouse.commits.stored import read_unit
from warehouse.upkeep.compaction import Extent, compact, repair_compactions

EPSILONS = (0.02, 0.1, 0.3)


@pytest.fixture(scope="module")
def small(small, tmp_path_factory):
    """Two models; beside trajectories, predictions and costs, profiles at three thresholds."""
    root = shutil.copytree(small, tmp_path_factory.mktemp("small") / "warehouse")
    for epsilon in EPSILONS[1:]:
        for number, model in enumerate(MODELS):
            commit_block(root, "s", model, epsilon, seed=number)
    return root


def answers(root):
    """Rows and failed checks; where the files are is another matter."""
    return warehouse_answers.answers(root, but=["stg_files"])


@pytest.fixture(scope="module")
def before(small):
    """What is answered before anything is folded."""
    return answers(small)


def own_files(root, kind="units", of=""):
    commits = [r for r in receipts.read_kind(root, kind, "s") if r.key.endswith(of)]
    return [root / file.path for receipt in commits for file in receipt.files]


def test_compaction_changes_no_answer(root, before):
    done = compact(root, "s")
    # 2 models x (3 tables + 3 profiles) + 2 of the pairs + 5 of the run + 1 outcome
    assert done.before.file_count == 20
    # 2 models x 4 tables + 8
    assert done.after.file_count == 16
    assert answers(root) == before
    assert before[1] == []


def test_small_files_are_not_read_any_more(root, before):
    compact(root, "s")
    for path in own_files(root):
        path.unlink()
    assert answers(root) == before


def test_a_second_compaction_changes_nothing(root):
    compact(root, "s")
    files = {path: path.stat().st_mtime_ns for path in root.rglob("*.[jp]*")}
    done = compact(root, "s")
    assert done.before == done.after
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.[jp]*")} == files


def test_new_commits_join_an_earlier_compaction(root):
    compact(root, "s")
    commit_block(root, "s", "m", 0.5)
    profile = root / layout.receipt("units", "s", "m-at-0.5")
    assert profile.exists()
    before = answers(root)
    # Its scores were committed again, so what was folded of it does not count any more.
    current = resolve(list(receipts.read(root)))
    assert [compaction.model_id for compaction in current.idle] == ["m"]
    compact(root, "s")
    assert answers(root) == before
    current = resolve(list(receipts.read(root)))
    assert sorted(r.model_id for r in current.read if r.kind == "compactions") == sorted(MODELS)


def test_a_larger_compaction_replaces_a_smaller_one_whole(root, before):
    late = root / layout.receipt("units", "s", "m-at-0.3")
    hidden = late.with_name("hidden")
    late.rename(hidden)
    compact(root, "s")
    hidden.rename(late)
    for path in own_files(root, of="-scores"):
        path.unlink()
    assert answers(root) == before
    compact(root, "s")
    assert answers(root) == before
    current = resolve(list(receipts.read(root)))
    assert [len(compaction.inputs) for compaction in current.idle] == [3]
    assert current.covered["s/units/m-at-0.3"].model_id == "m"


def test_a_limit_makes_several_compactions(root, before):
    size = max(sum(f.byte_count for f in r.files) for r in receipts.read_kind(root, "units", "s"))
    compact(root, "s", fold_bytes=size // 2)
    current = resolve(list(receipts.read(root)))
    folded = [r for r in current.read if r.kind == "compactions"]
    assert {len(compaction.inputs) for compaction in folded} < {2, 3}
    assert answers(root) == before


def test_a_withdrawn_commit_takes_the_compaction_with_it_but_no_rows(root):
    compact(root, "s")
    (root / layout.receipt("units", "s", "m-at-0.3")).unlink()
    assert queried_counts(root, "profiles") == ((2 * len(EPSILONS) - 1) * len(PAIRS),)
    assert failed_checks(root) == []


def test_rows_are_folded_anew_from_a_compaction_that_does_not_hold(root):
    compact(root, "s")
    for path in own_files(root, of="-scores"):
        path.unlink()
    (root / layout.receipt("units", "s", "m-at-0.3")).unlink()
    assert [r.name for r in answers(root)[1]] != []
    compact(root, "s")
    assert answers(root)[1] == []


@pytest.mark.parametrize("is_made_again", [False, True])
def test_what_only_an_unused_compaction_holds_is_mended(root, is_made_again):
    def profiles():
        return query_rows(root, "FROM stg_profiles ORDER BY ALL"), failed_checks(root)

    every_row, _ = profiles()
    left = [row for row in every_row if is_made_again or row["unit_key"] != "m-blend-at-0.3"]
    compact(root, "s")
    for path in own_files(root):
        path.unlink()
    (root / layout.receipt("units", "s", "m-at-0.3")).unlink()
    if is_made_again:
        commit_profiles(root, "s", "m", 0.3, seed=MODELS.index("m"))
    assert profiles() == (
        [row for row in left if row["model_id"] != "m" or row["unit_key"] == "m-blend-at-0.3"],
        ["check_rows_match_receipts", "check_units_complete"],
    )
    assert repair_compactions(root, "s") == 1
    (new,) = (r for r in resolve(list(receipts.read(root))).read if r.model_id == "m" and r.inputs)
    assert new.inputs.keys() == {"units/m-scores", "units/m-at-0.02", "units/m-at-0.1"}
    assert profiles() == (left, [])
    assert repair_compactions(root, "s") == 0
    compact(root, "s")
    assert profiles() == (left, [])


def test_a_unit_is_read_from_wherever_its_rows_are(root):
    def rows(commit, unit, table):
        return sorted(read_unit(root, "s", commit, unit, table).to_pylist(), key=repr)

    places = [
        ("m-scores", "m-blend", "trajectories"),
        ("m-scores", "m-clean", "predictions"),
        ("m-at-0.3", "m-blend-at-0.3", "profiles"),
    ]
    before = [rows(*place) for place in places]
    compact(root, "s")
    for path in own_files(root):
        path.unlink()
    assert [rows(*place) for place in places] == before
    assert read_unit(root, "s", "m-scores", "m-blend", "quarantine") is None
    assert read_unit(root, "s", "m-scores", "m-clean", "trajectories") is None
    for path in own_files(root, "compactions"):
        path.unlink()
    with pytest.raises(WarehouseError, match=r"no compaction holds its 3 rows; decaf check"):
        rows(*places[0])


def test_a_damaged_compaction_is_named_and_can_be_given_up(root, before):
    compact(root, "s")
    damaged = next(receipts.read_kind(root, "compactions", "s"))
    path = root / damaged.files[0].path
    path.write_bytes(path.read_bytes()[:-20])
    (example,) = next(r.examples for r in answers(root)[1] if r.name == "check_rows_match_receipts")
    advice = f"decaf check --repair gives up compactions/{damaged.key}"
    assert (example.found, advice in example.expected) == ("missing or damaged", True)
    (root / layout.receipt("compactions", "s", damaged.key)).unlink()
    assert answers(root) == before


def test_rows_missing_from_a_small_file_stop_the_compaction(root):
    path = root / layout.table_file("costs", {"study": "s", "model_id": "m"}, "m-scores")
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(
        WarehouseError, match=r"costs.*m-scores.parquet is not the file that was committed"
    ):
        compact(root, "s")


def test_a_running_study_is_not_compacted(root):
    with study_lock(root, "s"), pytest.raises(AlreadyRunning):
        compact(root, "s")
    assert receipts.keys(root, "compactions", "s") == set()


def test_an_unknown_study_is_named(root):
    with pytest.raises(UnknownName, match="unknown study 'x'.*known: s"):
        compact(root, "x")
    assert not (root / layout.lock("x")).exists()


def test_a_compaction_names_commits_with_their_moments(root):
    compact(root, "s")
    (receipt,) = (r for r in receipts.read_kind(root, "compactions", "s") if r.model_id == "m")
    moments = {
        f"{r.kind}/{r.key}": r.committed_at
        for r in receipts.read_kind(root, "units", "s")
        if r.model_id == "m"
    }
    assert receipt.inputs == moments
    text = (root / layout.receipt("compactions", "s", receipt.key)).read_text()
    assert json.loads(text)["inputs"] == moments
    assert isinstance(compact(root, "s").after, Extent)
