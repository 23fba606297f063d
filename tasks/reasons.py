"""Why units have to be computed: a unit runs if, and only if, it has a reason.

What a unit was before is read from the manifests of earlier runs. Units of one slot (kind, name,
model, block) are compared part by part, so a reason names what changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from decaf.plan.units import Unit
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.storage import Root

Cause = Literal["first run", "part changed", "result missing", "cascade"]
Slot = tuple[str, str, str | None, int | None]


class Reason(NamedTuple):
    """Why one unit has to be computed."""

    cause: Cause
    what: str
    """Parts that changed, or the kind of the unit that it follows."""


class Before(NamedTuple):
    """What a slot held in the newest run that planned it."""

    key: str
    parts: dict[str, str]


class Miss(NamedTuple):
    """Units of one kind and model that have to be computed for the same reason."""

    model_id: str | None
    kind: str
    reason: Reason
    unit_count: int


def reasons_of(
    units: Sequence[Unit], committed: Mapping[str, str], before: Mapping[Slot, Before]
) -> dict[str, Reason]:
    """The reason of every unit that has to be computed, by its key.

    Parameters
    ----------
    units
        In an order in which what is needed comes first.
    committed
        Commits by the keys of the units that they hold.
    before
        What the slots held, of :func:`history`.
    """
    reasons: dict[str, Reason] = {}
    for unit in units:
        reason = _reason(unit, unit.key in committed, before.get(unit.slot), reasons)
        if reason is not None:
            reasons[unit.key] = reason
    return reasons


def history(root: Root, study: str) -> dict[Slot, Before]:
    """What every slot held in the newest run that planned it; reads manifests, writes nothing.

    Raises
    ------
    WarehouseError
        When a manifest is missing or damaged.
    """
    before: dict[Slot, Before] = {}
    runs = sorted(receipts.read_kind(root, "runs", study), key=lambda run: run.committed_at)
    for run in runs:
        files = {file.table: file for file in run.files}
        if not {"run_units", "unit_parts"} <= files.keys():
            continue
        parts: dict[str, dict[str, str]] = {}
        for row in read_file(root, files["unit_parts"]).to_pylist():
            parts.setdefault(row["unit_key"], {})[row["part"]] = row["value"]
        for row in read_file(root, files["run_units"]).to_pylist():
            slot = (row["kind"], row["name"], row["model_id"], row["block"])
            before[slot] = Before(row["unit_key"], parts.get(row["unit_key"], {}))
    return before


def misses(units: Iterable[Unit], reasons: Mapping[str, Reason]) -> list[Miss]:
    """Units that have to be computed, counted by model, kind and reason; roots before followers."""
    counts: dict[tuple, int] = {}
    for unit in units:
        if reason := reasons.get(unit.key):
            group = unit.model_id, unit.kind, reason
            counts[group] = counts.get(group, 0) + 1
    found = [Miss(*group, count) for group, count in counts.items()]
    return sorted(found, key=lambda miss: miss.reason.cause == "cascade")


def _reason(
    unit: Unit, is_committed: bool, before: Before | None, reasons: Mapping[str, Reason]
) -> Reason | None:
    if is_committed:
        return None
    if before is not None and before.key == unit.key:
        return Reason("result missing", "")
    if before is not None and (changed := changed_parts(before.parts, unit.parts)):
        return Reason("part changed", ", ".join(changed))
    running = [need.kind for need in unit.needs if need.key in reasons]
    if running:
        return Reason("cascade", running[0])
    return Reason("first run", "") if before is None else Reason("cascade", "what it needs")


def changed_parts(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of the parts that differ, that are new, or that are gone."""
    names = dict.fromkeys([*now, *before])
    return [name for name in names if before.get(name) != now.get(name)]
