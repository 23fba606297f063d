"""Shards: the unit of work, of resume and of commit, known by what determines its scores."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decaf import NUMERICS_VERSION
from decaf.digests import file_sha256, json_sha256, short
from decaf.errors import ModelError
from decaf.models.card import ModelCard
from decaf.models.checkpoint import read_metadata
from decaf.pairs import PairSet
from decaf.study import Study

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


def checkpoint_file(study: Study, card: ModelCard) -> Path:
    """Weight file of a model: the given one, or the one its training recipe leaves."""
    if card.weights is not None:
        return card.weights
    name = f"{card.id}-{short(card.recipe_digest)}.safetensors"
    return study.workspace / "checkpoints" / name


def untrained(study: Study) -> list[ModelCard]:
    """Models whose recipe has not made its checkpoint yet."""
    return [
        card for card in study.models if card.training and not checkpoint_file(study, card).exists()
    ]


def weights_digest(study: Study, card: ModelCard) -> str:
    """Digest of a model's weight file.

    Raises
    ------
    ModelError
        When the file is missing, is no safetensors file, or is not the one the card expects.
    """
    path = checkpoint_file(study, card)
    read_metadata(path)
    digest = file_sha256(path)
    if card.sha256 is not None and digest != card.sha256:
        raise ModelError(
            f"model {card.id}: {path} has sha256 {digest}, the configuration expects "
            f"{card.sha256}; get the right file, or correct 'sha256:'"
        )
    return digest


def plan_shards(study: Study, pairs: PairSet) -> list[Shard]:
    """All shards of a study, model by model, whether or not they have been scored.

    Raises
    ------
    ModelError
        When a weight file cannot be used.
    """
    shared = {
        "score": json_sha256(study.score.identity()),
        "paths": json_sha256({k: v.model_dump(mode="json") for k, v in study.paths.items()}),
        "grid": json_sha256(study.grid.tolist()),
        "precision": "float32",
        "numerics": str(NUMERICS_VERSION),
    }
    blocks = [(rows, pairs.block_digest(rows)) for rows in pairs.blocks(study.sources_per_shard)]
    shards = []
    for card in study.models:
        model = {
            "model_id": card.id,
            "weights": weights_digest(study, card),
            "feeding": card.feeding_digest,
        }
        for number, (rows, digest) in enumerate(blocks):
            keys = shard_keys({"pairs": digest, **model, **shared}, study.epsilon)
            shards.append(Shard(card, number, rows, keys, len(rows) * len(study.paths)))
    return shards


def shard_keys(inputs: dict[str, str], epsilon: float) -> ShardKeys:
    """Keys from the named fields and the gate."""
    shard_key = short(json_sha256(inputs))
    routed: list[Any] = [shard_key, epsilon, ROUTING_VERSION]
    return ShardKeys(shard_key, short(json_sha256(routed)), inputs)
