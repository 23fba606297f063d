"""A small file in the layout of ``3dshapes.h5``: all scenes, of which a few have an image."""

import h5py
import numpy as np

from decaf.studies.scenes.factors import SCENE_COUNT, scene_levels
from decaf.studies.scenes.render import render

VALUES = (
    *[np.linspace(0, 0.9, 10)] * 3,
    np.linspace(0.75, 1.25, 8),
    np.arange(4.0),
    np.linspace(-30, 30, 15),
)
"""Of each factor, level by level, as the labels of the original have them."""


def factor_labels():
    """(480000, 6) float64."""
    levels = scene_levels(np.arange(SCENE_COUNT))
    return np.column_stack([own[levels[:, k]] for k, own in enumerate(VALUES)])


def write_shapes3d(path, scenes=(), pixels=None, chunks=(100, 64, 64, 3)):
    """Write a file with images of some scenes, rendered unless they are given; the rest is black.

    Unwritten images take no space: the file has less than 1 MB.
    """
    compressed = {"compression": "gzip"} if chunks else {"fill_time": "never"}
    shape = (SCENE_COUNT, 64, 64, 3)
    with h5py.File(path, "w") as file:
        images = file.create_dataset("images", shape, np.uint8, chunks=chunks, **compressed)
        for place, scene in enumerate(scenes):
            images[scene] = render(np.array([scene]), 64)[0] if pixels is None else pixels[place]
        file.create_dataset("labels", data=factor_labels(), compression="gzip")
    return path
