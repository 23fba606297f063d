"""Carry out a network's training recipe and keep what it leaves."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from decaf import architectures
from decaf.models.checkpoint import read_metadata, save

if TYPE_CHECKING:
    from decaf.sources.network import NetworkCard

OUTCOME = "decaf.outcome"


def train_network(card: "NetworkCard", workspace: Path, device: str) -> None:
    """Train a network by its recipe, unless its checkpoint is there.

    The recipe's seed also draws the initial weights. The checkpoint carries the recipe's outcome
    as JSON in its header.
    """
    target = card.weights_file(workspace)
    if target.exists():
        return
    import torch

    torch.manual_seed(card.training.seed)
    network = architectures.build(card.architecture, card.arguments)
    outcome = card.training.train(network, device)
    save(network, target, {OUTCOME: json.dumps(outcome._asdict())})


def read_outcome(path: Path) -> dict[str, float] | None:
    """What came out of the training that made a checkpoint; None when it was not made here."""
    return json.loads(read_metadata(path).get(OUTCOME, "null"))
