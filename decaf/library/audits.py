"""Result of an audit: trajectories, their profiles at any threshold, means with intervals."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, ResponseError, UnknownName
from decaf.foundation.tabular import Columns, Tabular
from decaf.library.curve import smallest_response
from decaf.library.pair_card import PairCard
from decaf.library.remarks import DataWarning, remark_on_epsilon
from decaf.library.summary import METRICS, Summary
from decaf.library.trust import (
    Responses,
    Trust,
    compare_with_control,
    sample_remarks,
    trust_of,
)
from decaf.routing.profiles import Profiles, profile
from decaf.routing.route import check_epsilon, check_probability_epsilon
from decaf.statistics.bootstrap import bootstrap_means
from decaf.statistics.draws import DEFAULT_REPLICATES, DEFAULT_SEED

if TYPE_CHECKING:
    import altair as alt


class PairProfiles(Profiles):
    """Profiles whose table names the pair of each row."""

    pairs: Columns

    def _replace(self, **changed: Any) -> "PairProfiles":
        """Profiles of the same pairs with some quantities replaced."""
        copy: PairProfiles = super()._replace(**changed)
        copy.pairs = self.pairs
        return copy

    def to_columns(self) -> Columns:
        """One row a pair: the columns of :meth:`Audit.pair_columns`, then every quantity."""
        return self.pairs | self.columns()


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Tabular):
    """Trajectories of pairs along one reveal path, and the threshold they are routed with.

    Arrays keep the order of the inputs; pairs without finite scores keep their place.
    """

    ids: tuple[str, ...]
    """(n_pairs,) names; ``input/feature`` where features were removed."""
    grid: NDArray[np.float64]
    """(n_stages,) from 0 to 1."""
    q_plus: NDArray[np.float64]
    """(n_pairs, n_repetitions, n_stages) scores of the factual branch."""
    q_minus: NDArray[np.float64]
    """(n_pairs, n_repetitions, n_stages) scores of the counterfactual branch."""
    epsilon: float
    clusters: NDArray[Any]
    """(n_pairs,) labels of sources: intervals draw all pairs of a source together."""
    weights: NDArray[np.float64]
    """(n_pairs,) how much each pair counts in means."""
    row: NDArray[np.int64]
    """(n_pairs,) row of the factual input that a pair belongs to."""
    feature: NDArray[np.int64]
    """(n_pairs,) removed feature, from 1; 0 for none."""
    feature_names: tuple[str, ...]
    """Names of the features, from the first: columns of a frame, else their numbers."""
    path: str
    """Name of the reveal path in the call, or its kind."""
    score_source: str
    """Method and class of the estimator that gives the score; empty for any other callable."""
    forward_rows: int
    """Rows scored for all paths of the call, without those of the stability check."""
    naive_rows: int
    """Rows without shared states, as the paper counts."""
    response_errors: NDArray[np.float64] | None = None
    """(n_pairs, n_repetitions, n_stages) standard errors of the response, score units; None where
    every input was scored once."""
    has_probabilities: bool = False
    """True if the scores are known to be probabilities, as those of a classifier are."""

    @property
    def near_epsilon(self) -> tuple[str, ...]:
        """Pairs with ``|d|`` within two standard errors of epsilon; empty if ``repeats`` is 1."""
        if self.response_errors is None:
            return ()
        distance = np.abs(np.abs(self.response[:, 0, -1]) - self.epsilon)
        is_near = distance <= 2 * self.response_errors[:, 0, -1]
        return tuple(self.ids[pair] for pair in np.flatnonzero(is_near))

    @property
    def _smallest_response(self) -> float:
        return smallest_response(self.epsilon, is_probability=self.has_probabilities)

    @cached_property
    def response(self) -> NDArray[np.float64]:
        """(n_pairs, n_repetitions, n_stages) ``r(t) = q(x+(t)) - q(x-(t))``, score units."""
        with np.errstate(invalid="ignore"):  # inf - inf is NaN, and quarantined
            return self.q_plus - self.q_minus

    @cached_property
    def is_finite(self) -> NDArray[np.bool_]:
        """(n_pairs,) whether all scores of a pair are finite."""
        return np.all(np.isfinite(self.response), axis=(1, 2))

    @property
    def quarantined(self) -> tuple[str, ...]:
        """Pairs that are in no profile, because some of their scores are not finite."""
        return tuple(self.ids[pair] for pair in np.flatnonzero(~self.is_finite))

    @cached_property
    def profiles(self) -> PairProfiles:
        """M, E, C, F, Abs and Net of every pair, (n_pairs,), means over repetitions.

        Quarantined pairs are NaN, and not active.
        """
        finite_responses, stages = self.response[self.is_finite], self.grid.size
        by_trajectory = profile(finite_responses.reshape(-1, stages), self.grid, self.epsilon)
        mean = {
            # The last stage is the clean pair, the same in all repetitions.
            name: values[:, 0] if "endpoint" in name else values.mean(axis=1)
            for name, values in zip(
                by_trajectory._fields,
                (values.reshape(finite_responses.shape[:2]) for values in by_trajectory),
                strict=True,
            )
        }
        mean["abs_response"] = mean["evidence"] + mean["contradiction"] + mean["fragility"]
        profiles = PairProfiles(**{name: self._in_place(column) for name, column in mean.items()})
        profiles.pairs = self.pair_columns()
        return profiles

    def pair_columns(self) -> Columns:
        """(n_pairs,) ``pair_id``, ``cluster``, ``path``, ``row`` of the factual input.

        Also the name of the removed ``feature`` if features were removed, and the ``weight`` if
        weights differ.
        """
        columns = {
            "pair_id": np.array(self.ids),
            "cluster": self.clusters,
            "path": np.full(len(self.ids), self.path),
            "row": self.row,
        }
        if self.feature.any():
            columns["feature"] = np.array(self.feature_names)[self.feature - 1]
        if np.ptp(self.weights):
            columns["weight"] = self.weights
        return columns

    def to_columns(self) -> Columns:
        """One row a pair, repetition and stage: :meth:`pair_columns` and the trajectory.

        ``repetition`` and ``stage`` count from 0, ``t`` is the stage from 0 to 1, ``q_plus``,
        ``q_minus`` and ``response`` are in score units.
        """
        pair, repetition, stage = np.indices(self.q_plus.shape).reshape(3, -1)
        return {
            **{name: values[pair] for name, values in self.pair_columns().items()},
            **{"repetition": repetition, "stage": stage, "t": self.grid[stage]},
            **{name: getattr(self, name).ravel() for name in ("q_plus", "q_minus", "response")},
        }

    def _in_place(self, kept: NDArray[Any]) -> NDArray[Any]:
        every: NDArray[Any] = np.full(len(self.ids), False if kept.dtype == bool else np.nan)
        every[self.is_finite] = kept
        return every

    def at(self, epsilon: float) -> "Audit":
        """The same trajectories under another threshold; the model is not called again.

        Raises
        ------
        ResponseError
            For a threshold that is not a finite number above 0, or above 1 for the probabilities of
            an estimator.

        Warns
        -----
        DataWarning
            When no pair reaches the threshold although some d is not 0.
        """
        if self.has_probabilities:
            check_probability_epsilon(check_epsilon(epsilon))
        audited = replace(self, epsilon=check_epsilon(epsilon))
        if remark := remark_on_epsilon({self.path: audited}, audited.epsilon):
            warnings.warn(remark, DataWarning, stacklevel=2)
        return audited

    def attributions(self, metric: str = "evidence") -> NDArray[np.float64]:
        """A metric of every feature of every input, by default its attribution score ``E_k``.

        Any quantity of the profiles is a metric: ``endpoint_magnitude`` is the size of the change
        when the clean input loses the feature, ``endpoint_delta`` the same with its sign.

        Returns
        -------
        (n_inputs, n_features), score units; NaN where an input lacks the feature, or its pair is
        quarantined.

        Raises
        ------
        ResponseError
            When no features were removed.
        UnknownName
            When profiles have no such metric.
        """
        if not self.feature.any():
            raise ResponseError(
                "this audit has no features; call decaf.audit without x_minus to get attributions"
            )
        columns = self.profiles.columns()
        if metric not in columns:
            raise UnknownName.among("metric", metric, columns)
        table = np.full((self.row.max() + 1, self.feature.max()), np.nan)
        table[self.row, self.feature - 1] = columns[metric]
        return table

    def summary(self, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED) -> Summary:
        """Means over pairs, by weight, with bootstrap intervals that draw whole sources.

        Its text ends with the doubts of :meth:`trust`.
        """
        profiles, labels, weights = self.profiles, self.clusters, self.weights
        active = np.where(self.is_finite, profiles.is_endpoint_active, np.nan)
        columns = {name: getattr(profiles, name) for name in METRICS if name != "active_frac"}
        columns |= {"active_frac": active}
        intervals = bootstrap_means(
            [*columns.values()], labels, replicates=replicates, seed=seed, weights=weights
        )
        has_pairs = self.is_finite.any()
        doubts = self.trust(replicates, seed).doubts if has_pairs else tuple(sample_remarks(0))
        return Summary(
            **dict(zip(columns, intervals, strict=True)),
            epsilon=self.epsilon,
            smallest=self._smallest_response,
            pair_count=len(self.ids),
            quarantined_count=len(self.quarantined),
            path=self.path,
            score_source=self.score_source,
            scale=self._card_scale,
            doubts=doubts,
        )

    def trust(
        self,
        replicates: int = DEFAULT_REPLICATES,
        seed: int = DEFAULT_SEED,
        *,
        control: "Audit | None" = None,
    ) -> Trust:
        """Check what could change the means: threshold, number of stages, control, sample.

        The model is not called again. Intervals draw whole sources, as those of :meth:`summary`;
        quarantined pairs are left out.

        Parameters
        ----------
        control
            Audit of another change of similar size, which should not matter, on the same path and
            with the same labels of ``clusters``. Abs is compared over common clusters.

        Raises
        ------
        DataError
            When the control has another path, or no cluster in common.
        """
        is_finite = self.is_finite
        trust = trust_of(
            self.response[is_finite],
            self.grid,
            self.clusters[is_finite],
            self.weights[is_finite],
            epsilon=self.epsilon,
            smallest=self._smallest_response,
            path=self.path,
            replicates=replicates,
            seed=seed,
        )
        if control is None:
            return trust
        if control.path != self.path:
            raise DataError(
                f"the control is on path {control.path!r}; expected {self.path!r}, that of this "
                "audit"
            )
        return compare_with_control(trust, self._responses, control._responses, replicates, seed)

    @property
    def _responses(self) -> Responses:
        is_finite = self.is_finite
        return (
            self.clusters[is_finite],
            self.weights[is_finite],
            self.profiles.abs_response[is_finite],
        )

    def plot(self, pair: int | str) -> "alt.LayerChart":
        """Plot the trajectory of a pair, by position or name, as it was integrated.

        Needs altair.

        Raises
        ------
        DataError
            When there is no such pair, or its scores are not finite.
        """
        from decaf.library.plots import trajectory_chart

        row = self._row_of(pair)
        return trajectory_chart(self.ids[row], self.grid, self.response[row], self.epsilon)

    def card(self, pair: int | str) -> PairCard:
        """Card of a pair, by position or name, as a report shows it; a notebook draws it.

        All cards of an audit have one scale: 1 if all scores lie from 0 to 1, else the largest
        finite response.

        Raises
        ------
        DataError
            When there is no such pair, or its scores are not finite.
        """
        row = self._row_of(pair)
        return PairCard(
            self.ids[row],
            self.path,
            self.grid,
            self.q_plus[row],
            self.q_minus[row],
            self.epsilon,
            self._smallest_response,
            self._card_scale,
        )

    @cached_property
    def _card_scale(self) -> float:
        """Response at the top of the curve of every card, and at the end of bars, score units.

        1 without any finite score.
        """
        if not self.is_finite.any():
            return 1.0
        scores = np.stack([self.q_plus[self.is_finite], self.q_minus[self.is_finite]])
        largest = float(np.abs(self.response[self.is_finite]).max())
        return 1.0 if largest == 0 or (scores.min() >= 0 and scores.max() <= 1) else largest

    def _row_of(self, pair: int | str) -> int:
        names: Sequence[Any] = self.ids if isinstance(pair, str) else range(len(self.ids))
        if pair not in names:
            raise DataError(
                f"there is no pair {pair!r}; expected 0 to {len(self.ids) - 1}, or one of 'ids'"
            )
        row = names.index(pair)
        if not self.is_finite[row]:
            raise DataError(f"pair {self.ids[row]!r} has scores that are not finite; see q_plus")
        return row

    def plot_mean(self) -> "alt.Chart":
        """Mean evidence, contradiction and fragility at every stage, stacked. Needs altair."""
        from decaf.library.plots import mean_chart

        is_finite = self.is_finite
        return mean_chart(
            self.grid, self.response[is_finite], self.weights[is_finite], self.epsilon
        )

    def __repr__(self) -> str:
        size = f"{len(self.ids)} pairs, {self.grid.size} stages, epsilon {self.epsilon:g}"
        score_words = f", {self.score_source}" if self.score_source else ""
        return (
            f"<Audit of {size}, {self.forward_rows} of {self.naive_rows} forward rows{score_words}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
