"""Scores of changed images, from which the study's labels are computed (paper, appendix F)."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.evaluation.labels.base import Variants
from decaf.foundation.arrays import Tensor
from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import corruption_rows
from tasks.units.scope import Scope, of_kind
from warehouse.tables.declarations import CORRUPTIONS


class Corrupt(Kind):
    """One unit for each model and block, in a study whose labels need changed images."""

    name = "corrupt"
    code = 1
    tables = (CORRUPTIONS,)

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every unit of predictions, which decide the changes."""
        study = scope.study
        if study.labels is None or not study.labels.variants:
            return
        images = scope.foregrounds and scope.foregrounds.digest
        definition = [study.labels.identity(), images, code_of(study.labels)]
        parts = {
            "definition": json_sha256(definition),
            "epsilon": repr(study.epsilon),
            "code": str(self.code),
        }
        for predicted in of_kind(planned, "predict"):
            yield Unit(
                self.name, "", predicted.model_id, predicted.block, parts, needs=(predicted,)
            )

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Score values of the changed images."""
        (unit,) = units

        def measure(batch_size: int) -> Variants:
            return bench.task.study.labels.measure(_Subject(bench, unit, batch_size))

        variants = bench.compute_within_memory(measure)
        images, names, _ = variants.values.shape
        bench.cost.item_count, bench.cost.forward_rows = images, images * names
        return {"corruptions": corruption_rows(unit.key, *variants)}


class _Subject:
    """Model and block of a task, with the interface that sources of labels use."""

    def __init__(self, bench: Bench, unit: Unit, batch_size: int) -> None:
        self.block, self.epsilon = bench.part.block, bench.task.study.epsilon
        self._bench, self._unit, self._batch_size = bench, unit, batch_size

    def clean_scores(self) -> dict[str, NDArray[np.float64]]:
        stored = self._bench.rows_of(self._unit.needs[0], "predictions")
        if stored is None:
            return {}
        scores = (np.array(values) for values in stored["class_scores"].to_pylist())
        return dict(zip(stored["image_id"].to_pylist(), scores, strict=True))

    def images(self, rows: NDArray[np.int64]) -> Tensor:
        return self._bench.images(self.block.input_positions[self.block.plus[rows]])

    def foregrounds(self, rows: NDArray[np.int64]) -> Tensor:
        return self._bench.foregrounds(self.block.source[rows])

    def values(self, images: Tensor) -> NDArray[np.float64]:
        return self._bench.score_values(images, self._batch_size)
