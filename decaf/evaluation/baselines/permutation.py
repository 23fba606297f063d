"""Permutation importance of the factor (Breiman, Machine Learning 45, 2001), also by context."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.data.factual import FactualRows
from decaf.evaluation.baselines.base import Baseline, Component, CountedProbability, Subject


class GlobalPermutation(Baseline):
    """Accuracy that is lost when the factor of all rows is shuffled.

    Predicts (1 + repeats) n rows.
    """

    kind: Literal["global_permutation"] = Field(description="name of the method")
    repeats: int = Field(15, gt=0, le=10_000, description="shuffles, whose accuracies are averaged")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        drop = accuracy_drop(subject.probability, subject.rows, self.repeats, rng)
        return {"score": Component(drop, len(subject.rows.label))}


class ContextPermutation(Baseline):
    """Accuracy that is lost when the factor is shuffled among the rows of one context (appendix I).

    One number for the alternate context (-1), one for the endpoint's (+1). Predicts
    (1 + repeats) n rows in all.
    """

    kind: Literal["context_permutation"] = Field(description="name of the method")
    repeats: int = Field(15, gt=0, le=10_000, description="shuffles, whose accuracies are averaged")

    components: ClassVar[tuple[str, ...]] = ("context_minus", "context_plus")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        components = {}
        for name, context in zip(self.components, (-1, 1), strict=True):
            inside = subject.rows.in_context(context)
            some = subject.rows._replace(
                inputs=subject.rows.inputs[inside], label=subject.rows.label[inside]
            )
            if not inside.any():
                components[name] = Component(None, 0, f"no row has the context {context:+d}")
                continue
            drop = accuracy_drop(subject.probability, some, self.repeats, rng)
            components[name] = Component(drop, len(some.label))
        return components


def accuracy_drop(
    probability: CountedProbability, rows: FactualRows, repeats: int, rng: np.random.Generator
) -> float:
    """Accuracy on rows minus the mean accuracy over shuffles of their factor.

    Predicts (1 + repeats) n rows. Negative if shuffles happen to help.
    """
    shuffled = rows.inputs.copy()
    whole = probability.accuracy(rows.inputs, rows.label)
    drops = []
    for _ in range(repeats):
        shuffled[:, rows.factor] = rng.permutation(rows.inputs[:, rows.factor])
        drops.append(whole - probability.accuracy(shuffled, rows.label))
    return float(np.mean(drops))
