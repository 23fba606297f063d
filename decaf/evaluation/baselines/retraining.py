"""Accuracy that a model loses when fitted without the factor; the cost is the refit."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import (
    Baseline,
    Component,
    CountedProbability,
    Subject,
    Undefined,
)


class Retraining(Baseline):
    """Accuracy of the model minus that of a model fitted by its recipe without the factor.

    Fits one model, and predicts n rows with each of the two.
    """

    kind: Literal["retraining"] = Field(description="name of the method")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        if subject.refit_without_factor is None:
            raise Undefined("the model has no recipe to fit it again")
        rows, probability = subject.rows, subject.probability
        refitted = subject.refit_without_factor()
        without = CountedProbability(
            lambda some: refitted.predict_proba(some)[:, 1], probability.batch_size
        )
        refit_accuracy = without.accuracy(np.delete(rows.inputs, rows.factor, axis=1), rows.label)
        drop = probability.accuracy(rows.inputs, rows.label) - refit_accuracy
        probability.rows += without.rows
        return {"score": Component(drop, len(rows.label))}
