"""Models that a flow audits, of a configuration or a registry, and how each kind fails."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from decaf.errors import DiskRefuses, OrchestrationLost, ScoringFailed
from tasks.cluster.failures import OF_A_MODEL, failure_of_models, raise_failures
from tasks.looks.watch import Watch, watch_models
from tasks.plan import AuditPlan, replan
from tasks.progress import announce
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.watch import pending, watch_changed

Errors = Mapping[str, BaseException]
"""Errors by the models that failed with them."""


class ConfiguredModels:
    """Models of ``models:``: one that fails stays in the plan, and the run stays incomplete."""

    def __init__(self) -> None:
        self.failed: dict[str, BaseException] = {}
        """Errors by model; nothing more of these models is computed."""
        self.untrained: list[BaseException] = []
        """Errors of trainings and choices of epochs."""

    @property
    def has_failures(self) -> bool:
        """True if any model failed or could not be trained, so the run stays incomplete."""
        return bool(self.failed or self.untrained)

    def note_untrained(self, plan: AuditPlan, errors: Sequence[BaseException]) -> None:
        """Note the errors; raises them where no model is left to be scored."""
        if not plan.study.models:
            raise_failures(errors)
        self.untrained += errors

    def leave_out(self, plan: AuditPlan, errors: Errors) -> AuditPlan:
        """Note which models failed, each by its last error; the plan stays."""
        self.failed |= errors
        return plan

    def watch(self, plan: AuditPlan) -> Watch:
        """Watch the intervals of the models."""
        return watch_models(plan)

    def pending_rows(self, plan: AuditPlan) -> None:
        """Nothing is compared with an earlier version."""

    def failure(self, plan: AuditPlan) -> BaseException | None:
        """Error that stands for all models that failed; None if none did.

        It is ModelsFailed where other models of the plan are audited.
        """
        errors = [
            type(error)(f"{model_id}: {error}") if isinstance(error, OF_A_MODEL) else error
            for model_id, error in self.failed.items()
        ]
        is_partial = len(self.failed) < len(plan.study.models)
        return failure_of_models([*self.untrained, *errors], is_partial=is_partial)


class RegistryModels:
    """Models of a registry: one that fails is recorded as failed, and planned without."""

    failed: Errors = MappingProxyType({})
    has_failures = False

    def __init__(self, diff: RegistryDiff) -> None:
        self.diff = diff
        """Entries of the registry; those whose models failed have the reason."""

    def note_untrained(self, plan: AuditPlan, errors: Sequence[BaseException]) -> None:
        """Raise the errors: only models of ``models:`` are trained."""
        raise_failures(errors)

    def leave_out(self, plan: AuditPlan, errors: Errors) -> AuditPlan | None:
        """Record why models failed, and plan the others; says which are left out.

        Returns the plan itself where no model failed, and None where no model is left.

        Raises DiskRefuses when nothing can be written, and OrchestrationLost when the scheduler is
        gone, which no model causes; ScoringFailed when such a model is not of the registry but of
        the configuration.
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
        self.diff = self.diff.without(problems)
        cards = self.diff.audited.models
        return replan(plan, models=cards) if cards else None

    def watch(self, plan: AuditPlan) -> Watch:
        """Watch the gates of the entries that changed."""
        return watch_changed(self.diff, plan)

    def pending_rows(self, plan: AuditPlan) -> pa.Table:
        """Rows of the re-audit as they will be recorded."""
        return pending(self.diff, plan.run_id)


ModelsUnderAudit = ConfiguredModels | RegistryModels
"""Models of one flow, and how the flow goes on where some of them fail."""
