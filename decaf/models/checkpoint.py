"""Weight files: safetensors only, since nothing is unpickled that others wrote."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from decaf.errors import ModelError, WriteFailed
from decaf.files import replace_file

if TYPE_CHECKING:
    import torch

LONGEST_HEADER = 100_000_000
SHOWN = 4


def read_metadata(path: Path) -> dict[str, str]:
    """Metadata of a safetensors file, from its header alone (no torch).

    Raises
    ------
    ModelError
        When the file is missing, is a pickle, or is not safetensors.
    """
    try:
        with path.open("rb") as file:
            start = file.read(8)
            length = int.from_bytes(start, "little")
            text = file.read(length) if length < LONGEST_HEADER else b""
    except OSError as error:
        raise ModelError(
            f"weight file {path} cannot be read: {error.strerror}; put the checkpoint there, or "
            "correct 'weights:'"
        ) from error
    if start[:4] == b"PK\x03\x04" or start[:1] == b"\x80":
        raise ModelError(
            f"{path} is a pickle (a torch.save file); expected safetensors. Unpickling runs code "
            "that the file brings along: convert it once, where you trust it, with "
            "safetensors.torch.save_file(state_dict, path)"
        )
    try:
        header = json.loads(text)
        return header.get("__metadata__", {})
    except (ValueError, AttributeError) as error:
        raise ModelError(
            f"{path} is not a safetensors file (its header cannot be read); download or convert "
            "the checkpoint again"
        ) from error


def load_into(network: "torch.nn.Module", path: Path) -> None:
    """Load a state dict strictly: every tensor is there, and none is left over.

    Raises
    ------
    ModelError
        Naming the tensors that are missing, left over, or of another shape.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    read_metadata(path)
    try:
        loaded = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} is damaged: {error}; download the checkpoint again") from error
    expected = network.state_dict()
    problems = [
        f"{name} is {list(loaded[name].shape)}, the architecture has {list(expected[name].shape)}"
        for name in expected.keys() & loaded.keys()
        if loaded[name].shape != expected[name].shape
    ]
    problems += [f"{name} is missing" for name in expected.keys() - loaded.keys()]
    problems += [f"{name} is left over" for name in loaded.keys() - expected.keys()]
    if problems:
        shown = "; ".join(sorted(problems)[:SHOWN])
        raise ModelError(
            f"{path} does not fit {type(network).__name__}: {len(problems)} tensors differ "
            f"({shown}); check 'architecture:' and 'arguments:' of the model"
        )
    network.load_state_dict(loaded)


def save(network: "torch.nn.Module", path: Path, metadata: dict[str, str]) -> None:
    """Write a state dict whole or not at all.

    Raises
    ------
    WriteFailed
        When the disk refuses.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    state = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    try:
        replace_file(path, lambda temporary: save_file(state, temporary, metadata))
    except (OSError, SafetensorError) as error:
        raise WriteFailed(
            f"checkpoint {path} cannot be written: {error}; free some space, or set "
            "'workspace:' to another folder"
        ) from error
