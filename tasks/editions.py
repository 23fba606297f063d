"""Editions of units: users raise them to compute stored results again.

A forcing is a commit without rows that raises the edition of units. The edition is a part of their
keys, so they become new units of a new run, and units that need them do as well. Results of earlier
editions stay with their runs until these runs are withdrawn.
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
"""Kinds of commits: forced units, and finished runs."""
EDITION = "edition"
"""Part of the key of a forced unit; other units do not have it."""


class Editions(NamedTuple):
    """Editions of all forced units of a study."""

    of_unit: Mapping[str, int]
    """Newest edition, 2 or more, by the key without edition."""
    under_way: Collection[str]
    """Keys of units that were forced after the last finished run of the study."""

    def apply(self, unit: Unit) -> Unit:
        """Return a unit in its newest edition."""
        edition = self.of_unit and self.of_unit.get(unit.key)
        if not edition:
            return unit
        return replace(unit, parts={**unit.parts, EDITION: str(edition)})

    def with_next(self, keys: Iterable[str]) -> "Editions":
        """Copy with the next edition of some units; ``keys`` are their keys without edition."""
        next_editions = {key: self.of_unit.get(key, 1) + 1 for key in keys}
        return Editions({**self.of_unit, **next_editions}, {*self.under_way, *next_editions})


FIRST = Editions({}, ())
"""Editions of a study without a forced unit."""


def read_editions(store: Storage, study: str) -> Editions:
    """Read the editions of a study from the receipts of its forcings.

    Raises WarehouseError if a receipt is damaged.
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


def select_forced(
    units: Sequence[Unit],
    committed: Collection[str],
    editions: Editions,
    patterns: Iterable[str],
) -> list[str]:
    """Keys, without edition, of the units to compute again.

    ``units`` are in their editions. A pattern is ``KIND[:NAME][@MODEL]``, with ``*`` and ``?`` in
    any of the three. Uncommitted units are left out, since they are computed anyway. Units that
    were forced after the last finished run are left out, too, so that a repeated command resumes.
    Raises BadInput if a pattern matches no unit of the study.
    """
    keys = []
    for pattern in patterns:
        matching = [unit for unit in units if _matches(unit, pattern)]
        if not matching:
            kinds = ", ".join(dict.fromkeys(unit.kind for unit in units))
            raise BadInput(
                f"no unit of the study is called {pattern!r}; give KIND[:NAME][@MODEL] with a kind "
                f"among {kinds}, a path or method as the name, and the id of a model: decaf sql "
                '"FROM core_run_units" lists them'
            )
        keys += [plain_key(unit) for unit in matching if unit.key in committed]
    return [key for key in dict.fromkeys(keys) if key not in editions.under_way]


def commit_forcing(store: Storage, study: str, editions: Mapping[str, int]) -> None:
    """Record editions of units by their keys without edition."""
    inputs = {key: str(edition) for key, edition in editions.items()}
    # Newer than every finished run: a forcing holds until the next run finishes.
    at = next_moment(store, OUTCOMES, study)
    commit(store, FORCINGS, study, short(json_sha256(inputs)), {}, inputs=inputs, at=at)


def _moment(receipt: Receipt) -> datetime:
    return datetime.fromisoformat(receipt.committed_at)


def plain_key(unit: Unit) -> str:
    """Key of a unit without its edition."""
    parts = {name: value for name, value in unit.parts.items() if name != EDITION}
    return replace(unit, parts=parts).key


def _matches(unit: Unit, pattern: str) -> bool:
    """True if ``KIND[:NAME][@MODEL]`` matches; ids of models have no ``@``, kinds no ``:``."""
    head, at, model = pattern.partition("@")
    kind, colon, name = head.partition(":")
    return (
        fnmatchcase(unit.kind, kind)
        and (not colon or fnmatchcase(unit.name, name))
        and (not at or (unit.model_id is not None and fnmatchcase(unit.model_id, model)))
    )
