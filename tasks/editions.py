"""Editions of units: what is computed again although its result is there.

A forcing is a commit without rows that gives units their next edition. The edition is a part of
their keys from then on: they are other units, of another run, and what needs them follows. Results
of the edition before stay with the runs that have them, until those are withdrawn.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import NamedTuple

from decaf.errors import BadInput
from decaf.foundation.digests import json_sha256, short
from decaf.plan.units import Unit
from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt
from warehouse.commits.writer import commit, next_moment
from warehouse.storage import Storage

FORCINGS, OUTCOMES = "forcings", "outcomes"
"""Kinds of commits: what was forced, and which runs are finished."""
EDITION = "edition"
"""Part of the key of a unit that was forced; a unit that never was has none."""


class Editions(NamedTuple):
    """Editions of the units of a study that were ever forced."""

    of_unit: Mapping[str, int]
    """The newest edition, from 2, by the key that the unit has without one."""
    under_way: Collection[str]
    """Those of them that were forced since a run of the study was finished last."""

    def applied(self, unit: Unit) -> Unit:
        """The unit in its newest edition."""
        edition = self.of_unit and self.of_unit.get(unit.key)
        if not edition:
            return unit
        return replace(unit, shared={**unit.parts, EDITION: str(edition)}, pairs=None)

    def with_next(self, keys: Iterable[str]) -> "Editions":
        """The same, with the next edition of the units that have these keys without one."""
        following = {key: self.of_unit.get(key, 1) + 1 for key in keys}
        return Editions({**self.of_unit, **following}, {*self.under_way, *following})


FIRST = Editions({}, ())
"""Of a study in which no unit was ever forced."""


def read_editions(store: Storage, study: str) -> Editions:
    """Editions that the forcings of a study gave; reads receipts.

    Raises WarehouseError when a receipt is damaged.
    """
    forcings = list(receipts.read_kind(store, FORCINGS, study))
    if not forcings:
        return FIRST
    finished = [_moment(outcome) for outcome in receipts.read_kind(store, OUTCOMES, study)]
    editions: dict[str, int] = {}
    under_way: set[str] = set()
    for forcing in forcings:
        for key, edition in forcing.inputs.items():
            editions[key] = max(int(edition), editions.get(key, 0))
        if all(_moment(forcing) > moment for moment in finished):
            under_way.update(forcing.inputs)
    return Editions(editions, under_way)


def forced(
    units: Sequence[Unit],
    committed: Collection[str],
    editions: Editions,
    patterns: Iterable[str],
) -> list[str]:
    """Keys, without an edition, of the units that patterns ask to compute again.

    Units that are not committed are computed anyway, and those that were forced already since a run
    was finished are not forced again: a command that was stopped does the rest when it is given
    again. The units come in their editions. A pattern is ``KIND[:NAME][@MODEL]``, with ``*`` and
    ``?`` in any of the three. Raises BadInput when a pattern is of no unit of the study.
    """
    keys = []
    for pattern in patterns:
        matching = [unit for unit in units if _matches(unit, pattern)]
        if not matching:
            kinds = ", ".join(dict.fromkeys(unit.kind for unit in units))
            raise BadInput(
                f"no unit of the study is called {pattern!r}; give KIND[:NAME][@MODEL] with a kind "
                f"among {kinds}, a path or method as the name, and the id of a model: decaf views "
                "core_run_units lists them"
            )
        keys += [plain_key(unit) for unit in matching if unit.key in committed]
    return [key for key in dict.fromkeys(keys) if key not in editions.under_way]


def commit_forcing(store: Storage, study: str, editions: Mapping[str, int]) -> None:
    """Record the next editions of units, by their keys without one."""
    inputs = {key: str(edition) for key, edition in editions.items()}
    # Never older than a run that is finished: a forcing counts until the next one is.
    at = next_moment(store, OUTCOMES, study)
    commit(store, FORCINGS, study, short(json_sha256(inputs)), {}, inputs=inputs, at=at)


def _moment(receipt: Receipt) -> datetime:
    return datetime.fromisoformat(receipt.committed_at)


def plain_key(unit: Unit) -> str:
    """The key that a unit has without an edition."""
    parts = {name: value for name, value in unit.parts.items() if name != EDITION}
    return replace(unit, shared=parts, pairs=None).key


def _matches(unit: Unit, pattern: str) -> bool:
    """Whether ``KIND[:NAME][@MODEL]`` is a unit's; a model's id has no ``@``, a kind no ``:``."""
    head, at, model = pattern.partition("@")
    kind, colon, name = head.partition(":")
    return (
        fnmatchcase(unit.kind, kind)
        and (not colon or fnmatchcase(unit.name, name))
        and (not at or (unit.model_id is not None and fnmatchcase(unit.model_id, model)))
    )
