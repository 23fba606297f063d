"""Carry out a model's training recipe and keep what it leaves."""

import json
from pathlib import Path

from decaf import architectures
from decaf.models.card import ModelCard
from decaf.models.checkpoint import save

OUTCOME = "decaf.outcome"


def train_model(card: ModelCard, target: Path, device: str) -> None:
    """Train a model by its recipe, unless its checkpoint is there.

    The recipe's seed also draws the initial weights. The checkpoint carries the recipe's outcome
    as JSON in its header.
    """
    if target.exists():
        return
    import torch

    torch.manual_seed(card.training.seed)
    network = architectures.build(card.architecture, card.arguments)
    outcome = card.training.train(network, device)
    save(network, target, {OUTCOME: json.dumps(outcome._asdict())})
