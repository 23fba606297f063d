"""Compute the units of a plan: on workers, model by model, or beside the flow."""

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
from tasks.units.run_task import UNITS, Done, run_task
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

    Workers meet models of a lower ``rank`` first; the run of the task is called by ``model_id``.
    A group that needs the result of another group waits for all groups that need none. A model that
    ends a worker would end the next one, too: nothing more of it is begun. A group whose receipt is
    there is passed over, so a second call does only the work that is left.
    """
    of_label: dict[str, tuple[Unit, ...]] = {}
    announced: set[str] = set()

    def report(done: Done) -> None:
        _announce_once(done.remark, announced)
        remaining.take(of_label.pop(done.label), done.seconds)
        progress.advance(done.label, done.forward_rows, done.unit_count)

    for wave in _waves(groups):
        of_label |= {units[0].label: units for units in wave}
        # Made as they are sent: a task has all that a worker needs, and a model may have many.
        tasks = (make_task(plan, units, inputs, images) for units in wave)
        names = [units[0].label for units in wave]
        drive(client, run_task, tasks, names, report, rank, (DiskRefuses, WorkerEnded))


def _announce_once(remark: str, announced: set[str]) -> None:
    if remark and remark not in announced:
        announced.add(remark)
        announce(remark)


def train(client: Client, plan: AuditPlan, inputs: Path) -> None:
    """Train what is missing; one training per worker at a time.

    A training that fails stops no other. Raises BadInput when trainings failed because of what was
    given, and ScoringFailed when they failed for another reason: it says which models, and why.
    """
    if groups := plan.of_study("train"):
        announce(f"{number_of(len(groups), 'training')} to do")
        with progress_of(len(groups), "trainings") as progress:
            _prepare(client, plan, groups, inputs, lambda done: progress.advance(done.label, 0))


def choose(client: Client, plan: AuditPlan, inputs: Path) -> None:
    """Choose epochs of the trainings that are done; a choice that fails stops no other.

    Raises BadInput when a rule cannot choose, and ScoringFailed when it fails for another reason.
    """

    def is_trained(group: tuple[Unit, ...]) -> bool:
        commit = plan.commit_of(group[0].needs[0])
        return receipts.exists(plan.store, UNITS, plan.given.study, commit)

    groups = list(filter(is_trained, plan.of_study("choose")))
    _prepare(client, plan, groups, inputs, lambda _: None)


def _prepare(
    client: Client,
    plan: AuditPlan,
    groups: Groups,
    inputs: Path,
    on_done: Callable[[Done], None],
) -> None:
    tasks = [make_task(plan, group, inputs, None) for group in groups]
    drive(client, run_task, tasks, [group[0].name for group in groups], on_done)


def fit(plan: AuditPlan, inputs: Path) -> None:
    """Fit the paths that need it over all clean inputs, and draw their random starts.

    Raises DataError when the inputs are not what a path can be fitted to, and WriteFailed when the
    workspace takes no more data.
    """
    _compute_locally(plan, "fit", inputs)


def analyse(plan: AuditPlan, inputs: Path) -> None:
    """Compute what reads the whole warehouse, in the order of the plan."""
    _compute_locally(plan, "analyse", inputs)


def _compute_locally(plan: AuditPlan, kind: str, inputs: Path) -> None:
    """Compute units beside the flow; each is one commit."""
    for group in plan.of_study(kind):
        run_task(make_task(plan, group, inputs, None))


def _waves(groups: Sequence[tuple[Unit, ...]]) -> list[list[tuple[Unit, ...]]]:
    """Groups that need no result of another group, then the others."""
    pending = {unit.key for group in groups for unit in group}
    first, later = [], []
    for group in groups:
        own = {unit.key for unit in group}
        needed = {need.key for unit in group for need in unit.needs}
        waits = not pending.isdisjoint(needed - own)
        (later if waits else first).append(group)
    return [first, later] if later else [first]
