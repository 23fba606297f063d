"""Trajectories: scores of both branches at every stage of a path."""

from collections.abc import Hashable, Iterator, Sequence

from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.plan.units import PAIRS, Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.repeats import repeat_rows
from tasks.units.rows import trajectory_rows
from tasks.units.scope import Scope, of_kind
from warehouse.tables.declarations import QUARANTINE, REPEATS, TRAJECTORIES


class Score(Kind):
    """One unit for each model, block and path."""

    name = "score"
    code = 1
    tables = (TRAJECTORIES, QUARANTINE, REPEATS)
    is_scanned = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every model, block and path with pairs in the block."""
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
        fits = {unit.name: {"reveal": unit} for unit in of_kind(planned, "fit")}
        # All models share these counts, since a study may have millions of units.
        counts_by_path = [
            [(block, len(block.rows) * study.paths[name].repetitions) for block in blocks]
            for name, blocks in scope.blocks_by_path.items()
        ]
        for card in study.models:
            shared = {name: scope.scored_parts(card.id, parts) for name, parts in paths.items()}
            made_by = {name: scope.made_by(card.id) | fits.get(name, {}) for name in paths}
            for of_block in zip(*counts_by_path, strict=True):
                for name, (block, row_count) in zip(paths, of_block, strict=True):
                    if block.rows.size:
                        yield Unit(
                            *(self.name, name, card.id, block.number),
                            {PAIRS: block.digest, **shared[name]},
                            made_by=made_by[name],
                            row_count=row_count,
                        )

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Rows of finite trajectories, of the quarantine for others, and of repeated queries."""
        block, study = bench.part.block, bench.task.study
        scores = bench.scores.branches
        keys = {unit.name: unit.key for unit in units if unit.name in scores}
        paths = {name: study.paths[name] for name in keys}
        grids = {name: path.grid(study.grid) for name, path in paths.items()}
        ids = {
            name: [block.pair_ids[row] for row in block.rows_of_types(path.pair_types)]
            for name, path in paths.items()
        }
        trajectories, quarantine = trajectory_rows(keys, ids, grids, scores)
        queries = [scores.branches for scores in bench.queries] if len(bench.queries) > 1 else []
        return {
            "trajectories": trajectories,
            "quarantine": quarantine,
            "repeats": repeat_rows(keys, ids, queries) if queries else REPEATS.schema.empty_table(),
        }

    def group_key(self, unit: Unit) -> Hashable:
        """Group with all paths of the block, since they share states."""
        return unit.model_id, unit.block
