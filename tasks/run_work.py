"""The work of a run: its units, which of them are stored, and why the others must be computed."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from decaf.plan.units import Unit
from tasks.reasons import Reason
from tasks.stops import is_scored
from tasks.units.run_task import commit_key, group_units
from tasks.units.scope import of_kind

SCORED = ("predict", "score")
"""Kinds of units that go through a model together."""


@dataclass(frozen=True)
class RunWork:
    """Units of a run, and the reason of each that has to be computed."""

    units: tuple[Unit, ...]
    """Units, each after the units that it needs."""
    committed: Mapping[str, str]
    """Commits by the keys of the units that they hold."""
    reasons: tuple[Reason | None, ...]
    """Reason to compute each unit; None if its result is stored."""

    @cached_property
    def pending(self) -> list[Unit]:
        """Units that have to be computed."""
        return [unit for unit, why in zip(self.units, self.reasons, strict=True) if why]

    @property
    def by_model(self) -> dict[str, list[tuple[Unit, ...]]]:
        """Groups of units to compute by model, so that a worker loads each model once."""
        work: dict[str, list[tuple[Unit, ...]]] = {
            unit.model_id: [] for unit in self.units if unit.model_id is not None
        }
        for group in group_units(unit for unit in self.pending if unit.model_id is not None):
            work[group[0].model_id].append(group)
        return {model_id: groups for model_id, groups in work.items() if groups}

    def pending_groups(self, kind: str) -> list[tuple[Unit, ...]]:
        """Groups of units of one kind that have to be computed."""
        return list(group_units(of_kind(self.pending, kind)))

    @cached_property
    def stored_by_block(self) -> dict[tuple[str | None, int | None], list[Unit]]:
        """Scored units with stored results, by model and block."""
        units: dict[tuple[str | None, int | None], list[Unit]] = {}
        for unit, why in zip(self.units, self.reasons, strict=True):
            if unit.kind in SCORED and why is None:
                units.setdefault((unit.model_id, unit.block), []).append(unit)
        return units

    @cached_property
    def scored_commits(self) -> set[str]:
        """Commits of scores of the blocks that are completely scored."""
        unfinished = {(unit.model_id, unit.block) for unit in of_kind(self.pending, "score")}
        return {
            self.committed[unit.key]
            for unit in of_kind(self.units, "score")
            if unit.key in self.committed and (unit.model_id, unit.block) not in unfinished
        }

    @cached_property
    def commits(self) -> Mapping[str, str]:
        """Keys of commits by keys of units, for stored units and planned ones."""
        new: dict[str, str] = {}
        for group in group_units(self.pending):
            new |= dict.fromkeys((unit.key for unit in group), commit_key(group))
        return ChainMap(new, self.committed)

    def commit_of(self, unit: Unit) -> str:
        """Key of the commit that stores a unit, now or later."""
        return self.committed.get(unit.key) or self.commits[unit.key]

    def up_to(self, stops: Mapping[str, int], scored: Mapping[str, int]) -> "RunWork":
        """Restrict the work to the first blocks of some models; ``stops`` has their numbers.

        ``scored`` has numbers of blocks that are already scored. Other models keep all blocks.
        """
        planned = [
            (unit, None if unit.model_id in scored and is_scored(unit, scored) else reason)
            for unit, reason in zip(self.units, self.reasons, strict=True)
            if is_scored(unit, stops)
        ]
        units = tuple(unit for unit, _ in planned)
        return RunWork(units, self.committed, tuple(reason for _, reason in planned))

    def all_done(self) -> "RunWork":
        """The same work after all its units were computed and committed."""
        return RunWork(self.units, self.commits, (None,) * len(self.units))
