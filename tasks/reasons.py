"""Reasons to compute units: a unit runs if, and only if, it has a reason.

The manifests of earlier runs have the earlier parts of each unit. Units of one slot (kind, name,
model, block) are compared part by part, so a reason names the changed parts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from decaf.plan.units import Unit
from tasks.editions import EDITION
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.storage import Storage

Cause = Literal["first run", "part changed", "result missing", "forced", "cascade"]
Slot = tuple[str, str, str | None, int | None]
SLOT = ("kind", "name", "model_id", "block")
"""Columns of ``run_units`` that make a slot."""


class Reason(NamedTuple):
    """Reason to compute one unit."""

    cause: Cause
    what: str
    """Changed parts, or kind of the unit that causes it."""


@cache
def because(cause: Cause, what: str = "") -> Reason:
    """Reason, shared by all units that have it."""
    return Reason(cause, what)


FIRST, MISSING = because("first run"), because("result missing")


class EarlierUnit(NamedTuple):
    """Unit of a slot in the newest run that planned it."""

    key: str
    parts: dict[str, str]


class ReasonCount(NamedTuple):
    """Units of one kind and model that have to be computed for the same reason."""

    model_id: str | None
    kind: str
    reason: Reason
    unit_count: int


def reasons_of(
    units: Sequence[Unit],
    committed: Mapping[str, str],
    before: Mapping[Slot, EarlierUnit] | None,
    repeated: Set[str] = frozenset(),
) -> tuple[Reason | None, ...]:
    """Reasons to compute units, in their order; None for units with a stored result.

    Parameters
    ----------
    committed
        Commits by the keys of the units that they hold.
    before
        Earlier units by slot, from :func:`history`; None if this run was already started, so that
        its uncommitted units are missing.
    repeated
        Keys of units that replace others whose files were deleted.
    """

    def why(unit: Unit) -> Reason | None:
        if unit.key in committed:
            return None
        if unit.key in repeated:
            return because("result missing", "files")
        return MISSING if before is None else _reason(unit, before, committed)

    return tuple(map(why, units))


def history(store: Storage, study: str, missing: Iterable[Unit]) -> dict[Slot, EarlierUnit]:
    """Earlier units in the slots of missing units and of the units that these need.

    Each unit is from the newest run that planned its slot; slots without an earlier unit are left
    out. Reads as few manifests as possible, the newest first. Raises WarehouseError if a manifest
    is missing or damaged.
    """
    before: dict[Slot, EarlierUnit] = {}
    if not (runs := list(receipts.read_kind(store, "runs", study))):
        return before
    slots = {each.slot for unit in missing for each in (unit, *unit.needs, *unit.made_by.values())}
    for run in sorted(runs, key=lambda run: run.committed_at, reverse=True):
        if not (missing_slots := slots - before.keys()):
            break
        files = {file.table: file for file in run.files}
        if {"run_units", "unit_parts"} <= files.keys():
            units = _of_slots(read_file(store, files["run_units"]), missing_slots)
            parts = _parts_of(read_file(store, files["unit_parts"]), units)
            before |= {slot: EarlierUnit(key, parts.get(key, {})) for slot, key in units.items()}
    return before


def _of_slots(planned: pa.Table, slots: Iterable[Slot]) -> dict[Slot, str]:
    """Keys of the planned units of some slots."""
    # Arrow joins no NULL with another NULL.
    number = pa.array(range(planned.num_rows))
    plain = pa.table(
        [
            planned["kind"],
            planned["name"],
            pc.fill_null(planned["model_id"], ""),
            pc.fill_null(planned["block"], -1),
            number,
        ],
        names=[*SLOT, "number"],
    )
    slot_rows = pa.Table.from_pylist(
        [
            dict(
                zip(SLOT, (kind, name, model_id or "", -1 if block is None else block), strict=True)
            )
            for kind, name, model_id, block in slots
        ],
        plain.schema.remove(len(SLOT)),
    )
    rows = planned.take(plain.join(slot_rows, list(SLOT), join_type="inner")["number"]).to_pylist()
    return {tuple(row[name] for name in SLOT): row["unit_key"] for row in rows}


def _parts_of(stored: pa.Table, units: Mapping[Slot, str]) -> dict[str, dict[str, str]]:
    """Parts of some units, by their keys."""
    part_rows = stored.filter(pc.is_in(stored["unit_key"], pa.array(units.values(), pa.string())))
    parts: dict[str, dict[str, str]] = {}
    for row in part_rows.to_pylist():
        parts.setdefault(row["unit_key"], {})[row["part"]] = row["value"]
    return parts


def count_reasons(units: Iterable[Unit], reasons: Iterable[Reason | None]) -> list[ReasonCount]:
    """Count units to compute by model, kind and reason; causes come before units that follow."""
    counts: dict[tuple, int] = {}
    for unit, reason in zip(units, reasons, strict=True):
        if reason:
            group = unit.model_id, unit.kind, reason
            counts[group] = counts.get(group, 0) + 1
    rows = [ReasonCount(*group, count) for group, count in counts.items()]
    return sorted(rows, key=lambda miss: miss.reason.cause == "cascade")


def _reason(unit: Unit, before: Mapping[Slot, EarlierUnit], committed: Collection[str]) -> Reason:
    earlier = before.get(unit.slot)
    if earlier is not None and earlier.key == unit.key:
        return MISSING

    def is_new(other: Unit) -> bool:
        return other.key != getattr(before.get(other.slot), "key", "")

    if earlier is not None and (changed := changed_parts(earlier.parts, unit.parts)):
        makers = {part: unit.made_by[part] for part in changed if part in unit.made_by}
        if roots := [part for part in changed if part not in makers or not is_new(makers[part])]:
            is_forced = roots == [EDITION]
            return because("forced") if is_forced else because("part changed", ", ".join(roots))
        return because("cascade", makers[changed[0]].kind)
    running = [need for need in unit.needs if need.key not in committed]
    if earlier is None and not running:
        return FIRST
    changed_needs = [need for need in unit.needs if is_new(need)]
    # A unit that only lost a need has no changed need; its first remaining need is named.
    causes = running or changed_needs or unit.needs
    return because("cascade", causes[0].kind)


def changed_parts(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of changed, new and removed parts."""
    names = dict.fromkeys([*now, *before])
    return [name for name in names if before.get(name) != now.get(name)]
