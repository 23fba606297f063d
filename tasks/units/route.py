"""Profiles: route the trajectories of a path at the study's epsilon (equation 1)."""

from collections.abc import Hashable, Iterator, Sequence

import pyarrow as pa

from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import profile_rows
from tasks.units.scope import Scope, of_kind
from warehouse.tables.declarations import PROFILES


class Route(Kind):
    """One unit for the trajectories of a model, block and path, at one epsilon."""

    name = "route"
    code = 1
    tables = (PROFILES,)
    uses_model = False

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every unit of trajectories; another epsilon needs no forward pass."""
        parts = {"epsilon": repr(scope.study.epsilon), "code": str(self.code)}
        for scored in of_kind(planned, "score"):
            yield Unit(
                self.name, scored.name, scored.model_id, scored.block, parts, needs=(scored,)
            )

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Rows of profiles of new or stored trajectories."""
        parts = []
        for unit in units:
            trajectories = bench.rows_of(unit.needs[0], "trajectories")
            # If every trajectory is quarantined, there are no profiles.
            if trajectories is not None:
                epsilon = bench.task.study.epsilon
                parts.append(profile_rows(unit.key, trajectories, epsilon))
        return {"profiles": pa.concat_tables(parts or [PROFILES.schema.empty_table()])}

    def group_key(self, unit: Unit) -> Hashable:
        """Group with the scored units of the block."""
        return unit.model_id, unit.block
