"""Each field of a shard's key, changed alone, is the reason that is given."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from decaf.models.checkpoint import save
from decaf.models.sources.network import NetworkCard
from decaf.plan import shards as decaf_shards
from decaf.plan.study import Study
from decaf.reveal.paths.blend import Blend
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.studies.scenes.adapters import Scenes
from tasks.explain import Miss, explain
from tasks.plan import plan_audit
from warehouse.commits import layout
from warehouse.commits.writer import commit, open_root

ROOT = Path(__file__).parents[2]


@pytest.fixture
def study(tmp_path):
    return Study(
        study="try",
        data=Scenes(adapter="scenes", sources=6, seed=0),
        models=(network("one", tmp_path, seed=0), network("two", tmp_path, seed=1)),
        score=ClassProbability(kind="class_probability", classes=2),
        paths={"blend": Blend()},
        sources_per_shard=2,
        epsilon=0.02,
        warehouse=str(tmp_path / "warehouse"),
        workspace=tmp_path / "workspace",
    )


def network(name, folder, seed):
    torch.manual_seed(seed)
    save(nn.Linear(2, 2), folder / f"{name}.safetensors", {})
    return NetworkCard(
        id=name,
        family="any",
        architecture="factory:torch.nn:Linear",
        arguments={"in_features": 2, "out_features": 2},
        weights=folder / f"{name}.safetensors",
        input_size=32,
        mean=(0.5, 0.5, 0.5),
        std=(0.5, 0.5, 0.5),
    )


def planned(study):
    return plan_audit(study, study.pair_set())


def commit_all(study, *, routed=True):
    """Receipts as an audit leaves them; what the tables hold does not matter here."""
    root = open_root(study.warehouse)
    for shard in planned(study).shards:
        keys = shard.keys
        kept = {"model_id": shard.model.id}
        commit(root, "shards", study.study, keys.shard_key, {}, inputs=keys.inputs, **kept)
        if routed:
            gate = {"shard_key": keys.shard_key, "epsilon": repr(study.epsilon)}
            commit(root, "profiles", study.study, keys.profile_key, {}, inputs=gate, **kept)


def first_card(study, **changes):
    first, *others = study.models
    return study.model_copy(update={"models": (first.model_copy(update=changes), *others)})


def other(study, **changes):
    return study.model_copy(update=changes)


SHARED = {
    "score": lambda s: other(s, score=ClassProbability(kind="class_probability", classes=3)),
    "paths": lambda s: other(s, paths={"blend": Blend(sigma=2.0)}),
    "grid": lambda s: other(s, stages=5),
}


def test_nothing_committed(study):
    nothing = "nothing of the study is committed yet"
    assert explain(planned(study)) == [
        Miss("one", "score", 3, nothing),
        Miss("two", "score", 3, nothing),
    ]


def test_everything_committed(study):
    commit_all(study)
    assert explain(planned(study)) == []


@pytest.mark.parametrize("field", SHARED)
def test_what_all_models_share(study, field):
    commit_all(study)
    changed = SHARED[field](study)
    assert explain(planned(changed)) == [
        Miss("one", "score", 3, field),
        Miss("two", "score", 3, field),
    ]


def test_weights(study):
    commit_all(study)
    network("one", study.models[0].weights.parent, seed=7)
    assert explain(planned(study)) == [Miss("one", "score", 3, "weights changed")]


@pytest.mark.parametrize("change", [{"mean": (0.4, 0.5, 0.5)}, {"precision": "tf32"}])
def test_feeding(study, change):
    commit_all(study)
    reason = "feeding (preprocessing or precision)"
    assert explain(planned(first_card(study, **change))) == [Miss("one", "score", 3, reason)]


def test_numerics_version(study, monkeypatch):
    commit_all(study)
    monkeypatch.setattr(decaf_shards, "NUMERICS_VERSION", 99)
    assert {miss.reason for miss in explain(planned(study))} == {"numerics version"}


def test_pairs_block_by_block(study):
    commit_all(study)
    other_pairs = other(study, data=Scenes(adapter="scenes", sources=6, seed=1))
    assert explain(planned(other_pairs)) == [
        Miss("one", "score", 3, "pairs: 3 of 3 blocks differ"),
        Miss("two", "score", 3, "pairs: 3 of 3 blocks differ"),
    ]
    new = planned(study).shards[1]
    (Path(study.warehouse) / layout.receipt("shards", study.study, new.keys.shard_key)).unlink()
    assert explain(planned(study)) == [Miss("one", "score", 1, "pairs: 1 of 3 blocks differ")]


def test_a_renamed_model_and_a_new_one(study, tmp_path):
    commit_all(study)
    renamed = first_card(study, id="uno")
    assert explain(planned(renamed)) == [Miss("uno", "score", 3, "name of the model")]
    added = other(study, models=(*study.models, network("three", tmp_path, seed=3)))
    reason = "no shard of this model is committed; the nearest differs in: name of the model, "
    assert explain(planned(added)) == [Miss("three", "score", 3, f"{reason}weights changed")]


def test_two_fields_and_reasons_of_two_kinds(study):
    commit_all(study)
    network("one", study.models[0].weights.parent, seed=7)
    changed = other(study, stages=5)
    assert explain(planned(changed)) == [
        Miss("one", "score", 3, "weights changed, grid"),
        Miss("two", "score", 3, "grid"),
    ]


def test_the_newest_of_equally_near_ones_counts(study):
    commit_all(other(study, stages=5))
    commit_all(other(study, paths={"blend": Blend(sigma=2.0)}))
    assert {miss.reason for miss in explain(planned(study))} == {"paths"}


def test_the_fewest_fields_count_before_the_newest(study):
    commit_all(other(study, stages=5))
    commit_all(other(study, stages=5, paths={"blend": Blend(sigma=2.0)}))
    assert {miss.reason for miss in explain(planned(study))} == {"grid"}


def test_another_study_is_not_looked_at(study):
    commit_all(study.model_copy(update={"study": "another"}))
    assert {miss.reason for miss in explain(planned(study))} == {
        "nothing of the study is committed yet"
    }


def test_nothing_in_common(study):
    """Every one of the eight fields differs: the nearest is still one."""
    root = open_root(study.warehouse)
    strange = dict.fromkeys(planned(study).shards[0].keys.inputs, "strange")
    commit(root, "shards", study.study, "strange", {}, model_id="zero", inputs=strange)
    (reason,) = {miss.reason for miss in explain(planned(study))}
    assert all(word in reason for word in ("pairs: 3 of 3", "numerics", "score", "grid", "weights"))


def test_epsilon_is_a_matter_of_routing(study):
    commit_all(study)
    assert explain(planned(other(study, epsilon=0.1))) == [
        Miss("one", "route", 3, "epsilon: 0.1, committed at 0.02"),
        Miss("two", "route", 3, "epsilon: 0.1, committed at 0.02"),
    ]


def test_routing_version_and_not_routed(study, monkeypatch):
    commit_all(study, routed=False)
    assert {miss.reason for miss in explain(planned(study))} == {"scored, and not routed yet"}
    commit_all(study)
    monkeypatch.setattr(decaf_shards, "ROUTING_VERSION", 99)
    assert {(miss.step, miss.reason) for miss in explain(planned(study))} == {
        ("route", "routing version")
    }


def test_explaining_loads_no_torch():
    code = "import sys, tasks.explain, flows.commands.display; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
