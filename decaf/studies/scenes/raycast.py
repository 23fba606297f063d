"""The geometry and light of the built-in scenes, as weights of their three colours.

A scene's image is linear in its floor, wall and object colours. This module casts the rays of the
other three factors (size, shape, orientation) and returns how much each colour counts in each
pixel; ``decaf.studies.scenes.render`` mixes them. Vectors are (3, …) arrays; the unit of length is
the height of a cube of scale 1.

The object stands at the origin of the floor z = 0, in front of the corner of two walls. A solid is
its signed distance function: hits, normals, soft shadows and the darkening at the floor all follow
from that function.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SCALES = np.linspace(0.75, 1.25, 8)
"""Scale of the object, by size level."""

AZIMUTHS = np.radians(45.0 + np.linspace(-30.0, 30.0, 15))
"""Direction in which the camera looks, by orientation level; 45° is into the corner."""

CAMERA_DISTANCE = 4.4
CAMERA_HEIGHT = 2.1
CAMERA_TARGET = np.array([0.0, 0.0, 0.6])
VIEW_HALF_WIDTH = 0.35
"""Tangent of half the field of view."""

LIGHT = np.array([-3.4, -0.4, 4.4])
LIGHT_HALF_WIDTH = 0.12
"""Tangent of half the angle at which the lamp is seen: the softness of shadows."""
AMBIENT = 0.48
DIFFUSE = 0.52
CONTACT_REACH = 0.45
"""Radius of the darker floor around the object; more than half a shadow's soft edge."""

SUBSAMPLES = 3
"""Rays per pixel along each side."""
MARCH_STEPS = 32
SHADOW_STEPS = 24
_BLOCK_RAYS = 1 << 19

_SURFACES = np.array([2.3, 2.3, 0.0])
"""The room: the walls x = 2.3 and y = 2.3, and the floor z = 0."""
_FLOOR = 2

_Distance = Callable[[np.ndarray], np.ndarray]


class _Rays(NamedTuple):
    """The rays of one camera and their hits behind the object."""

    origin: np.ndarray
    """(3,)"""
    direction: np.ndarray
    """(3, rays), of unit length."""
    point: np.ndarray
    """(3, rays), on the floor or on a wall."""
    surface: np.ndarray
    """(rays,) which of the three: an axis."""
    ambient: np.ndarray
    """(rays,) light from everywhere, as if there were no object."""
    diffuse: np.ndarray
    """(rays,) light from the lamp, as if there were no object."""


def weight_maps(
    size: np.ndarray, shape: np.ndarray, orientation: np.ndarray, pixels: int
) -> np.ndarray:
    """Compute how much each colour counts in each pixel.

    From (n,) levels of size, shape and orientation, for images of ``pixels`` a side: (n, 4, pixels
    * pixels) float64, the weights of the floor, wall and object colours and of white (the
    highlight), none negative, together at most 1. Rows from the top.
    """
    maps = np.empty((len(size), 4, pixels * pixels))
    for level in np.unique(orientation):
        rays = _room_rays(AZIMUTHS[level], pixels * SUBSAMPLES)
        step = max(1, _BLOCK_RAYS // rays.surface.size)
        for kind, (solid, gloss) in enumerate(_SOLIDS):
            chosen = np.flatnonzero((orientation == level) & (shape == kind))
            for start in range(0, len(chosen), step):
                part = chosen[start : start + step]
                samples = _ray_weights(rays, SCALES[size[part]], solid, gloss)
                maps[part] = _pixel_means(samples, pixels)
    return maps


def _pixel_means(samples: np.ndarray, pixels: int) -> np.ndarray:
    rows = samples.reshape(len(samples), 4, pixels, SUBSAMPLES, -1).sum(axis=3)
    columns = sum(rows[..., start::SUBSAMPLES] for start in range(SUBSAMPLES))
    return columns.reshape(len(samples), 4, -1) / SUBSAMPLES**2


def _room_rays(azimuth: float, width: int) -> _Rays:
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    origin = np.array([0.0, 0.0, CAMERA_HEIGHT]) - CAMERA_DISTANCE * ahead
    forward = _unit(CAMERA_TARGET - origin)
    right = np.array([ahead[1], -ahead[0], 0.0])
    up = np.cross(right, forward)
    offset = ((np.arange(width) + 0.5) / width * 2.0 - 1.0) * VIEW_HALF_WIDTH
    across = np.tile(offset, width)
    down = np.repeat(offset, width)
    direction = _unit(_column(forward) + _column(right) * across - _column(up) * down)

    with np.errstate(divide="ignore"):
        reach = _column(_SURFACES - origin) / direction
    reach[reach <= 0] = np.inf
    surface = reach.argmin(axis=0)
    point = _column(origin) + direction * reach.min(axis=0)
    normal = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])[:, surface]
    lambert = np.maximum(_dot(normal, _unit(_column(LIGHT) - point)), 0.0)
    crease = _crease_light(point, surface)
    return _Rays(origin, direction, point, surface, AMBIENT * crease, DIFFUSE * crease * lambert)


def _crease_light(point: np.ndarray, surface: np.ndarray) -> np.ndarray:
    """Darken the lines along which floor and walls meet."""
    gap = np.abs(point - _column(_SURFACES))
    gap[surface, np.arange(surface.size)] = np.inf
    return (1.0 - 0.16 * np.maximum(1.0 - gap / 0.7, 0.0) ** 2).prod(axis=0)


def _ray_weights(rays: _Rays, scale: np.ndarray, solid: _Distance, gloss: float) -> np.ndarray:
    """Put a solid of several scales into the room: (scales, 4, rays)."""
    colour = np.where(rays.surface == _FLOOR, 0, 1)
    samples = np.zeros((len(scale), 4, colour.size))
    samples[:, colour, np.arange(colour.size)] = rays.ambient + rays.diffuse

    row, ray = _near_solid(rays.point, LIGHT, scale, CONTACT_REACH)
    samples[row, colour[ray], ray] = _shaded_room(rays, ray, _scale(solid, scale[row]))

    row, ray = _near_solid(rays.point, rays.origin, scale, 0.0)
    point, is_hit = _march(rays.origin, rays.direction[:, ray], _scale(solid, scale[row]))
    row, ray, point = row[is_hit], ray[is_hit], point[:, is_hit]
    normal = _normals(point, _scale(solid, scale[row]))
    own_light, white = _solid_light(point, normal, -rays.direction[:, ray], gloss)
    samples[row, :, ray] = np.stack(
        [np.zeros_like(own_light), np.zeros_like(own_light), own_light, white], axis=1
    )
    return samples


def _near_solid(
    start: np.ndarray, end: np.ndarray, scale: np.ndarray, margin: float
) -> tuple[np.ndarray, ...]:
    """Find the (scale, ray) pairs whose segment passes within ``margin`` of the solid's ball."""
    centre = 0.6 * scale[:, None]
    radius = 0.95 * scale[:, None] + margin
    along = _column(end) - start
    inward = centre * along[2] - _dot(start, along)
    length2 = _dot(along, along)
    share = np.clip(inward / length2, 0.0, 1.0)
    start2 = _dot(start, start) - 2.0 * centre * start[2] + centre**2
    return np.nonzero(start2 - 2.0 * share * inward + share**2 * length2 < radius**2)


def _shaded_room(rays: _Rays, ray: np.ndarray, distance: _Distance) -> np.ndarray:
    point = rays.point[:, ray]
    contact = 1.0 - 0.5 * np.maximum(1.0 - distance(point) / CONTACT_REACH, 0.0) ** 2
    lamp = _lamp_visibility(point, distance)
    return contact * (rays.ambient[ray] + rays.diffuse[ray] * lamp)


def _lamp_visibility(point: np.ndarray, distance: _Distance) -> np.ndarray:
    """Estimate how much of the lamp a point sees, from the narrowest gap on the way there."""
    direction = _unit(_column(LIGHT) - point)
    travelled = np.full(point.shape[1], 0.02)
    narrowest = np.ones(point.shape[1])
    for _ in range(SHADOW_STEPS):
        gap = distance(point + travelled * direction)
        narrowest = np.minimum(narrowest, gap / (LIGHT_HALF_WIDTH * travelled))
        travelled += np.clip(gap, 0.02, 0.25)
    share = np.maximum(0.5 + 0.5 * narrowest, 0.0)
    return share * share * (3.0 - 2.0 * share)


def _march(
    origin: np.ndarray, direction: np.ndarray, distance: _Distance
) -> tuple[np.ndarray, np.ndarray]:
    """Walk along each ray by the distance to the solid: points reached, and which are on it."""
    point = np.broadcast_to(_column(origin), direction.shape)
    for _ in range(MARCH_STEPS):
        gap = distance(point)
        point = point + gap * direction
    return point, gap < 2e-3


def _solid_light(
    point: np.ndarray, normal: np.ndarray, to_camera: np.ndarray, gloss: float
) -> tuple[np.ndarray, np.ndarray]:
    """Share the light of the object's points between its own colour and white."""
    to_lamp = _unit(_column(LIGHT) - point)
    lambert = np.maximum(_dot(normal, to_lamp), 0.0)
    white = gloss * np.maximum(_dot(normal, _unit(to_lamp + to_camera)), 0.0) ** 40
    return (1.0 - white) * (AMBIENT * (0.8 + 0.2 * normal[2]) + DIFFUSE * lambert), white


def _normals(point: np.ndarray, distance: _Distance) -> np.ndarray:
    steps = 1e-4 * np.eye(3)[..., None]
    return _unit(np.stack([distance(point + step) - distance(point - step) for step in steps]))


def _scale(solid: _Distance, scale: np.ndarray) -> _Distance:
    return lambda point: solid(point / scale) * scale


def _column(vector: np.ndarray) -> np.ndarray:
    return vector[:, None]


def _dot(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left * right).sum(axis=0)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.sqrt(_dot(vector, vector))


def _cube(point: np.ndarray) -> np.ndarray:
    x, y, z = np.abs(point - np.array([[0.0], [0.0], [0.5]])) - 0.5
    outside = np.sqrt(np.maximum(x, 0.0) ** 2 + np.maximum(y, 0.0) ** 2 + np.maximum(z, 0.0) ** 2)
    return outside + np.minimum(np.maximum(np.maximum(x, y), z), 0.0)


def _cylinder(point: np.ndarray) -> np.ndarray:
    r = np.sqrt(point[0] ** 2 + point[1] ** 2) - 0.52
    z = np.abs(point[2] - 0.5) - 0.5
    outside = np.sqrt(np.maximum(r, 0.0) ** 2 + np.maximum(z, 0.0) ** 2)
    return outside + np.minimum(np.maximum(r, z), 0.0)


def _sphere(point: np.ndarray) -> np.ndarray:
    return np.sqrt(point[0] ** 2 + point[1] ** 2 + (point[2] - 0.58) ** 2) - 0.58


def _capsule(point: np.ndarray) -> np.ndarray:
    above = point[2] - np.clip(point[2], 0.38, 0.92)
    return np.sqrt(point[0] ** 2 + point[1] ** 2 + above**2) - 0.38


_SOLIDS = ((_cube, 0.0), (_cylinder, 0.4), (_sphere, 0.6), (_capsule, 0.6))
"""By shape level: the signed distance of (3, n) points at scale 1, and the gloss."""
