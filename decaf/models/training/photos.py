"""Load batches of training photos; threads decode the next batch while the network trains."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageOps

from decaf.data.photo_files import CROP, central_crop, read_photo
from decaf.foundation.arrays import Tensor


class Photo(NamedTuple):
    """One labelled image file."""

    path: Path
    class_id: int


class Augmentation(NamedTuple):
    """Random variation of training photos."""

    crop_scale: tuple[float, float]
    """Smallest and largest share of the area that a crop keeps."""
    flip_probability: float


CROP_RATIOS = (3 / 4, 4 / 3)
"""Smallest and largest width over height of random crops, as in torchvision."""


def batches(
    photos: Sequence[Photo], batch_size: int, augmentation: Augmentation | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield batches of pixels and labels; with an augmentation, shuffled, cropped and flipped.

    Pixels are (n, 3, 224, 224) float32 in [0, 1], labels (n,) int64. Order, crops and flips come
    from torch's generator in this thread, so that a seed repeats them for any number of decoding
    threads. Raises DataError when a file is refused.
    """
    import torch

    order = range(len(photos)) if augmentation is None else torch.randperm(len(photos)).tolist()
    photo_batches = [
        [photos[position] for position in order[start : start + batch_size]]
        for start in range(0, len(photos), batch_size)
    ]
    with ThreadPoolExecutor() as pool:
        decoded = _decode(pool, photo_batches[0])
        for number, batch in enumerate(photo_batches):
            images = [future.result() for future in decoded]
            if number + 1 < len(photo_batches):
                decoded = _decode(pool, photo_batches[number + 1])
            if augmentation is None:
                pixels = np.stack(list(pool.map(central_crop, images)))
            else:
                pixels = _augment(pool, images, augmentation)
            tensor = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
            yield tensor, torch.tensor([photo.class_id for photo in batch])


def _decode(pool: ThreadPoolExecutor, batch: Sequence[Photo]) -> list["Future[PillowImage.Image]"]:
    return [pool.submit(read_photo, photo.path) for photo in batch]


def _augment(
    pool: ThreadPoolExecutor, images: list[PillowImage.Image], augmentation: Augmentation
) -> np.ndarray:
    import torch
    from torchvision.transforms import RandomResizedCrop

    boxes = [
        RandomResizedCrop.get_params(image, list(augmentation.crop_scale), list(CROP_RATIOS))
        for image in images
    ]
    flips = (torch.rand(len(images)) < augmentation.flip_probability).tolist()

    def crop_and_flip(
        image: PillowImage.Image, box: tuple[int, int, int, int], flip: bool
    ) -> np.ndarray:
        top, left_edge, height, width = box
        crop = image.resize(
            (CROP, CROP),
            PillowImage.Resampling.BILINEAR,
            box=(left_edge, top, left_edge + width, top + height),
        )
        return np.asarray(ImageOps.mirror(crop) if flip else crop)

    return np.stack(list(pool.map(crop_and_flip, images, boxes, flips)))
