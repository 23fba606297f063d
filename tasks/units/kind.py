"""Interface of kinds of units: their planning, their key and their results."""

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
    """One kind of unit; driver and manifest use only this interface."""

    name: ClassVar[str]
    code: ClassVar[int]
    """Part of every key; raise it if equal parts give other results."""
    tables: ClassVar[tuple[Table, ...]]
    """Tables that its units write."""
    uses_model: ClassVar[bool] = True
    """True if its units use a model, so that a task has a row of costs."""
    is_scanned: ClassVar[bool] = False
    """True if its units need no outputs of the model except those of the block's scan."""
    is_local: ClassVar[bool] = False
    """True if its units belong to the whole study and the process of the flow computes them."""

    prepares: ClassVar[bool] = False
    """True if others are planned from its results or read its files; these units come first."""

    @abstractmethod
    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """Units of a study, model by model, including those that are already computed.

        ``planned`` are the units of earlier kinds. Raises BadInput if the study, its data or a
        model's files cannot be used.
        """

    @abstractmethod
    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Compute units of one task on a worker, after the scan of the block if they need it."""

    def files(self, unit: Unit, study: Study) -> tuple[Path, ...]:
        """Files that a unit makes in the workspace; without them it is computed again."""
        return ()

    def group_key(self, unit: Unit) -> Hashable:
        """Key of the group of units that are computed and committed together."""
        return unit.key
