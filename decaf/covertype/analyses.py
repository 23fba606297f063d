"""What a study of Covertype computes over all its models at the end (paper, appendix H)."""

from typing import TYPE_CHECKING

from decaf.covertype.channels import Treatment

if TYPE_CHECKING:
    from decaf.fitting.covertype_classifier import CovertypeClassifier
    from decaf.study import Study

DECAF = ("endpoint_magnitude", "evidence", "contradiction", "fragility")
TABULAR = (
    "endpoint_magnitude",
    "abs_response",
    "net_response",
    "sign_flip_rate",
    "opposed_mass",
    "native_shap.score",
    "shap_interaction.score",
    "kernel_shap.score",
    "lime.score",
    "global_permutation.score",
    "context_permutation.context_minus",
    "context_permutation.context_plus",
    "pdp_ale.pdp",
    "pdp_ale.ale",
    "retraining.score",
)
"""Summaries of a model that need no routing: fifteen; of a baseline, method and component."""
REPRESENTATIONS = {
    "decaf_probe": DECAF,
    "strong_tabular": TABULAR,
    "combined": tuple(dict.fromkeys((*DECAF, *TABULAR))),
}
"""Features of the supervised references (paper, table 15)."""


def recipes_of(study: "Study") -> "list[CovertypeClassifier]":
    """Recipes of the models that a study of Covertype trains; none for any other study."""
    if getattr(study.data, "adapter", None) != "covertype":
        return []
    recipes = [getattr(card, "training", None) for card in study.models]
    return [one for one in recipes if one is not None and one.recipe == "covertype_classifier"]


def context_streams(study: "Study") -> "dict[tuple[str, int], CovertypeClassifier]":
    """A recipe for every module and seed: what decides which contexts are drawn; sorted."""
    recipes = {
        (Treatment(one.mechanism, one.strength).module, one.seed): one for one in recipes_of(study)
    }
    return dict(sorted(recipes.items()))
