"""Carry out a network's training recipe and keep what it leaves."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from decaf import architectures
from decaf.models.checkpoint import read_metadata, save

if TYPE_CHECKING:
    import torch

    from decaf.sources.network import NetworkCard

OUTCOME = "decaf.outcome"


class TrainingSite(NamedTuple):
    """Where a recipe works, and on what."""

    architecture: str
    """Name of the network's architecture, ``source:name``."""
    device: "torch.device"
    feeding: Callable[["torch.Tensor"], "torch.Tensor"]
    """From inputs in [0, 1] on the device to what the network takes, as in the audit."""
    scratch: Path
    """Folder for what a stopped training goes on from; it goes when the checkpoint is there."""
    target: Path
    """Where the checkpoint will be; a recipe may leave others beside it."""


def train_network(card: "NetworkCard", workspace: Path, device: str) -> None:
    """Train a network by its recipe, unless its checkpoint is there.

    The recipe's seed also draws the initial weights. The checkpoint carries the recipe's outcome
    as JSON in its header.
    """
    target = card.weights_file(workspace)
    if target.exists():
        return
    import torch

    from decaf.models.feeding import Feeding

    place = torch.device(device)
    site = TrainingSite(
        architecture=card.architecture,
        device=place,
        feeding=Feeding(card, place),
        scratch=target.with_suffix(".progress"),
        target=target,
    )
    torch.manual_seed(card.training.seed)
    network = architectures.build(card.architecture, card.arguments)
    outcome = card.training.train(network, site)
    save(network, target, {OUTCOME: json.dumps(outcome._asdict())})
    if site.scratch.exists():
        shutil.rmtree(site.scratch)


def read_outcome(path: Path) -> dict[str, Any] | None:
    """What came out of the training that made a checkpoint; None when it was not made here."""
    return json.loads(read_metadata(path).get(OUTCOME, "null"))
