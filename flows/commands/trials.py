"""Try the models of a plan before a run: check that they can be used, and measure their memory."""

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
    """Try every model with work to do, and print the memory that a worker needs for it.

    Returns the plan with the measured speed of the models, and with blocks that fit this speed.
    If models cannot be used, raises the error with which the run would end.
    """
    tried = refuse_unusable(planned, is_measured=True)
    if tried.models:
        say(console, f"tried {number_of(len(tried.models), 'model')}: the answers fit the score")
    if footprints := [model.footprint for model in tried.models.values() if model.footprint]:
        _say_memory(console, planned, footprints)
    return settle_blocks(planned, tried.paces, tried.worker_count)


def _say_memory(console: Console, planned: AuditPlan, footprints: Sequence[Footprint]) -> None:
    """Print the memory of a worker with the largest model; warn if too little memory is free."""
    study = planned.study
    need = max(needs(study, planned.pairs, footprints), key=lambda one: one.total)
    parts = f"{decimal(need.held)} with the model, {decimal(need.inputs)} the inputs of a block"
    place = "of its GPU" if need.is_on_gpu else "of a worker"
    host_text = f"; {decimal(need.locked)} of its host" * need.is_on_gpu
    say(
        console,
        f"{need.model_id} takes the most memory {place}, about {decimal(need.total)}: {parts}, "
        f"{decimal(need.batch)} a batch of {number_of(need.rows, 'row')}{host_text}",
    )
    free = free_memory()
    if (fitting := fitting_rows(need, study.cluster, free)) is not None:
        workers = study.cluster.workers
        remedy = f"'batch_size: {fitting}', or " if fitting else ""
        warn(
            f"{decimal(free)} are free, and {number_of(workers, 'worker')} would take "
            f"{decimal(need.total * workers)}: set {remedy}fewer 'cluster: workers:'"
        )
