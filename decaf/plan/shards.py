"""Shards: the unit of work, of resume and of commit, known by what determines its scores."""

from dataclasses import dataclass
from typing import Any

from decaf.data.pairs import PairSet
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.strangers import code_of
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.reveal.path import RevealPath

NUMERICS_VERSION = 1
"""Raised whenever the same inputs would give other scores; part of every shard key."""
ROUTING_VERSION = 1
"""Raised whenever profiles change for the same trajectories."""


@dataclass(frozen=True)
class ShardKeys:
    """Identity of one shard.

    ``inputs`` are the named fields behind ``shard_key``: a shard whose fields are equal has equal
    scores, so it is never scored twice. ``epsilon`` enters the profiles' key alone: profiles at
    another gate are routed from stored trajectories.
    """

    shard_key: str
    profile_key: str
    inputs: dict[str, str]


@dataclass(frozen=True)
class Shard:
    """One model and one block of pairs, over all paths of the study."""

    model: ModelCard
    block: int
    rows: tuple[int, ...]
    keys: ShardKeys
    trajectory_count: int


def fitted_paths(study: Study, pairs: PairSet) -> dict[str, RevealPath]:
    """The paths with what they take from the study's clean inputs, kept in the workspace."""
    folder = (study.workspace / "fitted").absolute()
    digest = pairs.image_set.digest
    return {name: path.fitted(folder, digest) for name, path in study.paths.items()}


def untrained(study: Study) -> list[ModelCard]:
    """Models whose recipe has not made its file yet."""
    return [card for card in study.models if card.is_untrained(study.workspace)]


def plan_shards(study: Study, pairs: PairSet) -> list[Shard]:
    """All shards of a study, model by model, whether or not they have been scored.

    Raises
    ------
    BadInput
        When a file of a model cannot be used.
    """
    shared = shared_inputs(study, pairs)
    trajectories = sum(path.repetitions for path in study.paths.values())
    blocks = [(rows, pairs.block_digest(rows)) for rows in pairs.blocks(study.sources_per_shard)]
    shards = []
    for card in study.models:
        model = {
            "model_id": card.id,
            "weights": card.weights_digest(study.workspace),
            "feeding": card.feeding_digest,
        }
        code = code_of(study.score, card, *study.paths.values())
        for number, (rows, digest) in enumerate(blocks):
            keys = shard_keys({"pairs": digest, **model, **shared, **code}, study.epsilon)
            shards.append(Shard(card, number, rows, keys, len(rows) * trajectories))
    return shards


def shared_inputs(study: Study, pairs: PairSet) -> dict[str, str]:
    """The named fields behind the keys of all shards, whatever their model and pairs."""
    inputs, paths = pairs.image_set.digest, study.paths.items()
    return {
        "score": json_sha256(study.score.identity()),
        "paths": json_sha256({name: path.identity(inputs) for name, path in paths}),
        "grid": json_sha256({name: path.grid(study.grid).tolist() for name, path in paths}),
        "numerics": str(NUMERICS_VERSION),
    }


def shard_keys(inputs: dict[str, str], epsilon: float) -> ShardKeys:
    """Keys from the named fields and the gate."""
    shard_key = short(json_sha256(inputs))
    routed: list[Any] = [shard_key, epsilon, ROUTING_VERSION]
    return ShardKeys(shard_key, short(json_sha256(routed)), inputs)
