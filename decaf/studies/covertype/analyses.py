"""What a study of Covertype computes over all its models at the end (paper, appendix I)."""

from typing import TYPE_CHECKING

from decaf.errors import DataError
from decaf.studies.covertype.channels import Treatment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from decaf.evaluation.baselines.base import Baseline
    from decaf.plan.study import Study
    from decaf.studies.covertype.recipes import CovertypeClassifier

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
"""Fifteen summaries of a model without E, C and F, though Net is E less C; of a baseline, method
and component."""
BASELINES = frozenset(feature.partition(".")[0] for feature in TABULAR if "." in feature)
"""Kinds of baselines that the paper's tables know, by which they know a method's name."""
REPRESENTATIONS = {
    "decaf_probe": DECAF,
    "strong_tabular": TABULAR,
    "combined": tuple(dict.fromkeys((*DECAF, *TABULAR))),
}
"""Features of the supervised references (paper, table 15)."""
OTHER_METHODS = frozenset(
    ("DECAF", "M", "Abs", "Net", "SignFlip", "OppMass", "permutation", *REPRESENTATIONS)
)
"""What the paper's tables call methods that are no baselines of a study."""


def check_names(baselines: "Mapping[str, Baseline]") -> None:
    """Refuse baselines that the paper's tables would miss, or take for another method.

    They know a baseline by its name, which must be its kind. A second one of a kind may be called
    otherwise: it stands in the tables without a published value, and is no feature of a reference.

    Raises
    ------
    DataError
        When a name is that of another method, or no baseline of a kind is called as it.
    """
    for name, baseline in baselines.items():
        if name in OTHER_METHODS or (name in BASELINES and name != baseline.kind):
            raise DataError(
                f"'baselines:' calls a {baseline.kind} {name!r}, which the paper's tables take for "
                f"another method; call it {baseline.kind!r}"
            )
        if baseline.kind in BASELINES and baseline.kind not in baselines:
            raise DataError(
                f"'baselines:' has a {baseline.kind} called {name!r}, and none of that kind is "
                f"called {baseline.kind!r}: the paper's tables and the strong tabular reference "
                f"would be without it; call it {baseline.kind!r}"
            )


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
