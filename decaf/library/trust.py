"""Checks of the means of an audit: threshold, number of stages, paths, control, sample."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, number_of
from decaf.foundation.number_text import percent_text
from decaf.foundation.tabular import Columns, Tabular
from decaf.routing.profiles import profile
from decaf.statistics.bootstrap import (
    FEWEST_CLUSTERS,
    Interval,
    bootstrap_means,
    percentile_interval,
)

Responses = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]
"""(n_pairs,) clusters, weights and Abs, score units."""
NO_RESPONSE = "no response"
COMPONENTS = ("evidence", "contradiction", "fragility")
WITH_ABS = (*COMPONENTS, "abs_response")
USUAL_CLUSTERS = 20
"""Below `FEWEST_CLUSTERS` an interval is unreliable; below this number it is rough."""
MANY_NEAR = 0.1
"""Share of pairs near the threshold from which it is a doubt, as in ``out_doubts``."""

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
    """Mean Abs, score units, the same at each threshold; below ``smallest`` all three roles are
    ``no response``."""
    smallest: float
    """Smallest response that counts, score units: 0.01 for probabilities, else half of epsilon."""
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
    control_response: float | None = None
    """Mean Abs of a control change over common clusters, score units; None without a control."""
    control_difference: Interval | None = None
    """Mean Abs over common clusters minus that of the control, with its paired interval."""

    @property
    def is_firm(self) -> bool:
        """True if the main role is the same at half, once and twice the threshold."""
        return len(set(self.roles)) == 1

    def is_converged(self, tolerance: float | None = None) -> bool | None:
        """True if leaving out every second stage changes no mean by more than a tolerance.

        The whole 95 % interval of each change has to lie within ± the tolerance. The tolerance is
        in score units, half of ``smallest`` when absent. None if the number of stages is even or
        there are fewer than five sources.
        """
        largest = self._largest_bound
        if np.isnan(largest) or self.cluster_count < FEWEST_CLUSTERS:
            return None
        return largest <= (self.smallest / 2 if tolerance is None else tolerance)

    @property
    def _largest_bound(self) -> float:
        """Largest absolute bound of the intervals of the changes; NaN without intervals."""
        bounds = [max(abs(each.lower_95), abs(each.upper_95)) for each in self.stage_changes]
        return max(bounds) if bounds and not np.isnan(bounds).any() else np.nan

    @property
    def reacts_to_any_change(self) -> bool | None:
        """True if there is a response, not surely larger than that to the control.

        None without a control, and with fewer than five common clusters.
        """
        difference = self.control_difference
        if difference is None or difference.cluster_count < FEWEST_CLUSTERS:
            return None
        return difference.lower_95 <= 0 and self.roles[1] != NO_RESPONSE

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on what could change the means; empty if all checks are passed."""
        return tuple(sentence for is_doubt, sentence in self._checks() if is_doubt)

    def to_columns(self) -> Columns:
        """Columns with one row for each of E, C, F and Abs.

        They are ``path``, ``metric``, the change with the bounds of its interval, and ``size``,
        which are NaN if the number of stages is even; then ``near_frac`` and the main role
        ``role_half``, ``role`` and ``role_double`` at half, once and twice the threshold.
        """
        count = len(WITH_ABS)
        undefined = percentile_interval(np.nan, [], 0)
        changes = self.stage_changes or (undefined,) * count
        roles = zip(("role_half", "role", "role_double"), self.roles, strict=True)
        return {
            "path": np.full(count, self.path),
            "metric": np.array(WITH_ABS),
            "stage_change": np.array([each.estimate for each in changes]),
            "lower_95": np.array([each.lower_95 for each in changes]),
            "upper_95": np.array([each.upper_95 for each in changes]),
            "size": np.array(self.stage_sizes or (np.nan,) * count),
            "near_frac": np.full(count, self.near_frac),
            **{name: np.full(count, role) for name, role in roles},
        }

    def __str__(self) -> str:
        return "\n".join(sentence for _, sentence in self._checks())

    def _checks(self) -> Iterator[tuple[bool, str]]:
        """Yield for each check whether it is a doubt, and its sentence."""
        half, double = self.epsilon / 2, 2 * self.epsilon
        yield (
            self.near_frac >= MANY_NEAR,
            f"{percent_text(self.near_frac)} of the pairs, by weight, have |d| near the threshold, "
            f"from {half:g} to {double:g}.",
        )
        named = zip(self.roles, (half, self.epsilon, double), strict=True)
        roles = ", ".join(f"{role} at {threshold:g}" for role, threshold in named)
        if self.abs_response < self.smallest:
            roles = (
                f"none, since the mean response of all pairs, Abs {self.abs_response:.2g}, is "
                f"below {self.smallest:g}, the smallest that counts"
            )
        yield not self.is_firm, f"Main role: {roles}."
        yield self._check_of_stages()
        if self.repeats_effect:
            yield (
                True,
                "Each stage shows the endpoint difference or none: E, C and F of such a path add "
                "nothing to M, so use M alone.",
            )
        if self.control_difference is not None:
            yield bool(self.reacts_to_any_change), self._words_on_control(self.control_difference)
        for remark in sample_remarks(self.cluster_count):
            yield True, remark

    def _check_of_stages(self) -> tuple[bool, str]:
        if not self.stage_changes:
            return False, (
                f"{self.stage_count} stages are an even number, so leaving out every second stage "
                "is impossible: use an odd number."
            )
        largest, note = self._largest_bound, "95 % intervals"
        is_doubt = self.is_converged() is False and not self.repeats_effect
        if np.isnan(largest):
            largest = max(abs(each.estimate) for each in self.stage_changes)
            note = "no intervals, since there is one source"
        return is_doubt, (
            f"Leaving out every second of the {self.stage_count} stages changes means by at "
            f"most {largest:.2g} ({note}){'; use more stages' if is_doubt else ''}."
        )

    def _words_on_control(self, difference: Interval) -> str:
        bounds = f" [{difference.lower_95:.2g}, {difference.upper_95:.2g}]"
        words = (
            f"Abs minus Abs of the control ({self.control_response:.2g}) is "
            f"{difference.estimate:.2g}{'' if np.isnan(difference.lower_95) else bounds} on "
            f"{number_of(difference.cluster_count, 'common source')}"
        )
        if self.reacts_to_any_change:
            return f"{words}: the score may react to any change, or the control may matter."
        return f"{words}."


def sample_remarks(cluster_count: int) -> list[str]:
    """Sentence on bootstrap intervals from few sources; empty for a usual number.

    >>> sample_remarks(1), sample_remarks(19), sample_remarks(20)
    (['1 source: intervals are unreliable.'], ['19 sources: intervals are rough.'], [])
    """
    if cluster_count >= USUAL_CLUSTERS:
        return []
    quality = "rough" if cluster_count >= FEWEST_CLUSTERS else "unreliable"
    return [f"{number_of(cluster_count, 'source')}: intervals are {quality}."]


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
        return NO_RESPONSE
    role = max(parts, key=parts.__getitem__)
    return role if 2 * parts[role] >= abs_response else "mixed"


def trust_of(
    response: NDArray[np.float64],
    grid: NDArray[np.float64],
    clusters: NDArray[Any],
    weights: NDArray[np.float64],
    *,
    epsilon: float,
    smallest: float,
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
    smallest
        Smallest response that counts, score units.
    """
    magnitude = np.abs(response[:, 0, -1])
    is_near = (magnitude >= epsilon / 2) & (magnitude < 2 * epsilon)
    roles = []
    for factor in (0.5, 1, 2):
        evidence, contradiction, fragility, abs_response = (
            _mean(masses, weights) for masses in _masses(response, grid, factor * epsilon)
        )
        roles.append(group_role(evidence, contradiction, fragility, smallest))
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
        smallest=smallest,
        near_frac=_mean(is_near, weights),
        roles=(roles[0], roles[1], roles[2]),
        abs_response=abs_response,
        stage_count=grid.size,
        stage_changes=tuple(intervals),
        stage_sizes=tuple(_mean(np.abs(change), weights) for change in changes),
        cluster_count=len(np.unique(clusters)),
        repeats_effect=_repeats_effect(response),
    )


def compare_with_control(
    trust: Trust, audited: Responses, control: Responses, replicates: int, seed: int
) -> Trust:
    """Add the difference to a control change over common clusters, as ``out_controls`` does.

    A difference counts with the weight of the cluster in the audit. Raises DataError when the
    clusters have no label in common.
    """
    labels, responses, weights = _means_of_clusters(*audited)
    control_labels, control_responses, _ = _means_of_clusters(*control)
    common, at, at_control = np.intersect1d(labels, control_labels, return_indices=True)
    if not common.size:
        raise DataError(
            f"none of the {number_of(labels.size, 'cluster')} has a pair of the control; give "
            "both audits the same labels as clusters="
        )
    of_control, weights = control_responses[at_control], weights[at]
    (difference,) = bootstrap_means(
        [responses[at] - of_control], replicates=replicates, seed=seed, weights=weights
    )
    return replace(
        trust, control_response=_mean(of_control, weights), control_difference=difference
    )


def _means_of_clusters(
    clusters: NDArray[Any], weights: NDArray[np.float64], responses: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """(n_clusters,) labels, weighted mean responses and sums of weights."""
    labels, position = np.unique(clusters, return_inverse=True)
    totals = np.bincount(position, weights).astype(np.float64)
    return labels, np.bincount(position, responses * weights) / totals, totals


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
    return [getattr(profiles, name).reshape(response.shape[:2]).mean(axis=1) for name in WITH_ABS]


def _mean(values: NDArray[np.float64] | NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights)) if len(values) else np.nan
