"""Trainings as units of work: done once, chosen from, explained, and done again when they must."""

import in_process
import pytest
from in_process import planned, reasons
from pydantic import ValidationError
from safetensors.torch import load_file, save_file
from small_studies import classifier, network_card, of_scenes, of_table
from warehouse_answers import fetched

from decaf.errors import ModelError
from decaf.foundation.digests import file_sha256
from decaf.plan.study import Study
from tasks.make_task import make_task
from tasks.manifest import record_forced
from tasks.units.run_task import run_task
from tasks.verify import verify
from warehouse.commits.writer import open_root

RECIPE = {"recipe": "scene_shortcut", "shortcut": 0.9, "seed": 1, "scenes": 8, "batch_size": 4}
RECIPE |= {"validation_scenes": 16}
EPOCHS = {"epochs": 3, "keep_epochs": "all"}


@pytest.fixture
def given(tmp_path):
    """Settings of a study of one network that is trained for three epochs, all of them kept."""
    card = network_card("net", arguments={"width": 4}, training=RECIPE | EPOCHS)
    return of_scenes(tmp_path, [card], study="s")


def files(study):
    return sorted((study.workspace / "checkpoints").glob("*.safetensors"))


@pytest.fixture
def tabular(tmp_path):
    """Settings of a study of three classifiers of a made-up table."""
    models = [classifier(name, mechanism=name) for name in ("robust", "mild", "fragile")]
    baselines = {"pdp_ale": {"kind": "pdp_ale", "models": ["mild"]}}
    return of_table(tmp_path, models, 20, baselines=baselines)


def test_an_audit_goes_on_with_the_models_that_could_be_trained(tabular):
    study = Study(**tabular, labels={"kind": "treatments"})
    open_root(study.warehouse)
    first = planned(study)
    assert (first.study.models, first.work.by_model) == ((), {})
    robust, mild, fragile = first.work.pending_groups("train")
    for group in (robust, fragile):
        run_task(make_task(first, group, in_process.NO_INPUTS, None))
    some = planned(study)
    assert [card.id for card in some.study.models] == ["robust", "fragile"]
    assert [card.id for card in some.waiting] == ["mild"]
    assert set(some.work.by_model) == {"robust", "fragile"}
    assert not {"explain", "analyse"} & {unit.kind for unit in some.work.units}
    run_task(make_task(some, mild, in_process.NO_INPUTS, None))
    whole = planned(study)
    assert ([card.id for card in whole.study.models], whole.waiting) == (
        ["robust", "mild", "fragile"],
        (),
    )
    assert {unit.key for unit in some.work.units} < {unit.key for unit in whole.work.units}
    assert {"explain", "analyse"} < {unit.kind for unit in whole.work.units}


def test_a_worker_in_another_folder_trains_into_the_studys_workspace(given, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    study = Study(**given | {"workspace": "work"})
    open_root(study.warehouse)
    first = planned(study)
    assert [card.id for card in first.waiting] == ["net"]
    (units,) = first.work.pending_groups("train")
    task = make_task(first, units, in_process.NO_INPUTS, None)
    monkeypatch.chdir(elsewhere)
    run_task(task)
    assert [*elsewhere.iterdir()] == []
    monkeypatch.chdir(tmp_path)
    assert [card.id for card in planned(study).study.models] == ["net"]


def test_epochs_of_one_training_are_models(given):
    card = given["models"][0]
    given["models"] = [
        card | {"id": "first", "epoch": 1},
        card | {"id": "last"},
        card | {"id": "some", "epoch_rule": {"rule": "spread", "count": 2}},
    ]
    study = Study(**given)
    plan = in_process.compute(study)
    assert len(files(study)) == 1 + 3
    assert len([unit for unit in plan.work.units if unit.kind == "train"]) == 1
    models = {card.id: card.weights_digest() for card in plan.study.models}
    assert list(models) == ["first", "last", "some@e01", "some@e03"]
    assert models["first"] == models["some@e01"]
    assert models["last"] == models["some@e03"] != models["first"]
    verify(plan.store, "s")
    kept = fetched(
        study.warehouse,
        "SELECT epoch, is_audited, outcome ->> 'vulnerability' IS NULL FROM out_checkpoints",
    )
    scored = fetched(study.warehouse, "SELECT DISTINCT model_id FROM core_trajectories ORDER BY 1")
    assert scored == [("first",), ("last",), ("some@e01",), ("some@e03",)]
    assert kept == [(1, True, False), (2, False, False), (3, True, False), (None, True, False)]
    assert reasons(in_process.train(study)) == {}


def test_another_rule_trains_nothing(given):
    given["models"][0]["epoch_rule"] = {"rule": "listed", "epochs": [1, 2]}
    in_process.compute(Study(**given))
    given["models"][0]["epoch_rule"] = {"rule": "listed", "epochs": [2, 3]}
    plan = planned(Study(**given))
    assert reasons(plan) == {("choose", "part changed", "rule"): 1}
    plan = in_process.train(Study(**given))
    assert {unit.model_id for unit in plan.work.pending} == {"net@e03"}


def test_what_a_rule_cannot_choose_is_refused(given):
    rule = {"rule": "turning_points", "statistic": "charm"}
    given["models"][0]["epoch_rule"] = rule
    with pytest.raises(ModelError, match="'charm'.*train_accuracy"):
        in_process.train(Study(**given))


def test_a_rule_that_fails_stops_no_other_model_of_its_training(given):
    card = given["models"][0]
    rule = {"rule": "turning_points", "statistic": "charm"}
    given["models"] = [card | {"epoch_rule": rule}, card | {"id": "last"}]
    study = Study(**given)
    with pytest.raises(ModelError, match="'charm'"):
        in_process.train(study)
    plan = planned(study)
    assert [card.id for card in plan.study.models] == ["last"]
    assert {unit.kind for unit in plan.work.pending} == {"choose", "predict", "score", "route"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": 4}, r"epoch 4.*\[1, 2, 3\]"),
        ({"epoch": 0}, "epoch"),
        ({"training": RECIPE, "epoch": 1}, "epoch 1"),
        (
            {"training": RECIPE, "epoch_rule": {"rule": "spread", "count": 1}},
            "'epoch_rule'",
        ),
        ({"epoch": 1, "epoch_rule": {"rule": "spread", "count": 1}}, "not both"),
        ({"epoch_rule": {"rule": "listed", "epochs": [1, 4]}}, "epoch"),
        ({"epoch_rule": {"rule": "sprad", "count": 1}}, "did you mean 'spread'"),
        ({"training": RECIPE | {"keep_epochs": "some"}}, "keep_epochs"),
    ],
)
def test_epochs_that_a_training_does_not_keep_are_a_fault(given, changes, message):
    given["models"][0] |= changes
    with pytest.raises(ValidationError, match=message):
        Study(**given)


def test_another_recipe_is_the_root_of_what_follows(given):
    in_process.compute(Study(**given))
    given["models"][0]["training"] = RECIPE | EPOCHS | {"shortcut": 0.6}
    study = Study(**given)
    assert reasons(planned(study)) == {("train", "part changed", "shortcut"): 1}
    assert reasons(in_process.train(study)) == {
        ("predict", "cascade", "train"): 1,
        ("score", "cascade", "train"): 1,
        ("route", "cascade", "score"): 1,
    }
    assert len(files(study)) == 2 * (1 + 3), "the files of the other recipe stay"


def test_a_checkpoint_that_is_gone_is_made_again_and_what_is_equal_is_not_scored_again(given):
    study = Study(**given)
    plan = in_process.compute(study)
    (card,) = plan.study.models
    digest, before = card.weights_digest(), files(study)
    for file in before:
        file.unlink()
    lost = planned(study)
    assert (reasons(lost), lost.waiting[0].id) == ({("train", "result missing", "files"): 1}, "net")
    again = in_process.train(study)
    # Another version of the library may write other metadata beside the same tensors.
    (file,) = (file for file in files(study) if ".epoch_" not in file.name)
    bytes_before = file_sha256(file)
    save_file(load_file(file), file, {"seconds": "12.5"})
    assert file_sha256(file) != bytes_before
    again = planned(study)
    assert again.study.models[0].weights_digest() == digest
    assert reasons(again) == {}
    assert not set(files(study)) & set(before), "a commit of other bytes would be another one"
    in_process.compute(study)
    verify(again.store, "s")
    for file in files(study):
        file.unlink()
    assert planned(study).work.pending_groups("train")[0][0].parts["edition"] == "3"


def test_a_forced_training_is_another_edition(given):
    study = Study(**given)
    before = in_process.compute(study)
    forced = planned(study, ["train"])
    assert (reasons(forced), len(forced.waiting)) == ({("train", "forced", ""): 1}, 1)
    assert record_forced(forced).startswith("1 units")
    after = in_process.train(study)
    assert len(files(study)) == 2 * (1 + 3)
    assert after.study.models[0].trained_file != before.study.models[0].trained_file
    assert after.work.pending == [], "the weights are equal"
    assert after.run_id != before.run_id


def test_studies_of_one_workspace_share_a_training(given, monkeypatch):
    plan = in_process.compute(Study(**given))
    monkeypatch.setattr("decaf.studies.scenes.recipes.SceneShortcut.train", None)
    other = in_process.compute(Study(**given | {"study": "other"}))
    assert other.study.models[0].trained_file == plan.study.models[0].trained_file
    assert {unit.key for unit in other.work.units} == {unit.key for unit in plan.work.units}


def test_random_starts_are_made_again_when_something_needs_them(tabular):
    tabular["paths"]["noise"] = {"kind": "gaussian", "seeds": [7]}
    study = Study(**tabular)
    in_process.compute(study)
    made = sorted((study.workspace / "fitted").iterdir())
    assert len(made) == 2, "the reference and the starts"
    for file in made:
        file.unlink()
    assert reasons(planned(study)) == {}, "all scores are there"
    tabular["score"]["target"] = 0
    again = planned(Study(**tabular))
    assert reasons(again)["fit", "result missing", ""] == 1
    in_process.compute(Study(**tabular))
    assert sorted((study.workspace / "fitted").iterdir()) == made


def test_a_forced_fit_makes_its_files_again(tabular):
    tabular["paths"] = {"noise": {"kind": "gaussian", "seeds": [7]}}
    study = Study(**tabular)
    in_process.compute(study)
    made = {file: file.stat().st_mtime_ns for file in (study.workspace / "fitted").iterdir()}
    forced = planned(study, ["fit:noise"])
    assert reasons(forced) == {("fit", "forced", ""): 1}
    record_forced(forced)
    in_process.compute(study)
    again = {file: file.stat().st_mtime_ns for file in (study.workspace / "fitted").iterdir()}
    assert again.keys() == made.keys()
    assert not set(again.values()) & set(made.values())
    assert reasons(planned(study)) == {}
