"""Predictions on clean inputs, which are the endpoints of every path."""

from collections.abc import Hashable, Iterator, Sequence

from decaf.plan.units import PAIRS, Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import prediction_rows
from tasks.units.scope import Scope
from warehouse.tables.declarations import PREDICTIONS


class Predict(Kind):
    """One unit for each model and block."""

    name = "predict"
    code = 1
    tables = (PREDICTIONS,)
    is_scanned = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every model and block."""
        for card in scope.study.models:
            made_by = scope.made_by(card.id)
            shared = scope.scored_parts(card.id, {"code": str(self.code)})
            for block in scope.blocks:
                slot = self.name, "", card.id, block.number
                yield Unit(*slot, {PAIRS: block.digest, **shared}, made_by=made_by)

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Rows of score values for every clean input of the block."""
        has_classes = bench.task.study.score.has_classes
        (unit,) = units
        block, clean = bench.part.block, bench.scores.clean
        return {"predictions": prediction_rows(unit.key, block, clean, has_classes)}

    def group_key(self, unit: Unit) -> Hashable:
        """Group with the paths of the block, since one forward pass serves all."""
        return unit.model_id, unit.block
