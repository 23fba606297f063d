"""Units of work of a study's baselines: one model and one method, known by what determines it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from decaf.data.pairs import PairSet
from decaf.errors import DataError
from decaf.evaluation.baselines.base import Baseline
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.strangers import code_of
from decaf.models.card import ModelCard

if TYPE_CHECKING:
    from decaf.plan.study import Study

BASELINE_VERSION = 1
"""Raised whenever the same inputs would give other scores of baselines."""


@dataclass(frozen=True)
class BaselineUnit:
    """One method on one model, over all audited rows."""

    model: ModelCard
    method: str
    """Name of the method in the study."""
    baseline: Baseline
    key: str
    inputs: dict[str, str]


def plan_baselines(study: "Study", pairs: PairSet) -> list[BaselineUnit]:
    """All units of a study, model by model, whether or not they have been made.

    A method is planned for the models that it applies to.

    Raises
    ------
    BadInput
        When the data set has no factual rows, a model has no recipe that says how its context and
        factor are drawn, or a file of a model cannot be used.
    """
    if not study.baselines:
        return []
    if not hasattr(study.data, "factual_rows"):
        raise DataError(
            "'baselines:' explain rows of a table with a context and a factor, which the data set "
            f"{study.data.adapter!r} does not have; leave it out"
        )
    units = []
    for card in study.models:
        methods = {name: one for name, one in study.baselines.items() if one.applies_to(card)}
        if not methods:
            continue
        if not hasattr(getattr(card, "training", None), "fit_without_factor"):
            raise DataError(
                f"model {card.id} has no 'training:' recipe that says how context and factor of "
                "the audited rows are drawn: 'baselines:' cannot explain it; name other 'models:' "
                "or 'families:' there"
            )
        shared = {
            "model_id": card.id,
            "weights": card.weights_digest(study.workspace),
            "feeding": card.feeding_digest,
            "recipe": card.recipe_digest,
            "pairs": pairs.digest,
            "version": str(BASELINE_VERSION),
        }
        for name, baseline in methods.items():
            inputs = {**shared, "name": name, "definition": json_sha256(baseline.identity)}
            inputs |= code_of(card, baseline)
            units.append(BaselineUnit(card, name, baseline, short(json_sha256(inputs)), inputs))
    return units
