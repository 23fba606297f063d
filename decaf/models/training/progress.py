"""State that a stopped training resumes from: weights and optimiser of the last whole epoch."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decaf.errors import ModelError
from decaf.foundation.arrays import Module, Tensor
from decaf.models.checkpoint import load_into, read_metadata, read_tensors, save, save_tensors
from decaf.models.tensor_fit import STUMBLES

if TYPE_CHECKING:
    from torch.optim import Optimizer

RECORDS = "decaf.epochs"


EpochRecord = dict[str, Any]
"""Record of an epoch, by name: ``epoch`` (from 1), ``learning_rate`` (at its end),
``train_loss`` (nats) and ``train_accuracy`` over its batches while the weights move,
``learning_seconds``, ``seconds`` (with measuring), and the measurements of the training."""


class Progress:
    """Weights of the last epoch, or of all, and the optimiser state, in a separate folder.

    The optimiser's file is written last and carries the records of all epochs, so an epoch that
    stopped before it is trained again.
    """

    def __init__(self, folder: Path, holds_all: bool = True) -> None:
        self._folder = folder
        self._holds_all = holds_all

    def weights_file(self, epoch: int) -> Path:
        """Weights after an epoch."""
        return self._folder / f"epoch_{epoch:03d}.safetensors"

    def load(self, network: Module, epoch: int) -> None:
        """Load the weights after an epoch.

        Raises ModelError when they are missing, damaged or another network's.
        """
        with self._restartable():
            load_into(network, self.weights_file(epoch))

    def restore(self, network: Module, optimizer: "Optimizer") -> list[EpochRecord]:
        """Restore network and optimiser after the last whole epoch; return records of all epochs.

        Raises ModelError when a file is missing, damaged or of another training.
        """
        path = self._optimizer_file
        if not path.exists():
            return []
        with self._restartable():
            records = [EpochRecord(each) for each in json.loads(read_metadata(path)[RECORDS])]
            load_into(network, self.weights_file(records[-1]["epoch"]))
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in read_tensors(path).items():
                parameter, _, entry = name.partition(".")
                state.setdefault(int(parameter), {})[entry] = tensor
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        return records

    def store(
        self,
        network: Module,
        optimizer: "Optimizer",
        records: Sequence[EpochRecord],
    ) -> None:
        """Keep the state after an epoch.

        Raises WriteFailed when the disk cannot be written; the epoch before is then still whole.
        """
        save(network, self.weights_file(records[-1]["epoch"]), {})
        tensors = {
            f"{parameter}.{entry}": tensor
            for parameter, entries in optimizer.state_dict()["state"].items()
            for entry, tensor in entries.items()
        }
        save_tensors(tensors, self._optimizer_file, {RECORDS: json.dumps(records)})
        if not self._holds_all:
            self.weights_file(len(records) - 1).unlink(missing_ok=True)

    @contextmanager
    def _restartable(self) -> Iterator[None]:
        """Turn errors about files of this folder into an error that says how to start again."""
        try:
            yield
        # On a damaged file, the reader can fail with any error.
        except (ModelError, *STUMBLES) as error:
            raise ModelError(
                f"the training cannot resume from {self._folder}, where it was stopped "
                f"({type(error).__name__}: {error}). Remove that folder, and it starts again"
            ) from error

    @property
    def _optimizer_file(self) -> Path:
        return self._folder / "optimizer.safetensors"
