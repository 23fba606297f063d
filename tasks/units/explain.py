"""Baselines: scores of a table's factor by other methods, for a whole model."""

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import DataError, ModelError
from decaf.evaluation.baselines.base import CountedProbability, Subject
from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.models.card import ModelCard
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.scope import Scope
from warehouse.tables.declarations import BASELINE_SCORES


class Explain(Kind):
    """One unit for each model and applicable baseline, over all audited rows."""

    name = "explain"
    code = 1
    tables = (BASELINE_SCORES,)

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every model and applicable baseline.

        Raises DataError for data without a context and a factor.
        """
        study = scope.study
        if not study.baselines:
            return
        if not hasattr(study.data, "factual_rows"):
            raise DataError(
                "'baselines:' explain rows of a table with a context and a factor, which the data "
                f"set {study.data.adapter!r} does not have; leave 'baselines:' out"
            )
        for card in study.models:
            for method, baseline in study.baselines.items():
                if not baseline.applies_to(card):
                    continue
                parts = {
                    **scope.models[card.id],
                    "recipe": _recipe_digest(card),
                    "pairs": scope.pairs.digest,
                    "method": method,
                    "definition": json_sha256([baseline.identity, code_of(baseline)]),
                    "components": ",".join(baseline.components),
                    "code": str(self.code),
                }
                yield Unit(
                    self.name,
                    method,
                    card.id,
                    None,
                    parts,
                    made_by=scope.made_by(card.id),
                    row_count=len(baseline.components),
                )

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Compute the numbers of every component, or the reason why it has none.

        Raises ModelError if the model does not return probabilities of two classes.
        """
        (unit,) = units
        study, card = bench.task.study, bench.task.model.card
        baseline, model = study.baselines[unit.name], bench.model
        preparing = time.perf_counter()
        baseline.prepare()
        subject = Subject(
            probability=CountedProbability(_probability(bench, unit.name), bench.task.batch_size),
            rows=study.data.factual_rows(card.training),
            estimator=model.estimator,
            refit_without_factor=card.training.fit_without_factor,
        )
        bench.cost.prepare_seconds = time.perf_counter() - preparing
        bench.restart_processor_clock()
        components = baseline.measure(subject)
        bench.cost.forward_rows = subject.probability.rows
        rows = [
            {"unit_key": unit.key, "method": unit.name, "component": name} | component._asdict()
            for name, component in components.items()
        ]
        return {"baseline_scores": pa.Table.from_pylist(rows, schema=BASELINE_SCORES.schema)}


def _recipe_digest(card: ModelCard) -> str:
    if not hasattr(getattr(card, "training", None), "fit_without_factor"):
        raise DataError(
            f"model {card.id} has no 'training:' recipe that says how context and factor of the "
            "audited rows are drawn, so baselines cannot explain it; leave it out with 'models:' "
            "or 'families:' under 'baselines:'"
        )
    return json_sha256(card.training_parts)


def _probability(bench: Bench, method: str) -> Callable[[NDArray[np.float32]], NDArray[np.float64]]:
    """Function from (n, p) rows to (n,) P(y = 1), with the preprocessing of the audit."""
    model, name = bench.model, bench.task.model.card.id
    if model.output != "probabilities":
        raise ModelError(
            f"model {name} gives a {model.output}, and baseline {method} needs probabilities: use "
            "'method: predict_proba', or leave the model out of it with 'models:' or 'families:'"
        )

    def answer(rows: NDArray[np.float32]) -> NDArray[np.float64]:
        import torch

        outputs = model.outputs(torch.from_numpy(rows))
        if outputs.ndim == 1 or outputs.shape[1] == 1:  # the probability of class 1
            return outputs.reshape(-1).numpy()
        if outputs.shape[1] != 2:
            raise ModelError(
                f"model {name} has {outputs.shape[1]} classes; baseline {method} needs two: leave "
                "the model out of it with 'models:' or 'families:'"
            )
        return outputs[:, 1].numpy()

    return answer
