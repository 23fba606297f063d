"""Population summaries: means over all pairs, over active pairs and over the others."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from decaf.errors import ResponseError
from decaf.routing.identities import audit_profiles
from decaf.routing.profiles import Profiles

_MEANS = (
    "endpoint_magnitude",
    "evidence",
    "contradiction",
    "fragility",
    "abs_response",
    "net_response",
)


class Population(NamedTuple):
    """Means over pairs, score units unless stated (paper, equation 1 and appendix B.5).

    ``E = pi E_active``, ``C = pi C_active`` and ``F = (1 - pi) F_null`` with ``pi`` the active
    rate. A branch without pairs has no mean: NaN.
    """

    pair_count: int
    endpoint_magnitude: float
    evidence: float
    contradiction: float
    fragility: float
    abs_response: float
    net_response: float
    active_rate: float
    """Share of pairs whose endpoint difference reaches the threshold, in [0, 1]."""
    active_evidence: float
    active_contradiction: float
    null_fragility: float


def summarise(batches: Profiles | Iterable[Profiles]) -> Population:
    """Average profiles over all their pairs, of one array or of batches that come one by one.

    Only sums are kept of each batch, so a population may be larger than memory.

    Parameters
    ----------
    batches
        Profiles of any shape, every entry a pair, or an iterable of such profiles.

    Raises
    ------
    ResponseError
        If there is no pair.
    ChecksFailed
        For profiles that break conservation.

    Examples
    --------
    >>> from decaf.routing.profiles import profile
    >>> p = summarise(profile([[0.0, -0.2, 0.4], [0.0, 0.2, 0.0]], [0, 0.5, 1]))
    >>> p.active_rate, round(p.evidence, 12), round(p.active_evidence, 12), p.null_fragility
    (0.5, 0.05, 0.1, 0.1)
    """
    count = active = 0
    sums = np.zeros(len(_MEANS))
    for profiles in [batches] if isinstance(batches, Profiles) else batches:
        audit_profiles(profiles)
        count += profiles.is_endpoint_active.size
        active += int(np.count_nonzero(profiles.is_endpoint_active))
        sums += [np.sum(getattr(profiles, name)) for name in _MEANS]
    if not count:
        raise ResponseError("population has no pair; expected at least one")
    of = dict(zip(_MEANS, sums.tolist(), strict=True))
    return Population(
        pair_count=count,
        **{name: total / count for name, total in of.items()},
        active_rate=active / count,
        active_evidence=of["evidence"] / active if active else np.nan,
        active_contradiction=of["contradiction"] / active if active else np.nan,
        null_fragility=of["fragility"] / (count - active) if count > active else np.nan,
    )
