"""Models under audit, of a configuration or a registry, and the handling of their failures."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from decaf.errors import DecafError, DiskRefuses, OrchestrationLost, ScoringFailed
from tasks.cluster.failures import MODEL_ERRORS, failure_of_models, raise_failures
from tasks.looks.watch import Watch, watch_models
from tasks.plan import AuditPlan, replan
from tasks.progress import announce
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.watch import pending, watch_changed
from tasks.units.scope import of_kind
from tasks.units.train import training_of

Errors = Mapping[str, BaseException]
"""Errors by model."""


class ConfiguredModels:
    """Models of ``models:``; a failed model stays in the plan, so the run stays incomplete."""

    def __init__(self) -> None:
        self.failed: dict[str, BaseException] = {}
        """Errors by model; these models are not computed further."""
        self.untrained: list[BaseException] = []
        """Errors of trainings and choices of epochs."""
        self._untrained_models: dict[str, BaseException] = {}

    @property
    def has_failures(self) -> bool:
        """True if any model failed or could not be trained, so the run stays incomplete."""
        return bool(self.failed or self.untrained)

    @property
    def reasons(self) -> dict[str, str]:
        """First lines of the errors of models and of their trainings, by model."""
        return {
            model_id: _first_line(error)
            for model_id, error in (self._untrained_models | self.failed).items()
            if isinstance(error, MODEL_ERRORS)
        }

    def note_untrained(self, plan: AuditPlan, errors: Sequence[BaseException]) -> None:
        """Note errors of trainings; raises them if no model is left to score."""
        if not plan.study.models:
            raise_failures(errors)
        self.untrained += errors
        trainings = of_kind(plan.work.units, "train")
        by_task = ChainMap(*(dict(e.by_task) for e in errors if isinstance(e, DecafError)))
        for card in plan.waiting:
            training_name = training_of(card, trainings).name
            for name in {training_name, card.id} & by_task.keys():  # a choice has the card's name
                self._untrained_models[card.id] = by_task[name]

    def leave_out(self, plan: AuditPlan, errors: Errors) -> AuditPlan:
        """Note which models failed, each by its last error; the plan stays."""
        self.failed |= errors
        return plan

    def watch(self, plan: AuditPlan) -> Watch:
        """Watch the intervals of the models."""
        return watch_models(plan)

    def pending_rows(self, plan: AuditPlan) -> None:
        """None, since configured models have no earlier version."""

    def failure(self, plan: AuditPlan) -> BaseException | None:
        """One error for all failed models; None without a failure.

        It is ModelsFailed if other models of the plan are audited.
        """
        errors = [
            type(error)(f"{model_id}: {error}") if isinstance(error, MODEL_ERRORS) else error
            for model_id, error in self.failed.items()
        ]
        is_partial = len(self.failed) < len(plan.study.models)
        return failure_of_models([*self.untrained, *errors], is_partial=is_partial)


class RegistryModels:
    """Models of a registry; a failed model is recorded as failed and left out of the plan."""

    failed: Errors = MappingProxyType({})
    reasons: Mapping[str, str] = MappingProxyType({})
    has_failures = False

    def __init__(self, diff: RegistryDiff) -> None:
        self.diff = diff
        """Entries of the registry, with the reasons of failed ones."""

    def note_untrained(self, plan: AuditPlan, errors: Sequence[BaseException]) -> None:
        """Raise the errors: only models of ``models:`` are trained."""
        raise_failures(errors)

    def leave_out(self, plan: AuditPlan, errors: Errors) -> AuditPlan | None:
        """Record the errors of failed models, and plan without them; announces each.

        Returns the plan itself without a failure, and None if no model is left.

        Raises DiskRefuses and OrchestrationLost, which no model causes, and ScoringFailed if a
        failed model belongs to ``models:`` instead of the registry.
        """
        if not errors:
            return plan
        for error in errors.values():
            if isinstance(error, DiskRefuses | OrchestrationLost):
                raise error
        problems = {model_id: str(error) for model_id, error in errors.items()}
        of_registry = {resolved.model_id for resolved in self.diff.resolved}
        of_registry |= {card.id for card in self.diff.references}
        for model_id, problem in problems.items():
            if model_id not in of_registry:
                raise ScoringFailed(f"model {model_id} of 'models:' cannot be audited: {problem}")
            announce(f"{model_id} is left out: {problem}")
        self.diff = self.diff.mark_failed(problems)
        cards = self.diff.audited_study.models
        return replan(plan, models=cards) if cards else None

    def watch(self, plan: AuditPlan) -> Watch:
        """Watch the gates of the entries that changed."""
        return watch_changed(self.diff, plan)

    def pending_rows(self, plan: AuditPlan) -> pa.Table:
        """Rows of the re-audit as they will be recorded."""
        return pending(self.diff, plan.run_id)


def _first_line(error: BaseException) -> str:
    """First line of an error, and the second one if the first ends with a colon."""
    first, *lines = str(error).split("\n")
    return " ".join([first, *(line.strip() for line in lines[:1] if first.endswith(":"))])


ModelsUnderAudit = ConfiguredModels | RegistryModels
"""Models of one flow, with the handling of failures."""
