"""Read the pixels of scenes from decaf's renderer, or from the file of 3D Shapes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError
from decaf.foundation.digests import file_sha256
from decaf.foundation.extras import Installed, optional
from decaf.foundation.files import convert_os_errors, file_status
from decaf.foundation.settings import PlacedPath
from decaf.studies.scenes.factors import FACTORS, SCENE_COUNT, scene_index, scene_levels
from decaf.studies.scenes.render import render

if TYPE_CHECKING:
    import h5py

SIZE = 32
RENDERER = "scenes 1 at 32"
"""Names the renderer's pixels; changes when a change to it changes them."""
HALVED = "3D Shapes 1 at 32"
"""Version of the conversion of a file's pixels; raise it if ``_halve`` changes pixels."""
OFFICIAL_BYTES = 267_573_662
OFFICIAL_SHA256 = "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785"
LAYOUT = {
    "images": (np.dtype(np.uint8), (SCENE_COUNT, 2 * SIZE, 2 * SIZE, 3)),
    "labels": (np.dtype(np.float64), (SCENE_COUNT, len(FACTORS))),
}
"""Types and shapes of the arrays in a file."""
REMEDY = (
    f"expected 3dshapes.h5 as it was published, {OFFICIAL_BYTES:,} bytes: get it again, or set "
    "'images: rendered'"
)
UNCHUNKED_ROWS = 1024
"""Scenes that are read at once from a file without chunks."""

SceneImages = Literal["rendered"] | PlacedPath
"""``images:`` of data and recipes."""


def read_scenes(images: SceneImages, index: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Images of scenes: (n,) numbers in any order → (n, 32, 32, 3) uint8 RGB; n may be 0.

    Pixels of a file are averages of 2 × 2 of its own, rounded half to even. A file is opened for
    each call, so any number of processes may ask. Ask for many scenes at once: an image may lie in
    hundreds of compressed chunks, each shared by thousands of scenes. Raises DataError when the
    file cannot be used, and MissingPackage without h5py.
    """
    if images == "rendered":
        return render(index, size=SIZE)
    _usable_sha256(images)
    order = np.argsort(index)
    numbers = np.asarray(index)[order]
    scenes = np.empty((numbers.size, SIZE, SIZE, 3), np.uint8)
    with _open_file(images) as file:
        stored = file["images"]
        step = stored.chunks[0] if stored.chunks else UNCHUNKED_ROWS
        for start in (np.unique(numbers // step) * step).tolist():
            part = slice(*np.searchsorted(numbers, [start, start + step]))
            rows = _rows(stored, slice(start, min(start + step, SCENE_COUNT)), numbers[part])
            scenes[order[part]] = _halve(rows)
    return scenes


def identity(images: SceneImages) -> str:
    """Identity of the pixels: the renderer's name, or the digest of the file's content.

    Errors are those of ``read_scenes``, except for errors in the pixels.
    """
    return RENDERER if images == "rendered" else f"{HALVED}, {_usable_sha256(images)}"


def remark(images: SceneImages) -> str:
    """Describe the images of the results; raises the errors of ``identity``."""
    if images == "rendered":
        return "images: decaf's renderer, not 3D Shapes"
    digest = _usable_sha256(images)
    if digest == OFFICIAL_SHA256:
        return "images: 3D Shapes, the official file"
    return f"images: {images.name} of sha256 {digest}, not the official file of 3D Shapes"


def _usable_sha256(path: Path) -> str:
    """Digest of a file of scenes: the official one, or another in its layout, of another size."""
    Installed("h5py")()
    with convert_os_errors(DataError, f"the scenes in {path} cannot be read", REMEDY):
        size = file_status(path).st_size
        digest = file_sha256(path)
    if digest != OFFICIAL_SHA256 and size == OFFICIAL_BYTES:
        raise DataError(
            f"{path} has the size of 3dshapes.h5 and another content: sha256 {digest}, expected "
            f"{OFFICIAL_SHA256}; it is damaged: get it again, or set 'images: rendered'"
        )
    if digest != OFFICIAL_SHA256:
        _check_layout(path, digest)
    return digest


@cache
def _check_layout(path: Path, digest: str) -> None:
    """Check that a file which is not the official one has every scene in its place."""
    import h5py

    with _open_file(path) as file:
        for name, (dtype, shape) in LAYOUT.items():
            is_own = isinstance(file.get(name, getlink=True), h5py.HardLink)
            held = file[name] if is_own else None
            # The content of external files is neither digested nor checked.
            if not isinstance(held, h5py.Dataset) or held.external or held.is_virtual:
                raise DataError(f"{path} holds no array {name!r}; {REMEDY}")
            if (held.dtype, held.shape) != (dtype, shape):
                raise DataError(
                    f"{name!r} of {path} is {held.dtype} {held.shape}, expected {dtype} {shape}; "
                    f"{REMEDY}"
                )
        labels = file["labels"][:]
    levels = scene_levels(np.arange(SCENE_COUNT))
    for column, factor in enumerate(FACTORS):
        alone = np.zeros((factor.cardinality, len(FACTORS)), int)
        alone[:, column] = np.arange(factor.cardinality)
        values = labels[scene_index(alone), column]
        astray = np.flatnonzero(labels[:, column] != values[levels[:, column]])
        if astray.size or not (np.diff(values) > 0).all():
            row = astray[0] if astray.size else 0
            raise DataError(
                f"'labels' of {path}: row {row + 1} has {factor.name} {labels[row, column]}; "
                "expected all products of the levels, the last factor fastest, each level above "
                f"the one before it; {REMEDY}"
            )


@contextmanager
def _open_file(path: Path) -> "Iterator[h5py.File]":
    with optional():
        import h5py
    problem = f"the scenes in {path} ({path.stat().st_size:,} bytes) cannot be read"
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except (OSError, KeyError, RuntimeError) as error:
        raise DataError(f"{problem}: {error}; {REMEDY}") from error


def _rows(stored: "h5py.Dataset", span: slice, own: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Some rows of a span that has one chunk at most along the first axis: (n, 64, 64, 3).

    Chunk by chunk, since HDF5 takes ten times as long to put many small ones together.
    """
    rows = np.empty((own.size, *stored.shape[1:]), np.uint8)
    whole = (span, *map(slice, stored.shape[1:]))
    for piece in stored.iter_chunks(whole) if stored.chunks else [whole]:
        rows[(slice(None), *piece[1:])] = stored[piece][own - span.start]
    return rows


def _halve(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Averages of 2 × 2 pixels: (n, 64, 64, 3) → (n, 32, 32, 3), rounded half to even."""
    sums = np.zeros((len(pixels), SIZE, SIZE, 3), np.float32)
    for row, column in np.ndindex(2, 2):
        sums += pixels[:, row::2, column::2]
    return np.rint(sums / 4).astype(np.uint8)
