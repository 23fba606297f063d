"""Labels of ImageNet-9: behaviours of a model on a foreground, from its predictions."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import InputSet, PairSet
from decaf.errors import DataError
from decaf.evaluation.image_masks import background_mask
from decaf.evaluation.labels.base import LabelSource, StudyParts, Subject, Variants
from decaf.routing.route import is_active
from decaf.studies.imagenet9.corruptions import CORRUPTIONS, corrupt_background

NULL_PAIR_TYPE = "same_rand"
"""Pair type whose factual image is corrupted if the pair has no endpoint difference."""
PAIR_TYPES = {NULL_PAIR_TYPE, "same_next"}
"""Pair types of the behaviours: contradiction comes from the second (appendix F)."""
CODE, PROBE_CODE = 1, 2
"""Raised whenever the same units would give other matched pairs, or other probe scores."""
DECAF = ("endpoint_magnitude", "evidence", "contradiction", "fragility")
RESPONSE = ("endpoint_magnitude", "abs_response", "net_response", "sign_flip_frac", "is_active")
METHODS = ("DECAF", "Abs", "M", "Net", "SignFlip")
"""Methods that every benchmark has; spatial ones have the names that the study gives them."""


class Behaviours(LabelSource):
    """Behaviours of models on foregrounds (appendix F); needs images of only the foreground."""

    kind: Literal["behaviours"] = Field(description="these labels")
    case_kind: ClassVar = "source"
    cases: ClassVar = "core_units"
    variants: ClassVar = tuple(corruption.name for corruption in CORRUPTIONS)

    def foregrounds(self, data: Adapter, pairs: PairSet) -> InputSet:
        """Images of only the foreground."""
        if not hasattr(data, "foregrounds"):
            raise DataError(
                "'labels: {kind: behaviours}' need images of only the foreground, which the data "
                f"set {data.adapter!r} does not have; leave 'labels:' out"
            )
        if missing := PAIR_TYPES - {*pairs.pairs.pair_types.values}:
            raise DataError(
                f"'labels: {{kind: behaviours}}' need pairs of the types "
                f"{' and '.join(sorted(PAIR_TYPES))}, and the study has none of "
                f"{' and '.join(sorted(missing))}: add it to 'pair_types:'"
            )
        return data.foregrounds(pairs)

    def identity(self) -> dict[str, Any]:
        """The corruptions, and the pairs that decide where they are applied."""
        return {"null_pair_type": NULL_PAIR_TYPE, "corruptions": CORRUPTIONS}

    def measure(self, subject: Subject) -> Variants:
        """Score factual images under every corruption where the clean endpoint shows nothing."""
        block = subject.block
        rows = _null_rows(subject)
        values = np.empty((0, len(CORRUPTIONS), 0))
        if rows.size:
            images = subject.images(rows)
            background = background_mask(subject.foregrounds(rows))
            names = [block.source_ids[source] for source in block.source[rows]]
            by_corruption = [
                subject.values(corrupt_background(corruption, images, background, names))
                for corruption in CORRUPTIONS
            ]
            values = np.stack(by_corruption, axis=1)
        image_ids = np.array(block.image_ids)[block.plus[rows]]
        return Variants(image_ids, self.variants, values)

    def analyses(self, parts: StudyParts) -> dict[str, dict[str, Any]]:
        """Matched pairs, and probes on the representations of the paper (appendix F).

        The share of stages that oppose the endpoint is undefined on inactive pairs and is 0 there;
        the active flag, which every representation with that share has, tells such a 0 from a real
        one. Representations with spatial scores have no features in a study without attributions.
        """
        # They load scipy.stats, and most studies have no labels.
        from decaf.evaluation.matching import DEFAULT_TOLERANCE
        from decaf.evaluation.probes import PROBES, SEED

        spatial = tuple(sorted(parts.attributions))
        if claimed_names := set(spatial) & {*METHODS, *DECAF, *RESPONSE}:
            raise DataError(
                f"'attributions:' names {', '.join(sorted(claimed_names))}, which the benchmark of "
                "behaviours has itself; call the method something else"
            )
        features = {
            "decaf": DECAF,
            "response": RESPONSE,
            "spatial": spatial,
            "decaf_spatial": DECAF + spatial if spatial else (),
            "full": RESPONSE + spatial if spatial else (),
        }
        return {
            "matched_pairs": {"tolerance": DEFAULT_TOLERANCE, "version": CODE},
            "probe_scores": {
                "features": {name: list(columns) for name, columns in features.items()},
                "probes": list(PROBES),
                "seed": SEED,
                "version": PROBE_CODE,
            },
        }


def _null_rows(subject: Subject) -> NDArray[np.int64]:
    """Pairs without an endpoint difference; those without finite clean scores are left out."""
    block, clean = subject.block, subject.clean_scores()
    sides = [np.array(block.image_ids)[side] for side in (block.plus, block.minus)]
    is_scored = [
        kind == NULL_PAIR_TYPE and plus in clean and minus in clean
        for kind, plus, minus in zip(block.pair_types, *sides, strict=True)
    ]
    rows = np.flatnonzero(is_scored)
    if not rows.size:
        return rows
    at = np.arange(rows.size), block.class_id[rows]
    plus, minus = (np.array([clean[name] for name in names[rows]])[at] for names in sides)
    return rows[~is_active(plus - minus, subject.epsilon)]
