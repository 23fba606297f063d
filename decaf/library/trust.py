"""Checks of the means of an audit: threshold, number of stages, sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.number_text import percent_text
from decaf.foundation.tabular import Columns, Tabular
from decaf.routing.profiles import profile
from decaf.statistics.bootstrap import FEWEST_CLUSTERS, Interval, bootstrap_means

COMPONENTS = ("evidence", "contradiction", "fragility")
MASSES = (*COMPONENTS, "abs_response")
USUAL_CLUSTERS = 20
"""Below `FEWEST_CLUSTERS` an interval is unreliable; below this number it is rough."""

NOISE = 1e-6
"""Largest difference that counts as zero, score units."""
END_COUNT = 2
"""Number of stages of a path that has only its start and end."""


@dataclass(frozen=True)
class Trust(Tabular):
    """Checks of the means of an audit; prints as sentences."""

    path: str
    epsilon: float
    near_frac: float
    """Share of pairs with ``epsilon / 2 <= |d| < 2 epsilon``, by weight."""
    roles: tuple[str, str, str]
    """Main role at half, once and twice the threshold (:func:`group_role`)."""
    abs_response: float
    """Mean Abs, score units, the same at each threshold; below half of ``epsilon`` all three roles
    are ``no response``."""
    stage_count: int
    stage_changes: tuple[Interval, ...]
    """Mean E, C, F and Abs on all stages minus those on every second stage, with intervals, score
    units; empty where the number of stages is even."""
    stage_sizes: tuple[float, ...]
    """Mean over pairs of the absolute change of E, C, F and Abs when every second stage is left
    out, score units; it indicates the error of a single pair."""
    cluster_count: int
    repeats_effect: bool
    """True if each stage shows d or no difference, so that E only repeats M."""

    @property
    def is_firm(self) -> bool:
        """True if the main role is the same at half, once and twice the threshold."""
        return len(set(self.roles)) == 1

    def is_converged(self, tolerance: float | None = None) -> bool | None:
        """True if leaving out every second stage changes no mean by more than a tolerance.

        The whole 95 % interval of each change has to lie within ± the tolerance. The tolerance is
        in score units, a quarter of epsilon when absent. None if the number of stages is even or
        there is one source.
        """
        largest = self._largest_bound
        if np.isnan(largest):
            return None
        return largest <= (self.epsilon / 4 if tolerance is None else tolerance)

    @property
    def _largest_bound(self) -> float:
        """Largest absolute bound of the intervals of the changes; NaN without intervals."""
        bounds = [max(abs(each.lower_95), abs(each.upper_95)) for each in self.stage_changes]
        return max(bounds) if bounds and not np.isnan(bounds).any() else np.nan

    def to_columns(self) -> Columns:
        """Columns with one row for each of E, C, F and Abs.

        They are ``path``, ``metric``, the change with the bounds of its interval, and ``size``.
        Empty if the number of stages is even.
        """
        changes = self.stage_changes
        return {
            "path": np.full(len(changes), self.path),
            "metric": np.array(MASSES[: len(changes)]),
            "stage_change": np.array([each.estimate for each in changes]),
            "lower_95": np.array([each.lower_95 for each in changes]),
            "upper_95": np.array([each.upper_95 for each in changes]),
            "size": np.array(self.stage_sizes),
        }

    def __str__(self) -> str:
        thresholds = (self.epsilon / 2, self.epsilon, 2 * self.epsilon)
        roles = ", ".join(
            f"{role} at {threshold:g}"
            for role, threshold in zip(self.roles, thresholds, strict=True)
        )
        if self.abs_response < thresholds[0]:
            roles = (
                f"none, since the mean response of all pairs, Abs {self.abs_response:.2g}, is "
                f"below half of epsilon, {thresholds[0]:g}"
            )
        lines = [
            f"{percent_text(self.near_frac)} of the pairs, by weight, have |d| near the threshold, "
            f"from {thresholds[0]:g} to {thresholds[2]:g}.",
            f"Main role: {roles}.",
        ]
        if self.stage_changes:
            largest, note = self._largest_bound, "95 % intervals"
            advice = ""
            if np.isnan(largest):
                largest = max(abs(each.estimate) for each in self.stage_changes)
                note = "no intervals, since there is one source"
            elif not self.is_converged() and not self.repeats_effect:
                advice = "; use more stages"
            lines.append(
                f"Leaving out every second of the {self.stage_count} stages changes means by at "
                f"most {largest:.2g} ({note}){advice}."
            )
        else:
            lines.append(
                f"The number of stages, {self.stage_count}, is even, so it cannot be checked: use "
                "an odd number."
            )
        if self.repeats_effect:
            lines.append(
                "Each stage shows the endpoint difference or none: E, C and F of such a path add "
                "nothing to M, so use M alone."
            )
        lines += sample_remarks(self.cluster_count)
        return "\n".join(lines)


def sample_remarks(cluster_count: int) -> list[str]:
    """Sentence on bootstrap intervals from few sources; empty for a usual number.

    >>> sample_remarks(4), sample_remarks(19), sample_remarks(20)
    (['4 sources: intervals are unreliable.'], ['19 sources: intervals are rough.'], [])
    """
    if cluster_count >= USUAL_CLUSTERS:
        return []
    quality = "rough" if cluster_count >= FEWEST_CLUSTERS else "unreliable"
    return [f"{cluster_count} sources: intervals are {quality}."]


def group_role(evidence: float, contradiction: float, fragility: float, smallest: float) -> str:
    """Name the main role of a group of pairs by its mean components, as ``out_thresholds`` does.

    It is the largest component if that is half of Abs or more, else ``mixed``; ``no response`` if
    Abs is below the smallest response that counts. All in score units.

    >>> group_role(0.3, 0.1, 0.1, 0.01), group_role(0.2, 0.2, 0.1, 0.01)
    ('evidence', 'mixed')
    """
    parts = dict(zip(COMPONENTS, (evidence, contradiction, fragility), strict=True))
    abs_response = sum(parts.values())
    if abs_response < smallest:
        return "no response"
    role = max(parts, key=parts.__getitem__)
    return role if 2 * parts[role] >= abs_response else "mixed"


def trust_of(
    response: NDArray[np.float64],
    grid: NDArray[np.float64],
    clusters: NDArray[Any],
    weights: NDArray[np.float64],
    *,
    epsilon: float,
    path: str,
    replicates: int,
    seed: int,
) -> Trust:
    """Check threshold, stages and sample of responses; the model is not called.

    Parameters
    ----------
    response
        (n_pairs, n_repetitions, n_stages) finite responses, score units.
    grid
        (n_stages,) from 0 to 1.
    clusters, weights
        (n_pairs,) as in an :class:`decaf.Audit`.
    """
    magnitude = np.abs(response[:, 0, -1])
    is_near = (magnitude >= epsilon / 2) & (magnitude < 2 * epsilon)
    roles = []
    for factor in (0.5, 1, 2):
        evidence, contradiction, fragility, abs_response = (
            _mean(masses, weights) for masses in _masses(response, grid, factor * epsilon)
        )
        roles.append(group_role(evidence, contradiction, fragility, epsilon / 2))
    changes: list[NDArray[np.float64]] = []
    intervals: list[Interval] = []
    if grid.size % 2 and grid.size > 1:
        fine = _masses(response, grid, epsilon)
        coarse = _masses(response[..., ::2], grid[::2], epsilon)
        changes = [a - b for a, b in zip(fine, coarse, strict=True)]
        intervals = bootstrap_means(
            changes, clusters, replicates=replicates, seed=seed, weights=weights
        )
    return Trust(
        path=path,
        epsilon=epsilon,
        near_frac=_mean(is_near, weights),
        roles=(roles[0], roles[1], roles[2]),
        abs_response=abs_response,
        stage_count=grid.size,
        stage_changes=tuple(intervals),
        stage_sizes=tuple(_mean(np.abs(change), weights) for change in changes),
        cluster_count=len(np.unique(clusters)),
        repeats_effect=_repeats_effect(response),
    )


def _repeats_effect(response: NDArray[np.float64]) -> bool:
    """True if each stage shows the endpoint difference or none, as ``core_repeated_effects``.

    False if there is no stage in between, or no endpoint difference.
    """
    effect = response[..., -1:]
    repeats = (np.abs(response) <= NOISE) | (np.abs(response - effect) <= NOISE)
    has_effect = bool((np.abs(effect) > NOISE).any())
    return has_effect and response.shape[-1] > END_COUNT and bool(repeats.all())


def _masses(
    response: NDArray[np.float64], grid: NDArray[np.float64], epsilon: float
) -> list[NDArray[np.float64]]:
    """E, C, F and Abs of each pair, (n_pairs,), as means over repetitions."""
    profiles = profile(response.reshape(-1, grid.size), grid, epsilon)
    return [getattr(profiles, name).reshape(response.shape[:2]).mean(axis=1) for name in MASSES]


def _mean(values: NDArray[np.float64] | NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights)) if len(values) else np.nan
