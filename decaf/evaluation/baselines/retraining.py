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
            raise Undefined(
                "the model has no 'training:', so it cannot be fitted again without the factor"
            )
        rows, probability = subject.rows, subject.probability
        refitted = subject.refit_without_factor()
        refit_probability = CountedProbability(
            lambda inputs: refitted.predict_proba(inputs)[:, 1], probability.batch_size
        )
        refit_accuracy = refit_probability.accuracy(
            np.delete(rows.inputs, rows.factor, axis=1), rows.label
        )
        drop = probability.accuracy(rows.inputs, rows.label) - refit_accuracy
        probability.rows += refit_probability.rows
        return {"score": Component(drop, len(rows.label))}
