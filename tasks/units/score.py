"""Trajectories: the scores of both branches at every stage of one path."""

from collections.abc import Hashable, Iterator, Sequence

from decaf.foundation.digests import json_sha256
from decaf.foundation.strangers import code_of
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import trajectory_rows
from tasks.units.scan import scanned
from tasks.units.scope import Scope
from warehouse.tables.declarations import QUARANTINE, TRAJECTORIES


class Score(Kind):
    """One unit a model, block and path."""

    name = "score"
    code = 1
    tables = (TRAJECTORIES, QUARANTINE)

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One for every model, block and path."""
        study = scope.study
        images = scope.pairs.input_set.digest
        paths = {
            name: {
                "path": name,
                "reveal": json_sha256([path.identity(images), code_of(path)]),
                "stages": json_sha256(path.grid(study.grid).tolist()),
                "code": str(self.code),
            }
            for name, path in study.paths.items()
        }
        for card in study.models:
            for block in scope.blocks:
                shared = scope.scored(card.id, block)
                for name, own in paths.items():
                    rows = len(block.rows) * study.paths[name].repetitions
                    yield Unit(self.name, name, card.id, block.number, shared | own, row_count=rows)

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Trajectories with finite scores, and the quarantine of the others."""
        block = bench.order.block
        scores, grids = (
            scanned(bench),
            {
                unit.name: bench.order.study.paths[unit.name].grid(bench.order.study.grid)
                for unit in units
            },
        )
        keys = {unit.name: unit.key for unit in units}
        trajectories, quarantine = trajectory_rows(keys, block, grids, scores.branches)
        return {"trajectories": trajectories, "quarantine": quarantine}

    def order(self, unit: Unit) -> Hashable:
        """With all paths of the block: they share states."""
        return unit.model_id, unit.block
