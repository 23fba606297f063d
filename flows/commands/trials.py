"""Models on trial before a run: whether they can be used, and what they take of the memory."""

from collections.abc import Sequence

from rich.console import Console
from rich.filesize import decimal

from decaf.errors import number_of
from flows.commands.terminal import say, warn
from tasks.machine import free_memory
from tasks.memory import Footprint, fitting_rows, needs
from tasks.plan import AuditPlan, settle_blocks
from tasks.trial import refuse_unusable


def try_models(console: Console, planned: AuditPlan) -> AuditPlan:
    """Try every model of a plan that has anything to score, and say what a worker needs for it.

    Returns the plan with the speed of the models, and with the blocks that fit it. Raises the error
    that the run would end with where models cannot be used.
    """
    tried = refuse_unusable(planned, is_measured=True)
    if tried.models:
        say(console, f"tried {number_of(len(tried.models), 'model')}: the answers fit the score")
    if footprints := [model.footprint for model in tried.models.values() if model.footprint]:
        _say_memory(console, planned, footprints)
    return settle_blocks(planned, tried.paces, tried.worker_count)


def _say_memory(console: Console, planned: AuditPlan, footprints: Sequence[Footprint]) -> None:
    """What a worker takes of the memory with the model that takes most, and whether it is there."""
    study = planned.study
    need = max(needs(study, planned.pairs, footprints), key=lambda one: one.total)
    parts = f"{decimal(need.held)} with the model, {decimal(need.inputs)} the inputs of a block"
    whose = "of its GPU" if need.is_on_gpu else "of a worker"
    beside = f"; {decimal(need.locked)} of its host" * need.is_on_gpu
    say(
        console,
        f"{need.model_id} takes the most memory {whose}, about {decimal(need.total)}: {parts}, "
        f"{decimal(need.batch)} a batch of {number_of(need.rows, 'row')}{beside}",
    )
    free = free_memory()
    if (fitting := fitting_rows(need, study, free)) is not None:
        workers = study.cluster.workers
        remedy = f"'batch_size: {fitting}', or " if fitting else ""
        warn(
            f"{decimal(free)} are free, and {number_of(workers, 'worker')} would take "
            f"{decimal(need.total * workers)}: set {remedy}fewer 'cluster: workers:'"
        )
