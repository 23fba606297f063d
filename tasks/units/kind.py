"""What a kind of unit is: how it is planned, what it is known by, what it computes."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.scope import Scope
from warehouse.tables.columns import Table

Results = Mapping[str, pa.Table]
"""Rows by table, each with the column ``unit_key``."""


class Kind(ABC):
    """One kind of unit. Planner, driver, manifest and checks know nothing else of it."""

    name: ClassVar[str]
    code: ClassVar[int]
    """Part of every key; raised when the same parts would give other results."""
    tables: ClassVar[tuple[Table, ...]]
    """What its units fill."""
    uses_model: ClassVar[bool] = True
    """Whether computing its units takes a model, so that what it takes is a row of costs."""
    is_scanned: ClassVar[bool] = False
    """Whether its units need of the model what the scan of the block gives, and nothing else."""
    is_local: ClassVar[bool] = False
    """Whether its units are of the whole study and are computed beside the flow."""

    prepares: ClassVar[bool] = False
    """Whether its units make what others are planned from or read; these come first."""

    @abstractmethod
    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """Units of a study, model by model, whether or not they have been computed.

        ``planned`` are the units of the kinds before this one. Raises BadInput when the study, its
        data or a model's files cannot be used.
        """

    @abstractmethod
    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Compute units of one task, on a worker; the block is scanned before, if they need it."""

    def files(self, unit: Unit, study: Study) -> tuple[Path, ...]:
        """What a unit makes in the workspace, beside its rows; without them it is not there."""
        return ()

    def group_key(self, unit: Unit) -> Hashable:
        """Key of the group that a unit is computed and committed with."""
        return unit.key
