"""What a study measures of its models beside their trajectories: behaviours and attributions.

Each is one unit of work and of commit over the block of one shard, known by what determines it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from decaf.data.pairs import ImageSet, PairSet
from decaf.errors import DataError
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.strangers import code_of
from decaf.studies.imagenet9.corruptions import CORRUPTIONS

if TYPE_CHECKING:
    from decaf.plan.shards import Shard
    from decaf.plan.study import Study

MEASUREMENT_VERSION = 1
"""Raised whenever the same inputs would give other measurements."""

Kind = Literal["corruptions", "attributions"]
NULL_PAIR_TYPE = "same_rand"
"""Where a pair of this type shows no endpoint difference, the factual image is corrupted."""
BEHAVIOUR_PAIR_TYPES = {NULL_PAIR_TYPE, "same_next"}
"""Behaviours are told from pairs of both types: contradiction from the second (appendix F)."""
SHARED_INPUTS = ("pairs", "model_id", "weights", "feeding", "score")


@dataclass(frozen=True)
class Measurement:
    """One measurement of one model over one block of pairs."""

    kind: Kind
    name: str
    """Attribution method; empty for corruptions."""
    shard: "Shard"
    key: str
    inputs: dict[str, str]


def foregrounds(study: "Study", pairs: PairSet) -> ImageSet | None:
    """Images of the foreground alone, one for each source in the order of their names.

    None when the study needs none.

    Raises
    ------
    DataError
        When the data set has none, or the study lacks a type of pairs that behaviours need.
    """
    if not study.behaviours:
        return None
    if not hasattr(study.data, "foregrounds"):
        raise DataError(
            f"'behaviours:' needs images of the foreground alone, which the data set "
            f"{study.data.adapter!r} does not have; leave it out"
        )
    known = {pair.pair_type for pair in pairs.pairs}
    if lacking := BEHAVIOUR_PAIR_TYPES - known:
        raise DataError(
            f"'behaviours:' needs pairs of the types {' and '.join(sorted(BEHAVIOUR_PAIR_TYPES))}, "
            f"and the study has none of {' and '.join(sorted(lacking))}: add it to 'pair_types:'"
        )
    return study.foregrounds(pairs)


def plan_measurements(
    study: "Study", shards: Iterable["Shard"], alone: ImageSet | None
) -> list[Measurement]:
    """All measurements of a study, shard by shard, whether or not they have been made.

    Parameters
    ----------
    alone
        The :func:`foregrounds` of the study.
    """
    planned = []
    for shard in shards:
        shared = {name: shard.keys.inputs[name] for name in SHARED_INPUTS}
        shared |= code_of(study.score, shard.model)
        shared["version"] = str(MEASUREMENT_VERSION)
        if alone is not None:
            defined = {
                "null_pair_type": NULL_PAIR_TYPE,
                "epsilon": study.epsilon,
                "corruptions": CORRUPTIONS,
                "foregrounds": alone.digest,
            }
            planned.append(_measurement("corruptions", "", shard, shared, defined))
        planned += [
            _measurement(
                "attributions",
                name,
                shard,
                shared,
                method.model_dump(mode="json") | code_of(method),
            )
            for name, method in study.attributions.items()
        ]
    return planned


def _measurement(
    kind: Kind, name: str, shard: "Shard", shared: dict[str, str], defined: dict
) -> Measurement:
    inputs = {**shared, "kind": kind, "name": name, "definition": json_sha256(defined)}
    return Measurement(kind, name, shard, short(json_sha256(inputs)), inputs)
