"""Compute the units of a plan: on workers, model by model, or in the process of the flow."""

from collections.abc import Callable, Sequence
from pathlib import Path

from distributed import Client

from decaf.errors import DiskRefuses, WorkerEnded, number_of
from decaf.plan.units import Unit
from tasks.cluster.drive import drive
from tasks.estimate import Remaining
from tasks.make_task import make_task
from tasks.plan import AuditPlan
from tasks.progress import WorkProgress, announce, progress_of
from tasks.units.run_task import UNITS, TaskSummary, run_task
from warehouse.commits import receipts

Groups = Sequence[tuple[Unit, ...]]
"""Units that are computed and committed together, of one model."""


def compute_model(
    client: Client,
    plan: AuditPlan,
    model_id: str,
    rank: int,
    groups: Groups,
    inputs: Path,
    images: Path | None,
    progress: WorkProgress,
    remaining: Remaining,
) -> None:
    """Score, route and measure one model; the worker that computed a group of units commits it.

    Workers compute models of a lower ``rank`` first. Groups that need the result of another group
    wait for all independent groups. After a model ended a worker process, no further task of this
    model is started. Committed groups are skipped, so a second call computes only missing groups.
    """
    units_of_label: dict[str, tuple[Unit, ...]] = {}
    announced: set[str] = set()

    def report(summary: TaskSummary) -> None:
        _announce_once(summary.remark, announced)
        units = units_of_label.pop(summary.label)
        remaining.take(units, summary.seconds)
        words = units[0].describe(plan.study.names)
        progress.advance(words, summary.forward_rows, summary.unit_count)

    for wave in _waves(groups):
        units_of_label |= {units[0].label: units for units in wave}
        # Tasks are made one by one as they are sent: they are large, and a model may have many.
        tasks = (make_task(plan, units, inputs, images) for units in wave)
        names = [units[0].label for units in wave]
        drive(client, run_task, tasks, names, report, rank, (DiskRefuses, WorkerEnded))


def _announce_once(remark: str, announced: set[str]) -> None:
    if remark and remark not in announced:
        announced.add(remark)
        announce(remark)


def train(client: Client, plan: AuditPlan, inputs: Path) -> None:
    """Run the missing trainings, one per worker at a time.

    After a failed training, the others continue. Raises BadInput if trainings failed because of
    their input, and ScoringFailed if they failed for another reason; the message names the models
    and reasons.
    """
    if groups := plan.work.pending_groups("train"):
        announce(f"{number_of(len(groups), 'training')} to do")
        words = {group[0].label: group[0].describe(plan.study.names) for group in groups}
        with progress_of(len(groups), "trainings") as progress:
            _prepare(client, plan, groups, inputs, lambda it: progress.advance(words[it.label], 0))


def choose(client: Client, plan: AuditPlan, inputs: Path) -> None:
    """Choose epochs of finished trainings; after a failed choice, the others continue.

    Raises BadInput if a rule cannot choose, and ScoringFailed if it fails for another reason.
    """

    def is_trained(group: tuple[Unit, ...]) -> bool:
        commit = plan.work.commit_of(group[0].needs[0])
        return receipts.exists(plan.store, UNITS, plan.configuration.study, commit)

    groups = list(filter(is_trained, plan.work.pending_groups("choose")))
    _prepare(client, plan, groups, inputs, lambda _: None)


def _prepare(
    client: Client,
    plan: AuditPlan,
    groups: Groups,
    inputs: Path,
    on_done: Callable[[TaskSummary], None],
) -> None:
    tasks = [make_task(plan, group, inputs, None) for group in groups]
    drive(client, run_task, tasks, [group[0].name for group in groups], on_done)


def fit(plan: AuditPlan, inputs: Path) -> None:
    """Fit the paths that need it over all clean inputs, and draw their random starts.

    Raises DataError if a path cannot be fitted to the inputs, and WriteFailed if the workspace
    cannot be written.
    """
    _compute_locally(plan, "fit", inputs)


def analyse(plan: AuditPlan, inputs: Path) -> None:
    """Compute the analyses, which read the whole warehouse, in the order of the plan."""
    _compute_locally(plan, "analyse", inputs)


def _compute_locally(plan: AuditPlan, kind: str, inputs: Path) -> None:
    """Compute units in the process of the flow; each is one commit."""
    for group in plan.work.pending_groups(kind):
        run_task(make_task(plan, group, inputs, None))


def _waves(groups: Sequence[tuple[Unit, ...]]) -> list[list[tuple[Unit, ...]]]:
    """Split groups into those that need no other group, and the remaining ones."""
    pending = {unit.key for group in groups for unit in group}
    first, later = [], []
    for group in groups:
        group_keys = {unit.key for unit in group}
        needed = {need.key for unit in group for need in unit.needs}
        waits = not pending.isdisjoint(needed - group_keys)
        (later if waits else first).append(group)
    return [first, later] if later else [first]
