"""Labels of Covertype: the mechanism that a model was trained for (paper, appendix I)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import PairSet
from decaf.errors import DataError
from decaf.evaluation.baselines.base import Baseline
from decaf.evaluation.labels.base import LabelSource, StudyParts
from decaf.studies.covertype.adapters import Covertype
from decaf.studies.covertype.channels import Treatment
from decaf.studies.covertype.recipes import CovertypeClassifier

CODE = 1
"""Raised whenever the same models would give other matched pairs, probes or contexts."""
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
"""Kinds of baselines in the paper's tables, which name methods by their kind."""
REPRESENTATIONS = {
    "decaf_probe": DECAF,
    "strong_tabular": TABULAR,
    "combined": tuple(dict.fromkeys((*DECAF, *TABULAR))),
}
"""Features of the supervised references (paper, table 15)."""
OTHER_METHODS = frozenset(
    ("DECAF", "M", "Abs", "Net", "SignFlip", "OppMass", "permutation", *REPRESENTATIONS)
)
"""Names in the paper's tables of methods that are not baselines of a study."""


class Treatments(LabelSource):
    """The mechanism that each classifier of cover types was trained for."""

    kind: Literal["treatments"] = Field(description="these labels")
    case_kind: ClassVar = "model"
    cases: ClassVar = "core_covertype_outcomes"

    def foregrounds(self, data: Adapter, pairs: PairSet) -> None:
        """Need no image; refuse data of anything but cover types with a DataError."""
        if not isinstance(data, Covertype):
            raise DataError(
                "'labels: {kind: treatments}' is for classifiers of cover types; expected "
                "'data: {adapter: covertype}', or no labels"
            )

    def analyses(self, parts: StudyParts) -> dict[str, dict[str, Any]]:
        """Contexts of the audited rows, matched pairs of models, and supervised references."""
        from decaf.evaluation.matching import DEFAULT_TOLERANCE

        check_names(parts.baselines)
        return {
            "factual_contexts": {
                "streams": [list(stream) for stream in context_streams(parts)],
                "version": CODE,
            },
            "matched_pairs": {"tolerance": DEFAULT_TOLERANCE, "version": CODE},
            "probe_predictions": {
                "features": {name: list(columns) for name, columns in REPRESENTATIONS.items()},
                "version": CODE,
            },
        }

    def rows(self, table: str, parts: StudyParts, pairs: PairSet) -> Mapping[str, NDArray[Any]]:
        """Contexts of each audited row in each stream; each pair of the data is one row."""
        sources = pairs.pairs.sources.to_list()
        streams = context_streams(parts)
        data = cast("Covertype", parts.data)
        rows = [data.factual_rows(recipe) for recipe in streams.values()]
        contexts = [
            model_rows.inputs[:, model_rows.context].astype(np.int64) for model_rows in rows
        ]
        return {
            "module": np.repeat([module for module, _ in streams], len(sources)),
            "seed": np.repeat([seed for _, seed in streams], len(sources)),
            "source_id": np.tile(sources, len(streams)),
            "context": np.concatenate(contexts),
        }


def context_streams(parts: StudyParts) -> dict[tuple[str, int], CovertypeClassifier]:
    """A recipe for every module and seed: what decides which contexts are drawn; sorted.

    Raises DataError when the study trains no classifier of cover types.
    """
    recipes = [getattr(card, "training", None) for card in parts.models]
    classifiers = [recipe for recipe in recipes if isinstance(recipe, CovertypeClassifier)]
    if not classifiers:
        raise DataError(
            "'labels: {kind: treatments}' are of models that the study trains by the recipe "
            "'covertype_classifier', and it has none; leave 'labels:' out"
        )
    streams = {
        (Treatment(recipe.mechanism, recipe.strength).module, recipe.seed): recipe
        for recipe in classifiers
    }
    return dict(sorted(streams.items()))


def check_names(baselines: Mapping[str, Baseline]) -> None:
    """Refuse baselines that the paper's tables would miss, or take for another method.

    They know a baseline by its name, which must be its kind. A second one of a kind may be called
    otherwise: it stands in the tables without a published value, and is no feature of a reference.
    Raises DataError when a name is that of another method, or no baseline of a kind is called as
    it.
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
