"""The factors of the built-in scenes, their indices and their counterfactual maps.

The scenes have the six factors of 3D Shapes, in the same order and with as many levels, numbered
row-major: the last factor moves fastest.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import UnknownName


class Factor(NamedTuple):
    """A factor of variation and the number of its levels."""

    name: str
    cardinality: int


FACTORS = (
    Factor("floor_hue", 10),
    Factor("wall_hue", 10),
    Factor("object_hue", 10),
    Factor("size", 8),
    Factor("shape", 4),
    Factor("orientation", 15),
)

FACTOR_COLUMN = {factor.name: column for column, factor in enumerate(FACTORS)}

_CARDINALITIES = np.array([factor.cardinality for factor in FACTORS])
SCENE_COUNT = int(_CARDINALITIES.prod())

_HUES = (
    *("red", "orange", "lime", "green", "mint"),
    *("cyan", "blue", "violet", "magenta", "pink"),
)
"""Number of levels of every hue; they go once around the colour circle."""
_SHAPE_NAMES = ("cube", "cylinder", "sphere", "capsule")
_UNMOVED = -1
_HUE_MAPS = ((5, 6, 7, 8, 9, 0, 1, 2, 3, 4), (9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
_MAPS: dict[str, tuple[tuple[int, ...], ...]] = {
    "floor_hue": _HUE_MAPS,
    "wall_hue": _HUE_MAPS,
    "object_hue": _HUE_MAPS,
    "size": ((7, 6, 5, 4, 3, 2, 1, 0), (4, 5, 6, 7, 0, 1, 2, 3)),
    "shape": ((1, 0, _UNMOVED, _UNMOVED),),
    "orientation": (
        (14, 13, 12, 11, 10, 9, 8, _UNMOVED, 6, 5, 4, 3, 2, 1, 0),
        (7, 8, 9, 10, 11, 12, 13, 0, 1, 2, 3, 4, 5, 6, _UNMOVED),
    ),
}
_FIRST_SEED = 3
"""Numbers of maps from here on are seeds of random matchings."""
_SHAPES = 2
"""Shapes that maps move: those of the first levels."""


def scene_index(levels: np.ndarray) -> np.ndarray:
    """Number the scenes that have these levels: (n, 6) integers → (n,) int64.

    Levels have one column per factor in the order of ``FACTORS``, numbers lie in
    [0, ``SCENE_COUNT``), n may be 0.
    """
    return np.ravel_multi_index(tuple(levels.T.astype(np.int64)), _CARDINALITIES)


def scene_levels(index: np.ndarray) -> np.ndarray:
    """Look up levels of scenes, the inverse of ``scene_index``: (n,) integers → (n, 6) uint8."""
    levels = np.unravel_index(index.astype(np.int64), _CARDINALITIES)
    return np.stack(levels, axis=1).astype(np.uint8)


def change_of(factual: np.ndarray, counterfactual: np.ndarray) -> str:
    """Say in words which factors differ, of the (6,) levels of two scenes.

    >>> change_of(np.array([0, 1, 5, 0, 0, 7]), np.array([0, 6, 5, 0, 1, 7]))
    'orange wall → blue wall, cube → cylinder'
    """
    words = (
        f"{_word(factor, factual_level)} → {_word(factor, counterfactual_level)}"
        for factor, factual_level, counterfactual_level in zip(
            FACTORS, factual, counterfactual, strict=True
        )
        if factual_level != counterfactual_level
    )
    return ", ".join(words)


def _word(factor: Factor, level: int) -> str:
    name, _, is_hue = factor.name.partition("_")
    if is_hue:
        return f"{_HUES[level]} {name}"
    return _SHAPE_NAMES[level] if name == "shape" else f"{name} {level + 1} of {factor.cardinality}"


@cache
def level_map(factor: str, map: int) -> NDArray[np.int64]:
    """Level that each level of a factor becomes, (levels,), or -1 where the map does not move it.

    Every map is an involution: applied twice, it changes nothing. By level v:

    * every hue, 1: v + 5 if v < 5, else v - 5; 2: 9 - v. Both swap the bins {0…4} and {5…9};
    * size, 1: 7 - v; 2: v + 4 if v < 4, else v - 4;
    * shape, 1: cube ↔ cylinder; no map moves the other two;
    * orientation, 1: 14 - v, which does not move 7; 2: v + 7 if v < 7, else v - 7, but for 14.

    A number from 3 on is the seed of a random perfect matching of the levels: neighbours in
    ``default_rng(map).permutation(levels)`` swap, and the last of an odd number stays. Raises
    UnknownName for no such factor, or no such map of it.
    """
    column = _factor_column(factor)
    fixed = _MAPS[factor]
    if map >= _FIRST_SEED:
        count = _SHAPES if factor == "shape" else FACTORS[column].cardinality
        swapped = np.random.default_rng(map).permutation(count)[: count // 2 * 2].reshape(-1, 2)
        levels = np.full(FACTORS[column].cardinality, _UNMOVED)
        levels[swapped] = swapped[:, ::-1]
    elif 1 <= map <= len(fixed):
        levels = np.array(fixed[map - 1])
    else:
        fixed_maps = " and ".join(str(number + 1) for number in range(len(fixed)))
        raise UnknownName(
            f"unknown map {map} of {factor}; there are {fixed_maps}, and any number from "
            f"{_FIRST_SEED} on, the seed of a random matching"
        )
    levels.setflags(write=False)
    return levels


def has_counterfactual(index: np.ndarray, factor: str, map: int = 1) -> np.ndarray:
    """Tell which scenes the map moves: (n,) bool; raises UnknownName as ``level_map`` does."""
    column = _factor_column(factor)
    return level_map(factor, map)[scene_levels(index)[:, column]] != _UNMOVED


def counterfactual(index: np.ndarray, factor: str, map: int = 1) -> np.ndarray:
    """Change exactly one factor of each scene by ``level_map``; applied twice, the scene is back.

    (n,) integers in [0, ``SCENE_COUNT``) → (n,) int64 indices of the counterfactual scenes; n may
    be 0. The map must move every scene (see ``has_counterfactual``). Raises UnknownName for no such
    factor, or no such map of it.
    """
    column = _factor_column(factor)
    levels = scene_levels(index).astype(np.int64)
    levels[:, column] = level_map(factor, map)[levels[:, column]]
    return scene_index(levels)


def _factor_column(factor: str) -> int:
    if factor not in FACTOR_COLUMN:
        raise UnknownName.among("factor", factor, list(FACTOR_COLUMN))
    return FACTOR_COLUMN[factor]
