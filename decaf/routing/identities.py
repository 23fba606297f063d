"""Proof that routed numbers add up: conservation and non-negativity.

``route`` and ``profile`` satisfy them by construction. The audits are for numbers that come from
elsewhere or went through a file; population summaries run one on all they average.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ChecksFailed, ResponseError
from decaf.routing.profiles import Profiles
from decaf.routing.route import Components, as_scores

STAGE_TOLERANCE = (1e-12, 1e-10)
"""Absolute, and relative to the magnitude, of one stage."""

INTEGRAL_TOLERANCE = (2e-12, 2e-10)
"""Absolute, and relative to the magnitude, of an integral over stages."""


def audit_components(components: Components, response: ArrayLike) -> None:
    """Check that ``e + c + f = |r|`` at every stage and that no component is negative.

    Parameters
    ----------
    components
        As :func:`decaf.routing.route.route` returns them.
    response
        ``r(t)``, of the components' shape.

    Raises
    ------
    ChecksFailed
        Where an identity does not hold, with the first place; NaN never holds.
    ResponseError
        If the shapes differ, or the response is not finite and real.

    Examples
    --------
    >>> from decaf.routing.route import route
    >>> audit_components(route([0.1, -0.2, 0.3]), [0.1, -0.2, 0.3])
    """
    magnitude = np.abs(as_scores(response))
    shapes = {np.shape(part) for part in components}
    if shapes != {magnitude.shape}:
        raise ResponseError(
            f"components have shapes {sorted(shapes)}; expected the response's {magnitude.shape}"
        )
    _audit_parts("e + c + f = |r|", magnitude, components, STAGE_TOLERANCE)


def audit_profiles(profiles: Profiles) -> None:
    """Check that ``Abs = E + C + F``, and that no component is negative.

    Raises
    ------
    ChecksFailed
        Where an identity does not hold, with the first place; NaN never holds.
    """
    parts = (profiles.evidence, profiles.contradiction, profiles.fragility)
    _audit_parts("Abs = E + C + F", profiles.abs_response, parts, INTEGRAL_TOLERANCE)


def _audit_parts(
    identity: str,
    total: NDArray[np.float64],
    parts: tuple[NDArray[np.float64], ...],
    tolerance: tuple[float, float],
) -> None:
    _check(identity, total - sum(parts), total, tolerance)
    for part in parts:
        _check("components are not negative", np.minimum(part, 0.0), 0.0, tolerance)


def _check(
    identity: str,
    gap: NDArray[np.float64],
    magnitude: NDArray[np.float64] | float,
    tolerance: tuple[float, float],
) -> None:
    absolute, relative = tolerance
    broken = ~(np.abs(gap) <= absolute + relative * np.abs(magnitude))
    if broken.any():
        where = tuple(int(i) for i in np.argwhere(broken)[0])
        raise ChecksFailed(
            f"{identity} does not hold for {np.count_nonzero(broken)} of {broken.size} values, "
            f"the first at {where}, off by {gap[where]:.3g}; route the responses again"
        )
