"""Each part of a unit's key, changed alone, is the reason that is given."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ended_commands import run_code, succeeded
from in_process import planned
from small_studies import LINEAR, of_scenes, untrained

from decaf.errors import BadInput, WarehouseError
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.reveal.paths.blend import Blend
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.studies.scenes.adapters import Shapes3D
from tasks.manifest import commit_outcome, commit_run, record_forced
from tasks.reasons import EarlierUnit, Reason, changed_parts, count_reasons, reasons_of
from tasks.units.kinds import KINDS
from tasks.units.run_task import UNITS, commit_key, group_units
from tasks.units.scope import of_kind
from warehouse import storage
from warehouse.commits import layout, receipts, writer
from warehouse.commits.writer import commit, open_root

ROOT = Path(__file__).parents[2]


@pytest.fixture
def study(tmp_path):
    models = [linear("one", tmp_path, seed=0), linear("two", tmp_path, seed=1)]
    return Study(**of_scenes(tmp_path, models, 6, sources_per_block=2))


def linear(name, folder, seed):
    return untrained(folder, name, seed, **LINEAR)


def commit_all(study, kinds=("predict", "score", "route")):
    """The manifest and receipts as an audit leaves them; what the tables hold is no matter."""
    plan = planned(study)
    open_root(study.warehouse)
    commit_run(plan)
    for group in group_units(unit for unit in plan.work.units if unit.kind in kinds):
        commit_group(plan, group)


def commit_group(plan, group):
    keys, model = tuple(unit.key for unit in group), group[0].model_id
    commit(plan.store, UNITS, plan.study.study, commit_key(group), {}, model_id=model, units=keys)


class Earlier(datetime):
    """A clock that is set back by a day."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) - timedelta(days=1)


def force_units(study, names):
    return record_forced(planned(study, names))


def found(study):
    return reasons(planned(study))


def reasons(plan):
    """Reasons by model and kind, with how many units have each."""
    return {
        (miss.model_id, miss.kind, *miss.reason): miss.unit_count
        for miss in count_reasons(plan.work.units, plan.work.reasons)
    }


def first_card(study, **changes):
    first, *others = study.models
    return study.model_copy(update={"models": (first.model_copy(update=changes), *others)})


def other(study, **changes):
    return study.model_copy(update=changes)


def roots(study):
    """Reasons of what does not merely follow."""
    return {key: count for key, count in found(study).items() if key[2] != "cascade"}


def score(**changed):
    return ClassProbability(**{"kind": "class_probability", "classes": 2} | changed)


SHARED = [
    ("score", {"score": score(classes=3)}),
    ("score", {"score": score(direction="decreasing")}),
    ("score", {"score": score(target=1)}),
    ("reveal", {"paths": {"blend": Blend(sigma=2.0)}}),
    ("stages", {"stages": 5}),
]
OF_A_CARD = [
    {"mean": (0.4, 0.5, 0.5)},
    {"input_size": 64},
    {"precision": "tf32"},
    {"output": "probabilities"},
    {"prefix": "module."},
    {"memory_format": "channels_last"},
    {"arguments": {"in_features": 2}},
]


def test_nothing_committed(study):
    assert found(study) == {
        ("one", "predict", "first run", ""): 3,
        ("one", "score", "first run", ""): 3,
        ("two", "predict", "first run", ""): 3,
        ("two", "score", "first run", ""): 3,
        ("one", "route", "cascade", "score"): 3,
        ("two", "route", "cascade", "score"): 3,
    }


def test_everything_committed(study):
    commit_all(study)
    assert found(study) == {}


@pytest.mark.parametrize(("part", "change"), SHARED)
def test_what_all_models_share(study, part, change):
    """Predictions depend on no path: only another score changes them."""
    commit_all(study)
    kinds = ("predict", "score") if part == "score" else ("score",)
    assert roots(other(study, **change)) == {
        (model, kind, "part changed", part): 3 for model in ("one", "two") for kind in kinds
    }


def test_one_change_is_one_root_and_followers(study):
    commit_all(study)
    linear("one", study.models[0].weights.parent, seed=7)
    assert found(study) == {
        ("one", "predict", "part changed", "weights"): 3,
        ("one", "score", "part changed", "weights"): 3,
        ("one", "route", "cascade", "score"): 3,
    }


@pytest.mark.parametrize("change", OF_A_CARD, ids=str)
def test_preprocessing(study, change):
    commit_all(study)
    assert roots(first_card(study, **change)) == {
        ("one", kind, "part changed", "preprocessing"): 3 for kind in ("predict", "score")
    }


@pytest.mark.parametrize("kind", ["predict", "score", "route"])
def test_code(study, monkeypatch, kind):
    commit_all(study)
    monkeypatch.setattr(KINDS[kind], "code", 99)
    assert {key[1:] for key in roots(study)} == {(kind, "part changed", "code")}


def test_pairs_block_by_block(study):
    commit_all(study)
    other_pairs = other(study, data=Shapes3D(adapter="shapes3d", sources=6, seed=1))
    assert {key[1:] for key in roots(other_pairs)} == {
        (kind, "part changed", "pairs") for kind in ("predict", "score")
    }


def test_a_result_that_is_missing(study):
    commit_all(study)
    _, group, *_ = group_units(planned(study).work.units)
    (Path(study.warehouse) / layout.receipt(UNITS, study.study, commit_key(group))).unlink()
    assert found(study) == {
        ("one", kind, "result missing", ""): 1 for kind in ("predict", "score", "route")
    }


def test_a_renamed_model_and_a_new_one(study, tmp_path):
    commit_all(study)
    for changed in (
        first_card(study, id="uno"),
        other(study, models=(*study.models, NetworkCard(**linear("three", tmp_path, seed=3)))),
    ):
        assert {key[2] for key in roots(changed)} == {"first run"}
        assert len({key[0] for key in found(changed)}) == 1


def test_two_parts_and_reasons_of_two_kinds(study):
    commit_all(study)
    linear("one", study.models[0].weights.parent, seed=7)
    assert roots(other(study, stages=5)) == {
        ("one", "predict", "part changed", "weights"): 3,
        ("one", "score", "part changed", "weights, stages"): 3,
        ("two", "score", "part changed", "stages"): 3,
    }


def test_a_run_is_begun_once(study):
    plan = planned(study)
    open_root(study.warehouse)
    commit_run(plan)
    begun = receipts.read_one(plan.store, "runs", study.study, plan.run_id)
    commit_run(plan)
    assert receipts.read_one(plan.store, "runs", study.study, plan.run_id) == begun


def test_the_newest_run_is_what_was_before(study):
    commit_all(other(study, stages=5))
    commit_all(other(study, paths={"blend": Blend(sigma=2.0)}))
    assert {key[1:] for key in roots(study)} == {("score", "part changed", "reveal")}


def test_no_older_manifest_is_read_than_it_takes(study):
    commit_all(other(study, stages=5))
    commit_all(other(study, paths={"blend": Blend(sigma=2.0)}))
    store = storage.open(study.warehouse)
    runs = sorted(receipts.read_kind(store, "runs", "try"), key=lambda r: r.committed_at)
    for file in runs[0].files:
        (store.folder / file.path).unlink()
    assert {key[1:] for key in roots(study)} == {("score", "part changed", "reveal")}
    with pytest.raises(WarehouseError, match="run_units"):
        found(other(study, paths={"another": Blend()}))


def test_what_follows_says_of_which_kind(study):
    score = Unit("score", "blend", "one", 0, {"weights": "a"})
    known = {score.slot: EarlierUnit("older", {"weights": "b"})}
    route = Unit("route", "blend", "one", 0, {"epsilon": "1"}, needs=(score,))
    analyse = Unit("analyse", "table", None, None, {}, needs=(route, score))
    followers = {
        route.slot: EarlierUnit("older route", {"epsilon": "1"}),
        analyse.slot: EarlierUnit("older table", {}),
    }
    followed = Reason("cascade", "score")
    both = reasons_of([score, route], {}, known | followers)
    assert both == (Reason("part changed", "weights"), followed)
    stored = {score.key: "commit"}
    assert reasons_of([score, route], stored, known | followers) == (None, followed)
    stored[route.key] = "commit"
    unchanged = {unit.slot: EarlierUnit(unit.key, dict(unit.parts)) for unit in (score, route)}
    found = reasons_of([score, route, analyse], stored, followers | unchanged)
    assert found == (None, None, Reason("cascade", "route")), "one of its models is gone"


def test_another_study_is_not_looked_at(study):
    commit_all(study.model_copy(update={"study": "another"}))
    assert {key[2] for key in roots(study)} == {"first run"}


def test_a_part_that_is_gone_is_a_change():
    assert changed_parts({"a": "1", "gone": "2"}, {"new": "3", "a": "1"}) == ["new", "gone"]
    assert changed_parts({"a": "1"}, {"a": "1"}) == []


def test_epsilon_is_a_matter_of_routing(study):
    commit_all(study)
    assert found(other(study, epsilon=0.1)) == {
        (model, "route", "part changed", "epsilon"): 3 for model in ("one", "two")
    }


def test_what_is_scored_and_not_routed_is_routed(study):
    commit_all(study, kinds=("predict", "score"))
    assert {key[1:] for key in found(study)} == {("route", "result missing", "")}


def test_a_path_that_is_added_is_scored_alone(study):
    commit_all(study)
    paths = {**study.paths, "soft": Blend(sigma=2.0)}
    plan = planned(other(study, paths=paths))
    assert {(unit.kind, unit.name) for unit in plan.work.pending} == {
        ("score", "soft"),
        ("route", "soft"),
    }
    assert sum(map(len, plan.work.by_model.values())) == 6, "one order for each model and block"
    commit_all(other(study, paths=paths))
    assert found(study) == {}, "dropping it scores nothing"


def test_explaining_loads_no_torch():
    code = "import sys, tasks.plan, flows.commands.display; print('torch' in sys.modules)"
    assert succeeded(run_code(code, cwd=ROOT)) == "False\n"


def test_forced_units_and_their_followers(study):
    commit_all(study)
    plan = planned(study, ["score:bl*@one"])
    assert reasons(plan) == {
        ("one", "score", "forced", ""): 3,
        ("one", "route", "cascade", "score"): 3,
    }
    assert found(study) == {}, "asking writes nothing"
    assert force_units(study, ["route@two"]).startswith("3 units")
    assert found(study) == {("two", "route", "forced", ""): 3}


def test_a_forcing_is_done_once_and_whole(study):
    commit_all(study)
    first = planned(study).run_id
    commit_outcome(planned(study), 0, 0)
    assert force_units(study, ["score@one"]).startswith("3 units")
    forced_plan = planned(study)
    assert forced_plan.run_id != first
    commit_run(forced_plan)
    group, *_ = group_units(forced_plan.work.pending)
    commit_group(forced_plan, group)
    # Killed here: the same command does the rest, and forces no unit twice.
    assert "resuming" in force_units(study, ["score@one"])
    assert {unit.key for unit in planned(study).work.pending} == {
        unit.key for unit in forced_plan.work.pending if unit not in group
    }
    for rest in group_units(planned(study).work.pending):
        commit_group(forced_plan, rest)
    assert "resuming" in force_units(study, ["score@one"]), "killed before its checks"
    assert found(study) == {}
    commit_outcome(planned(study), 0, 0)
    assert force_units(study, ["score@one"]).startswith("3 units")
    scores = of_kind(planned(study).work.pending, "score")
    assert {unit.parts["edition"] for unit in scores} == {"3"}


def test_a_forcing_outlives_a_clock_that_is_set_back(study, monkeypatch):
    commit_all(study)
    commit_outcome(planned(study), 0, 0)
    with monkeypatch.context() as clock:
        clock.setattr(writer, "datetime", Earlier)
        force_units(study, ["score@one"])
        commit_all(study)
        assert "resuming" in force_units(study, ["score@one"])
        commit_outcome(planned(study), 0, 0)
    assert force_units(study, ["score@one"]).startswith("3 units")


def test_another_configuration_knows_what_was_forced(study):
    commit_all(study)
    force_units(study, ["predict"])
    commit_all(study)
    other_path = other(study, paths={"blend": Blend(sigma=2.0)})
    commit_all(other_path)
    force_units(other_path, ["score:blend"])
    assert {key[1:] for key in roots(other_path)} == {("score", "forced", "")}
    assert found(study) == {}, "its results are as they were"


@pytest.mark.parametrize("name", ["scores", "score:patch", "score@three", "analyse@one", "*:*@"])
def test_a_name_of_no_unit(study, name):
    commit_all(study)
    with pytest.raises(BadInput, match="predict, score"):
        force_units(study, [name])
