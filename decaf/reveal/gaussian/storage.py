"""A Gaussian reference as a safetensors file: written whole, read once per process."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from decaf.errors import DataError, WriteFailed
from decaf.foundation.files import convert_os_errors, file_status, replace_file
from decaf.reveal.gaussian.reference import GaussianReference

ARRAYS = ("mean", "eigenvalues", "eigenvectors", "variances")


def save_reference(reference: GaussianReference, path: Path) -> None:
    """Write a reference whole or not at all; the file of 3,072 dimensions has 76 MB.

    Raises WriteFailed when the disk cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(getattr(reference, name)) for name in ARRAYS}
    metadata = {"shape": json.dumps(reference.shape), "digest": reference.digest}
    try:
        replace_file(path, lambda temporary: save_file(arrays, temporary, metadata))
    except (OSError, SafetensorError) as error:
        raise WriteFailed(
            f"Gaussian reference {path} cannot be written: {error}; free some space, or choose "
            "another folder"
        ) from error


def load_reference(path: Path) -> GaussianReference:
    """Read a reference, once per process while the file stays the same.

    Raises DataError if the file is missing, is not a reference, or is damaged.
    """
    remedy = "fit one with decaf.reveal.gaussian.reference.fit_reference, or leave 'reference:' out"
    with convert_os_errors(DataError, f"Gaussian reference {path} cannot be read", remedy):
        status = file_status(path)
    return _load(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=2)
def _load(path: Path, size: int, modified: int) -> GaussianReference:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in ARRAYS}
            shape = tuple(json.loads(metadata["shape"]))
            expected = metadata["digest"]
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a Gaussian reference ({error}); expected a file of "
            "decaf.reveal.gaussian.storage.save_reference"
        ) from error
    reference = GaussianReference(**arrays, shape=shape)
    if reference.digest != expected:
        raise DataError(
            f"{path} is damaged: its numbers have the digest {reference.digest[:12]}, its header "
            f"says {expected[:12]}; fit it again"
        )
    return reference
