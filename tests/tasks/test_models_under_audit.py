"""Failures of models: a configuration keeps them in its plan, a registry is planned without."""

from io import StringIO
from types import SimpleNamespace

import pytest
from in_process import compute
from registry_folder import put
from rich.console import Console
from small_studies import network_card, of_scenes, untrained
from warehouse_answers import fetched

from decaf.errors import (
    DiskRefuses,
    ModelError,
    ModelsFailed,
    OrchestrationLost,
    ScoringFailed,
)
from decaf.plan.study import Study
from flows.commands.display import print_status
from tasks.cluster.drive import _raise
from tasks.manifest import FAILURES, commit_failures, commit_run
from tasks.models_under_audit import ConfiguredModels, RegistryModels
from tasks.plan import plan_audit
from tasks.reaudit.plan import discover
from warehouse.commits import receipts
from warehouse.commits.writer import open_root


def plan_of(count):
    """Stand in for a plan of so many models that can be scored."""
    work = SimpleNamespace(units=())
    return SimpleNamespace(study=SimpleNamespace(models=["card"] * count), waiting=(), work=work)


def test_a_configured_model_that_fails_stays_in_the_plan():
    models, plan = ConfiguredModels(), plan_of(2)
    assert models.leave_out(plan, {}) is plan
    assert (models.has_failures, models.failure(plan)) == (False, None)
    assert models.leave_out(plan, {"net": ModelError("no head")}) is plan
    assert models.has_failures
    failure = models.failure(plan)
    assert type(failure) is ModelsFailed
    assert "net: no head" in str(failure)


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ([ModelError("no head"), ModelError("no head")], ModelError),
        ([ModelError("no head"), ScoringFailed("nan")], ScoringFailed),
        ([DiskRefuses("no room"), DiskRefuses("no room")], DiskRefuses),
        ([ModelError("no head"), ZeroDivisionError("of a module")], ZeroDivisionError),
    ],
)
def test_where_all_configured_models_fail_they_have_a_common_error(errors, kind):
    models, plan = ConfiguredModels(), plan_of(2)
    models.leave_out(plan, dict(zip("ab", errors, strict=True)))
    assert type(models.failure(plan)) is kind


def test_reasons_are_first_lines_of_errors_of_models():
    models = ConfiguredModels()
    failed = ScoringFailed("2 of 3 tasks failed:\n  a-0: no rows\n  a-1: no rows")
    errors = {"a": failed, "b": ModelError("no head\nof two"), "c": DiskRefuses("no room")}
    models.leave_out(plan_of(4), errors)
    assert models.reasons == {"a": "2 of 3 tasks failed: a-0: no rows", "b": "no head"}


def test_failures_of_a_run_are_shown_until_its_next_attempt(tmp_path):
    cards = [untrained(tmp_path, name) for name in "ab"]
    study = Study(**of_scenes(tmp_path, cards, 2))
    plan = compute(study)
    sentence = "SELECT sentence FROM out_findings WHERE model_id = 'a'"
    ((finding,),) = fetched(study.warehouse, sentence)
    commit_failures(plan, {"a": "no head"})
    assert fetched(study.warehouse, sentence) == [(f"Failed: no head. So far: {finding}",)]
    warning = "SELECT model_id, detail FROM out_warnings WHERE warning = 'failed'"
    assert fetched(study.warehouse, warning) == [("a", "failed: no head")]
    commit_failures(plan, {})
    assert fetched(study.warehouse, sentence) == [(finding,)]
    assert fetched(study.warehouse, warning) == []


def test_without_failures_nothing_is_committed(tmp_path):
    plan = compute(Study(**of_scenes(tmp_path, [untrained(tmp_path, "a")], 2)))
    commit_failures(plan, {})
    assert receipts.keys(plan.store, FAILURES, plan.study.study) == set()


@pytest.mark.parametrize("error", [DiskRefuses("no room"), ZeroDivisionError("of a module")])
def test_an_error_that_is_not_of_one_model_is_raised_as_it_is(error):
    models, plan = ConfiguredModels(), plan_of(2)
    models.leave_out(plan, {"a": error})
    assert models.failure(plan) is error


def test_a_training_that_fails_stops_the_run_where_nothing_else_can_be_scored():
    error = ModelError("diverged")
    models = ConfiguredModels()
    models.note_untrained(plan_of(1), [error])
    assert models.has_failures
    assert type(models.failure(plan_of(1))) is ModelsFailed
    with pytest.raises(ModelError):
        ConfiguredModels().note_untrained(plan_of(0), [error])
    with pytest.raises(ModelError):
        RegistryModels(None).note_untrained(plan_of(1), [error])


def test_the_reason_of_a_training_that_failed_is_kept(tmp_path):
    recipe = {"recipe": "scene_task", "task": "context_gate", "sampling": "cells", "seed": 1}
    cards = [untrained(tmp_path, "fixed")]
    cards += [network_card(name, training=recipe | {"seed": n}) for n, name in enumerate("ab")]
    study = Study(**of_scenes(tmp_path, cards, 2))
    plan = plan_audit(study, study.pair_set())
    assert [card.id for card in plan.waiting] == ["a", "b"]
    models = ConfiguredModels()
    with pytest.raises(ModelError) as failed:
        _raise({"a": ModelError("diverged\nat 3"), "b": ModelError("no photos")}, 2)
    models.note_untrained(plan, [failed.value])
    assert models.reasons == {"a": "diverged", "b": "no photos"}
    open_root(study.warehouse)
    commit_run(plan)
    commit_failures(plan, models.reasons)
    warnings = "SELECT model_id, detail FROM out_warnings WHERE warning = 'failed' ORDER BY ALL"
    kept = [("a", "failed: diverged"), ("b", "failed: no photos")]
    assert fetched(plan.study.warehouse, warnings) == kept
    console = Console(file=StringIO(), width=100)
    print_status(console, plan.store, None)
    shown = console.file.getvalue()
    assert "2 models failed" in shown
    assert "b failed: no photos" in shown


@pytest.fixture
def zoo(opened, tmp_path):
    """Models of a registry with two entries, and the plan of them."""
    for seed, name in enumerate(["net", "other"]):
        put(tmp_path / "zoo" / name, seed=seed)
    study, store = opened()
    diff = discover(study, store, study.pair_set())
    return RegistryModels(diff), plan_audit(diff.audited_study, study.pair_set())


def test_a_model_of_a_registry_is_left_out_with_its_reason(zoo):
    models, plan = zoo
    net, other = (card.id for card in plan.study.models)
    assert models.leave_out(plan, {}) is plan
    left = models.leave_out(plan, {net: ModelError("no head")})
    assert {unit.model_id for unit in left.work.units} - {None} == {other}
    assert left.run_id != plan.run_id
    problems = {entry.entry.label: entry.problem for entry in models.diff.resolved}
    assert problems == {"net": "no head", "other": None}
    assert models.diff.changes() == {"net": "failed", "other": "new"}
    assert not models.has_failures
    assert models.leave_out(left, {other: ModelError("no tail")}) is None


@pytest.mark.parametrize("error", [DiskRefuses("no room"), OrchestrationLost("no scheduler")])
def test_a_re_audit_ends_where_no_model_is_to_blame(zoo, error):
    models, plan = zoo
    net, other = (card.id for card in plan.study.models)
    with pytest.raises(type(error)):
        models.leave_out(plan, {net: ModelError("no head"), other: error})
    assert {entry.problem for entry in models.diff.resolved} == {None}


def test_a_model_beside_the_registry_cannot_be_left_out(zoo):
    models, plan = zoo
    with pytest.raises(ScoringFailed, match="own"):
        models.leave_out(plan, {"own": ModelError("no head")})
