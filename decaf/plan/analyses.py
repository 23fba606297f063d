"""What a study computes over all its models at the end: matched pairs, probes, and contexts.

Each is one unit of work and of commit, known by the run and by its own parameters.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from decaf.errors import DataError
from decaf.foundation.digests import json_sha256, short
from decaf.studies.covertype.analyses import (
    REPRESENTATIONS,
    check_names,
    context_streams,
    recipes_of,
)

if TYPE_CHECKING:
    from decaf.plan.study import Study

ANALYSIS_VERSION = 1
"""Raised whenever the same units would give other matched pairs or predictions."""

DECAF = ("endpoint_magnitude", "evidence", "contradiction", "fragility")
RESPONSE = ("endpoint_magnitude", "abs_response", "net_response", "sign_flip_frac", "is_active")
PROBE_VERSION = 2
"""Raised whenever the same units would give other probe scores, or less of them were kept."""

METHODS = ("DECAF", "Abs", "M", "Net", "SignFlip")
"""Methods that every benchmark has; spatial ones have the names that the study gives them."""


@dataclass(frozen=True)
class Analysis:
    """One analysis of a run."""

    kind: str
    """Table that it fills; probes fill ``probe_units``, too."""
    key: str
    definition: dict
    """Its parameters."""

    @property
    def text(self) -> str:
        """The parameters as JSON."""
        return json.dumps(self.definition, sort_keys=True)


def definitions(study: "Study") -> dict[str, dict]:
    """Parameters of the analyses of a study by kind.

    None without behaviours, unless the study trains classifiers of Covertype.

    Raises
    ------
    DataError
        When an attribution method, or a baseline, has a name that tables take for another.
    """
    if study.behaviours:
        return _of_sources(study)
    return _of_treatments(study) if recipes_of(study) else {}


def _of_sources(study: "Study") -> dict[str, dict]:
    """Units are sources, whose behaviours are measured.

    The representations are those of the paper (appendix F, cross-architecture comparison). The
    share of stages that oppose the endpoint is undefined on endpoint-null pairs and is 0 there:
    the active flag, which every representation with that share has, tells such a 0 from a real one.
    Representations with spatial scores have no features in a study without attributions.
    """
    # It loads scipy.stats, and most studies have no analyses.
    from decaf.evaluation.probes import PROBES, SEED

    spatial = tuple(sorted(study.attributions))
    if taken := set(spatial) & {*METHODS, *DECAF, *RESPONSE}:
        raise DataError(
            f"'attributions:' names {', '.join(sorted(taken))}, which the benchmark of behaviours "
            "has itself; call the method something else"
        )
    features = {
        "decaf": DECAF,
        "response": RESPONSE,
        "spatial": spatial,
        "decaf_spatial": DECAF + spatial if spatial else (),
        "full": RESPONSE + spatial if spatial else (),
    }
    return {
        "matched_pairs": _matching(),
        "probe_scores": {
            "features": {name: list(columns) for name, columns in features.items()},
            "probes": list(PROBES),
            "seed": SEED,
            "version": PROBE_VERSION,
        },
    }


def _of_treatments(study: "Study") -> dict[str, dict]:
    """Units are models, whose treatments name mechanisms."""
    check_names(study.baselines)
    return {
        "factual_contexts": {
            "streams": [list(stream) for stream in context_streams(study)],
            "version": ANALYSIS_VERSION,
        },
        "matched_pairs": _matching(),
        "probe_predictions": {
            "features": {name: list(columns) for name, columns in REPRESENTATIONS.items()},
            "version": ANALYSIS_VERSION,
        },
    }


def _matching() -> dict:
    from decaf.evaluation.matching import DEFAULT_TOLERANCE

    return {"tolerance": DEFAULT_TOLERANCE, "version": ANALYSIS_VERSION}


def plan_analyses(study: "Study", run_id: str) -> list[Analysis]:
    """All analyses of a run, whether or not they have been made."""
    return [
        Analysis(kind, short(json_sha256([run_id, kind, definition])), definition)
        for kind, definition in definitions(study).items()
    ]
