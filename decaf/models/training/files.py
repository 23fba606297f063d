"""Files that trainings leave: final weights, weights of epochs, and an outcome next to each."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from decaf.foundation.files import replace_file


def epoch_file(file: Path, epoch: int) -> Path:
    """File of the weights after an epoch, next to the file of the final weights."""
    return file.with_name(f"{file.stem}.epoch_{epoch:03d}{file.suffix}")


def store_outcome(file: Path, outcome: Mapping[str, Any]) -> None:
    """Write the outcome of a training, which has durations, next to the training's file.

    The file itself is the same, byte for byte, if one machine repeats the training. Raises
    OSError when the disk cannot be written.
    """
    text = json.dumps(dict(outcome))
    replace_file(_outcome_file(file), lambda temporary: temporary.write_text(text))


def read_outcome(file: Path) -> dict[str, Any] | None:
    """Outcome of the training that made a file; None for a file that was not trained here."""
    beside = _outcome_file(file)
    return json.loads(beside.read_text()) if beside.exists() else None


def _outcome_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.outcome.json")
