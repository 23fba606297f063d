"""The factors of the built-in scenes, their indices and their counterfactual maps.

The scenes have the six factors of 3D Shapes, in the same order and with as many levels, numbered
row-major: the last factor moves fastest.
"""

from typing import NamedTuple

import numpy as np

from decaf.errors import DataError, UnknownName


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
"""The shapes are, by level: cube, cylinder, sphere, capsule."""

FACTOR_COLUMN = {factor.name: column for column, factor in enumerate(FACTORS)}

_CARDINALITIES = np.array([factor.cardinality for factor in FACTORS])
SCENE_COUNT = int(_CARDINALITIES.prod())

_UNDEFINED = -1
_HUE_MAPS: dict[int, tuple[int, ...]] = {
    1: (5, 6, 7, 8, 9, 0, 1, 2, 3, 4),
    2: (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
}
_ORIENTATION_MAP = tuple(14 - level if level != 7 else _UNDEFINED for level in range(15))
_MAPS: dict[str, dict[int, tuple[int, ...]]] = {
    "floor_hue": _HUE_MAPS,
    "wall_hue": _HUE_MAPS,
    "object_hue": _HUE_MAPS,
    "size": {1: (7, 6, 5, 4, 3, 2, 1, 0)},
    "shape": {1: (1, 0, _UNDEFINED, _UNDEFINED)},
    "orientation": {1: _ORIENTATION_MAP},
}


def scene_index(levels: np.ndarray) -> np.ndarray:
    """Number the scenes that have these levels: (n, 6) integers → (n,) int64.

    Levels have one column per factor in the order of ``FACTORS``, numbers lie in
    [0, ``SCENE_COUNT``), n may be 0. Raises DataError for another shape or type, or a level that
    its factor does not have.
    """
    levels = np.asarray(levels)
    if levels.ndim != 2 or levels.shape[1] != len(FACTORS) or levels.dtype.kind not in "iu":
        raise DataError(
            f"scene levels: found {levels.dtype} of shape {levels.shape}, "
            f"expected integers of shape (n, {len(FACTORS)}), one column per factor"
        )
    outside = (levels < 0) | (levels >= _CARDINALITIES)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        factor = FACTORS[column]
        raise DataError(
            f"scene levels: row {row} has {factor.name} {levels[row, column]}, "
            f"expected 0 to {factor.cardinality - 1}"
        )
    return np.ravel_multi_index(tuple(levels.T.astype(np.int64)), _CARDINALITIES)


def scene_levels(index: np.ndarray) -> np.ndarray:
    """Look up the levels of scenes, the inverse of ``scene_index``: (n,) integers → (n, 6) uint8.

    Raises DataError for another shape or type, or an index that no scene has.
    """
    index = np.asarray(index)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise DataError(
            f"scene index: found {index.dtype} of shape {index.shape}, "
            "expected integers of shape (n,)"
        )
    outside = (index < 0) | (index >= SCENE_COUNT)
    if outside.any():
        raise DataError(f"scene index: found {index[outside][0]}, expected 0 to {SCENE_COUNT - 1}")
    return np.stack(np.unravel_index(index.astype(np.int64), _CARDINALITIES), axis=1).astype(
        np.uint8
    )


def has_counterfactual(index: np.ndarray, factor: str, map: int = 1) -> np.ndarray:
    """Tell which scenes the map moves: (n,) bool; parameters and errors of ``counterfactual``."""
    return _mapped_levels(scene_levels(index), factor, map) != _UNDEFINED


def counterfactual(index: np.ndarray, factor: str, map: int = 1) -> np.ndarray:
    """Change exactly one factor of each scene; applied twice, the scene is back.

    (n,) integers in [0, ``SCENE_COUNT``) → (n,) int64 indices of the counterfactual scenes; n may
    be 0. The maps, by level v (paper, appendix "Controlled Experimental Setup", "Dataset and
    factors"):

    * every hue, 1: v + 5 if v < 5, else v - 5; 2: 9 - v. Both swap the bins {0…4} and {5…9};
    * size, 1: 7 - v;
    * shape, 1: cube ↔ cylinder; the other two shapes have no counterfactual;
    * orientation, 1: 14 - v; the middle level 7 has no counterfactual, the map does not move it.

    Raises UnknownName for no such factor, or no such map of it, and DataError when a scene does not
    exist, or the map does not move it (see ``has_counterfactual``).
    """
    levels = scene_levels(index)
    mapped = _mapped_levels(levels, factor, map)
    column = _factor_column(factor)
    if (mapped == _UNDEFINED).any():
        row = np.flatnonzero(mapped == _UNDEFINED)[0]
        raise DataError(
            f"scene {np.asarray(index)[row]} has {factor} {levels[row, column]}, which map {map} "
            "does not move; leave out the scenes for which has_counterfactual is false"
        )
    moved = levels.astype(np.int64)
    moved[:, column] = mapped
    return scene_index(moved)


def _mapped_levels(levels: np.ndarray, factor: str, map: int) -> np.ndarray:
    column = _factor_column(factor)
    if map not in _MAPS[factor]:
        known = [str(number) for number in _MAPS[factor]]
        raise UnknownName.among(f"map of {factor}", str(map), known)
    return np.array(_MAPS[factor][map])[levels[:, column]]


def _factor_column(factor: str) -> int:
    if factor not in FACTOR_COLUMN:
        raise UnknownName.among("factor", factor, list(FACTOR_COLUMN))
    return FACTOR_COLUMN[factor]
