"""Scenes that models learn from, are chosen by, and are audited with (appendix D, "Dataset").

The support are the scenes with one of the first two shapes: the shapes that all tasks share.
"""

from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from decaf.studies.scenes.factors import FACTOR_COLUMN, SCENE_COUNT, scene_levels

Split = Literal["train", "validation", "test"]

SEED = 20260801
SHARES = (0.7, 0.1, 0.2)
"""Shares of the support, in the order of the splits; the assignment of scenes is our choice."""


@cache
def support() -> NDArray[np.int64]:
    """Numbers of all 240,000 scenes of the support, in their order; read-only."""
    scenes = np.arange(SCENE_COUNT)
    scenes = scenes[scene_levels(scenes)[:, FACTOR_COLUMN["shape"]] < 2]
    scenes.setflags(write=False)
    return scenes


@cache
def split_scenes(split: Split) -> NDArray[np.int64]:
    """Numbers of the scenes of a split, in the order in which studies take them; read-only.

    168,000 to train, 24,000 to validate, 48,000 to test: a random permutation of the support, cut
    into three. A study that takes fewer takes the first.
    """
    shuffled = np.random.default_rng(SEED).permutation(support())
    ends = np.rint(np.cumsum(SHARES)[:-1] * shuffled.size).astype(int)
    part = np.split(shuffled, ends)[get_args(Split).index(split)]
    part.setflags(write=False)
    return part
