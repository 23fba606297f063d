"""Compute the units of a plan: on workers, one model or several at a time, or beside the flow."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from distributed import Client

from decaf.errors import DecafError, DiskRefuses, WorkerEnded, listed, number_of
from decaf.plan.units import Unit
from tasks.cluster.drive import attempt, drive, wait_until_ended
from tasks.estimate import Remaining
from tasks.order import order_of, together_of
from tasks.plan import SCORED, AuditPlan
from tasks.progress import WorkProgress, announce, progress_of
from tasks.units.orders import UNITS, Done, run_order, run_together
from warehouse.commits import receipts

Groups = Sequence[tuple[Unit, ...]]
"""Units that are computed and committed together, of one model."""


def compute(
    client: Client,
    plan: AuditPlan,
    groups: Groups,
    inputs: Path,
    images: Path | None,
    progress: WorkProgress,
    remaining: Remaining,
    rank: int,
) -> None:
    """Compute groups of units of one model; each is committed by the worker that computed it.

    What needs another group's result waits for all of those. A model that ends a worker would end
    the next one, too: nothing more of it is begun. A group whose receipt is there is passed over,
    so a second call does only what is left.
    """
    of_label: dict[str, tuple[Unit, ...]] = {}
    announced: set[str] = set()

    def report(done: Done) -> None:
        _announce_once(done.remark, announced)
        remaining.take(of_label.pop(done.label), done.seconds)
        progress.advance(done.label, done.forward_rows, done.unit_count)

    for wave in _waves(groups):
        of_label |= {units[0].label: units for units in wave}
        # Made as they are sent: an order has all that a worker needs, and a model may have many.
        orders = (order_of(plan, units, inputs, images) for units in wave)
        names = [units[0].label for units in wave]
        drive(client, run_order, orders, names, report, rank, (DiskRefuses, WorkerEnded))


def compute_together(
    client: Client,
    plan: AuditPlan,
    work: Mapping[str, Groups],
    inputs: Path,
    images: Path | None,
    progress: WorkProgress,
    remaining: Remaining,
    rank: int,
) -> dict[str, Groups]:
    """Score each block with all models that have the same to score there, where these are several.

    Returns what is left of each model's ``work``: units that no model shares, and after the first
    error, whichever model it is of, all that is not done. :func:`compute` does it model by model,
    so a model that fails, or ends a worker, is told as it is alone. Raises DiskRefuses when the
    disk refuses what is written.
    """
    alike: dict[Hashable, list[tuple[Unit, ...]]] = {}
    for groups in work.values():
        for units in groups:
            if any(unit.kind in SCORED for unit in units):
                same = units[0].block, *((unit.kind, unit.name) for unit in units)
                alike.setdefault(same, []).append(units)
    shared = [groups for groups in alike.values() if len(groups) > 1]
    of_label = {units[0].label: units for groups in shared for units in groups}
    announced: set[str] = set()

    def report(all_done: tuple[Done, ...]) -> None:
        for done in all_done:
            _announce_once(done.remark, announced)
            remaining.take(of_label.pop(done.label), done.seconds)
            progress.advance(done.label, done.forward_rows, done.unit_count)

    orders = (together_of(plan, groups, inputs, images) for groups in shared)
    names = [groups[0][0].label for groups in shared]
    failed = attempt(client, run_together, orders, names, report, rank, (DecafError,))
    for error in failed.values():
        if isinstance(error, DiskRefuses):
            raise error
    if failed:
        wait_until_ended(client, run_together, names)
        (label, error), *_ = failed.items()
        announce(
            f"{listed([*work])} are scored one by one from here on: together they failed at "
            f"{label}: {error}"
        )
    done = {units[0].label for groups in shared for units in groups} - of_label.keys()
    return {
        model_id: [units for units in groups if units[0].label not in done]
        for model_id, groups in work.items()
    }


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
        return receipts.exists(plan.root, UNITS, plan.given.study, commit)

    groups = list(filter(is_trained, plan.of_study("choose")))
    _prepare(client, plan, groups, inputs, lambda _: None)


def _prepare(
    client: Client,
    plan: AuditPlan,
    groups: Groups,
    inputs: Path,
    on_done: Callable[[Done], None],
) -> None:
    orders = [order_of(plan, group, inputs, None) for group in groups]
    drive(client, run_order, orders, [group[0].name for group in groups], on_done)


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
        run_order(order_of(plan, group, inputs, None))


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
