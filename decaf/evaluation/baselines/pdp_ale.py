"""Interaction of context and factor in partial dependence and in accumulated local effects."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import Baseline, Component, Subject


class PdpAle(Baseline):
    """Effect of the factor on P(y = 1) in the endpoint's context minus that in the other context.

    Partial dependence sets both channels of every row: the double difference of the means of P at
    the four corners, 4 n predicted rows. Local effects leave each row its own context: the mean
    effect of the factor under +1 minus that under -1, 2 n rows. Both are signed; ``mean`` is the
    mean of their absolute values, which the paper's tables use.
    """

    kind: Literal["pdp_ale"] = Field(description="name of the method")

    components: ClassVar[tuple[str, ...]] = ("pdp", "ale", "mean")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rows, probability = subject.rows, subject.probability
        count = len(rows.label)

        def corner(context: int, factor: int) -> float:
            return float(probability(rows.at(context, factor)).mean())

        pdp = (corner(1, 1) - corner(1, -1)) - (corner(-1, 1) - corner(-1, -1))
        components = {"pdp": Component(pdp, count)}
        effect = probability(rows.at(None, 1)) - probability(rows.at(None, -1))
        plus = rows.in_context(1)
        if plus.all() or not plus.any():
            reason = "all rows have one context"
            return components | dict.fromkeys(("ale", "mean"), Component(None, count, reason))
        ale = float(effect[plus].mean() - effect[~plus].mean())
        mean = float(np.mean(np.abs([pdp, ale])))
        return components | {"ale": Component(ale, count), "mean": Component(mean, count)}
