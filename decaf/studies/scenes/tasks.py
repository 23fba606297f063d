"""The two-class tasks of the controlled suite, with the labels of scenes (appendix D).

A is the bin of the object's hue, G that of the wall, H the shape; the bin of a hue is 1 from level
5 on. All tasks are defined where the shape is 0 or 1.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from decaf.studies.scenes.factors import FACTOR_COLUMN, scene_levels

Task = Literal[
    "object_color",
    "wall_color",
    "object_shape",
    "color_shape_xor",
    "context_gate",
    "context_invert",
]
Bins = NDArray[np.int64]

_RULES: dict[str, Callable[[Bins, Bins, Bins], Bins]] = {
    "object_color": lambda a, g, h: a,
    "wall_color": lambda a, g, h: g,
    "object_shape": lambda a, g, h: h,
    "color_shape_xor": lambda a, g, h: a ^ h,
    # At a wall bin of 1, both labels are the object's colour: Gate and Invert of the paper.
    "context_gate": lambda a, g, h: np.where(g == 1, a, h),
    "context_invert": lambda a, g, h: np.where(g == 1, a, 1 - a),
}

CLASSES: dict[Task | None, tuple[str, ...]] = {
    "object_color": ("object red to mint", "object cyan to pink"),
    "wall_color": ("wall red to mint", "wall cyan to pink"),
    "object_shape": ("cube", "cylinder"),
}
"""Names of classes 0 and 1, for tasks that have words for them."""


def bins(levels: NDArray[np.integer]) -> NDArray[np.int64]:
    """A, G and H of scenes: (n, 6) levels → (n, 3) zeros and ones, and other shapes as they are."""
    hues = [FACTOR_COLUMN["object_hue"], FACTOR_COLUMN["wall_hue"]]
    shape = levels[:, FACTOR_COLUMN["shape"]]
    return np.column_stack([levels[:, hues] >= 5, shape]).astype(np.int64)


def labels(task: Task, levels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Labels of scenes under a task: (n, 6) levels with shapes 0 and 1 → (n,) zeros and ones.

    Direct of the contradiction benchmark is ``object_color``. The paper's colour decision whose
    active factor depends on the wall is ``context_gate``; the shape as its other factor is our
    reading.
    """
    return _RULES[task](*bins(levels).T)


def balance_labels(scenes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The first scenes of each of the 8 combinations of A, G and H, ``count`` together.

    Numbers of scenes with shapes 0 and 1, in the given order; ``count`` is a multiple of 8, of
    which each combination must have its share.
    """
    cells = bins(scene_levels(scenes)) @ [4, 2, 1]
    positions = [np.flatnonzero(cells == cell)[: count // 8] for cell in range(8)]
    return scenes[np.sort(np.concatenate(positions))]
