"""Attribution methods and baselines of a study against its models."""

from collections.abc import Mapping, Sequence

from decaf.evaluation.attributions.base import AttributionMethod
from decaf.evaluation.baselines.base import Baseline
from decaf.foundation.settings import fault
from decaf.models.card import ModelCard

PROBABILITIES = "predict_proba"
"""Method of an estimator that baselines can explain."""


def check_gradients(
    attributions: Mapping[str, AttributionMethod], models: Sequence[ModelCard]
) -> None:
    """Raise a fault, for pydantic, for a method that takes gradients of a model without them."""
    for name, method in attributions.items():
        for card in models if method.needs_gradients else ():
            if not card.has_gradients:
                raise fault(
                    f"attribution {name} (kind: {method.kind}) takes gradients, and model "
                    f"{card.id} (source: {card.source}) has none; choose a method that needs "
                    "only scores, such as occlusion or rise, or leave out the model",
                    "attributions",
                )


def check_baselines(baselines: Mapping[str, Baseline], models: Sequence[ModelCard]) -> None:
    """Raise a fault, for pydantic, for a baseline that explains no model, or not probabilities."""
    for name, baseline in baselines.items():
        if not any(baseline.applies_to(card) for card in models):
            raise fault(
                f"baseline {name} explains none of the models; correct its 'models:' and "
                "'families:'"
            )
        for card in filter(baseline.applies_to, models):
            if (method := getattr(card, "method", PROBABILITIES)) != PROBABILITIES:
                raise fault(
                    f"baseline {name} needs probabilities, and model {card.id} has 'method: "
                    f"{method}'; use 'method: predict_proba' there, or leave the model out of "
                    "the baseline with 'models:' or 'families:'"
                )
