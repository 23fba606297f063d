"""Proof that profiles add up: conservation and non-negativity.

:func:`decaf.routing.profiles.profile` satisfies both by construction. The audit is for numbers that
come from elsewhere or went through a file; population summaries run it on all they average.
"""

import numpy as np

from decaf.errors import ChecksFailed
from decaf.routing.profiles import Profiles

ABSOLUTE, RELATIVE = 2e-12, 2e-10
"""Largest rounding errors of an integral over stages: score units, and a share of Abs."""


def audit_profiles(profiles: Profiles) -> None:
    """Check that ``Abs = E + C + F``, and that no component is negative (paper, appendix C.1).

    Raises ChecksFailed where an identity does not hold, with the first place; NaN never holds.
    """
    total = profiles.abs_response
    parts = (profiles.evidence, profiles.contradiction, profiles.fragility)
    tolerance = ABSOLUTE + RELATIVE * np.abs(total)
    gaps = {"Abs = E + C + F": total - sum(parts), "E, C, F >= 0": np.minimum(np.min(parts, 0), 0)}
    for identity, gap in gaps.items():
        broken = ~(np.abs(gap) <= tolerance)
        if broken.any():
            where = tuple(int(i) for i in np.argwhere(broken)[0])
            raise ChecksFailed(
                f"{identity} does not hold for {np.count_nonzero(broken)} of {broken.size} "
                f"values, the first at {where}, off by {gap[where]:.3g}; route the responses again"
            )
