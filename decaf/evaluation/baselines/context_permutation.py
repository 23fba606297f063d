"""Permutation importance of the factor inside each context (paper, appendix I)."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import Baseline, Component, Subject
from decaf.evaluation.baselines.global_permutation import accuracy_drop


class ContextPermutation(Baseline):
    """Accuracy that is lost when the factor is shuffled among the rows of one context.

    One number for the alternate context (-1), one for the endpoint's (+1). Predicts
    (1 + repeats) n rows in all.
    """

    kind: Literal["context_permutation"] = Field(description="this method")
    repeats: int = Field(15, gt=0, description="shuffles, whose accuracies are averaged")

    components: ClassVar[tuple[str, ...]] = ("context_minus", "context_plus")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        found = {}
        for name, context in zip(self.components, (-1, 1), strict=True):
            inside = subject.rows.in_context(context)
            some = subject.rows._replace(
                inputs=subject.rows.inputs[inside], label=subject.rows.label[inside]
            )
            if not inside.any():
                found[name] = Component(None, 0, f"no row has the context {context:+d}")
                continue
            drop = accuracy_drop(subject.probability, some, self.repeats, rng)
            found[name] = Component(drop, len(some.label))
        return found
