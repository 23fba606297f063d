"""Pixels, decoded once per data set into a memory-mapped file that all workers share."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decaf.digests import short
from decaf.errors import DataError, WriteFailed
from decaf.files import replace_file
from decaf.pairs import Image, ImageSet

IMAGES_AT_ONCE = 256
REPORTED_FAILURES = 5


def pixel_file(folder: Path, images: ImageSet) -> Path:
    """Where the pixels of a set of images lie: a pure function of their content."""
    return folder / f"{short(images.digest)}.npy"


def open_pixels(path: Path) -> NDArray[np.uint8]:
    """Open (n_images, height, width, 3) uint8 pixels, memory-mapped, read-only."""
    return np.load(path, mmap_mode="r", allow_pickle=False)


def store_pixels(
    folder: Path, images: ImageSet, read_image: Callable[[Image], NDArray[np.uint8]]
) -> Path:
    """Decode every image of the set, unless it has been done before.

    Raises
    ------
    DataError
        When images cannot be decoded (the first few are named), or differ in decoded size.
    WriteFailed
        When the folder takes no more data. Nothing is left behind in either case.
    """
    target = pixel_file(folder, images)
    if target.exists():
        return target
    try:
        replace_file(target, lambda temporary: _decode_all(temporary, images.images, read_image))
    except OSError as error:
        raise WriteFailed(
            f"pixels cannot be stored in {folder}: {error.strerror}; free some space there, or "
            "set 'workspace:' to another folder"
        ) from error
    return target


def _decode_all(
    path: Path, images: tuple[Image, ...], read_image: Callable[[Image], NDArray]
) -> None:
    first = read_image(images[0])
    shape = (len(images), *first.shape)
    store = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    with path.open("r+b") as file:
        # A full disk is an error here; found while writing to the map, it would be a SIGBUS.
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    failures: list[str] = []

    def decode(position: int) -> None:
        image = images[position]
        try:
            pixels = read_image(image)
        except DataError as error:
            failures.append(str(error))
            return
        if pixels.shape != first.shape:
            failures.append(
                f"{image.image_id} decodes to {pixels.shape}; expected {first.shape} as the others"
            )
            return
        store[position] = pixels

    with ThreadPoolExecutor() as pool:
        for start in range(0, len(images), IMAGES_AT_ONCE):
            stop = min(start + IMAGES_AT_ONCE, len(images))
            list(pool.map(decode, range(start, stop)))
    if failures:
        shown = "\n  ".join(sorted(failures)[:REPORTED_FAILURES])
        raise DataError(f"{len(failures)} of {len(images)} images cannot be used:\n  {shown}")
    store.flush()
