"""Carry out a network's training recipe and store its checkpoints and outcomes."""

import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from decaf.errors import WriteFailed
from decaf.foundation.arrays import Device, Module
from decaf.foundation.files import convert_os_errors
from decaf.models import architectures
from decaf.models.checkpoint import save
from decaf.models.preprocessing import Preprocessing
from decaf.models.recipes.base import NetworkRecipe, TrainingSite
from decaf.models.training.files import epoch_file, store_outcome

LOG = logging.getLogger(__name__)


def train_network(
    architecture: str,
    arguments: dict[str, Any],
    recipe: NetworkRecipe,
    preprocessing: Preprocessing,
    device: Device,
    target: Path,
) -> None:
    """Train a network by a recipe, unless its checkpoint ``target`` exists.

    Studies that share a workspace share its checkpoints: while one study trains a network, all
    other studies wait for it. The recipe's seed also draws the initial weights. Checkpoints of the
    epochs that the recipe keeps lie next to ``target`` and are written before it; an outcome lies
    next to each checkpoint.
    """
    import torch

    if target.exists():
        return

    def store(network: Module, file: Path, outcome: Mapping[str, Any]) -> None:
        what = f"checkpoint {file} cannot be written"
        with convert_os_errors(WriteFailed, what, "free some space, or set 'workspace:' elsewhere"):
            store_outcome(file, outcome)
        save(network, file, {})

    def keep(epoch: int, network: Module, measured: Mapping[str, Any]) -> None:
        store(network, epoch_file(target, epoch), measured)

    scratch = target.with_suffix(".progress")
    with _hold_lock(target.with_suffix(".lock"), target.stem):
        if not target.exists():
            _make_folder(scratch)
            torch.manual_seed(recipe.seed)
            network = architectures.build(architecture, arguments)
            site = TrainingSite(architecture, device, preprocessing, scratch, keep)
            outcome = recipe.train(network, site)
            store(network, target, outcome._asdict())
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _hold_lock(file: Path, name: str) -> Iterator[None]:
    """Hold a lock for the length of the block; wait for as long as another process holds it.

    The lock is the operating system's, so it ends with the process that holds it.
    """
    _make_folder(file.parent)
    lock = FileLock(file, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        LOG.warning("%s is being trained by another run, in %s: waiting for it", name, file.parent)
        lock.acquire(poll_interval=1)
    try:
        yield
    finally:
        # Deleted while the lock is held: a waiting process notices and makes a new file.
        file.unlink(missing_ok=True)
        lock.release()


def _make_folder(folder: Path) -> None:
    what = f"{folder} cannot be made; it would hold the state of a running training"
    with convert_os_errors(
        WriteFailed, what, "free some space, or set 'workspace:' to another folder"
    ):
        folder.mkdir(parents=True, exist_ok=True)
