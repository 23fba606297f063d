"""What an audit found: trajectories, their profiles at any threshold, means with intervals."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, ResponseError, UnknownName
from decaf.routing.profiles import Profiles, profile
from decaf.routing.route import check_epsilon
from decaf.statistics.bootstrap import DEFAULT_REPLICATES, DEFAULT_SEED, Interval, bootstrap_mean

if TYPE_CHECKING:
    import altair as alt

SIGNIFICANT = 4
"""Digits of the largest number of a table; all others have its decimals."""

METRICS = {
    "endpoint_magnitude": ("M", "endpoint magnitude"),
    "evidence": ("E", "evidence"),
    "contradiction": ("C", "contradiction"),
    "fragility": ("F", "fragility"),
    "abs_response": ("Abs", "E + C + F"),
    "net_response": ("Net", "E - C"),
    "active_frac": ("", "active pairs, share"),
}
"""What a summary shows: symbol and words."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
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
    clusters: NDArray
    """(n_pairs,) labels of pairs that intervals draw together."""
    row: NDArray[np.int64]
    """(n_pairs,) row of the factual input that a pair belongs to."""
    feature: NDArray[np.int64]
    """(n_pairs,) removed feature, from 1; 0 for none."""
    forward_rows: int
    """Inputs that the score was given, for all paths of the call."""
    naive_rows: int
    """Inputs that scoring every path, pair and stage by itself would have given it."""

    @cached_property
    def response(self) -> NDArray[np.float64]:
        """(n_pairs, n_repetitions, n_stages) ``r(t) = q(x+(t)) - q(x-(t))``, score units."""
        with np.errstate(invalid="ignore"):  # inf - inf is NaN, and quarantined
            return self.q_plus - self.q_minus

    @cached_property
    def is_finite(self) -> NDArray[np.bool_]:
        """(n_pairs,) whether all scores of a pair are finite."""
        return np.isfinite(self.response).all(axis=(1, 2))

    @property
    def quarantined(self) -> tuple[str, ...]:
        """Pairs that are in no profile, because some of their scores are not finite."""
        return tuple(self.ids[pair] for pair in np.flatnonzero(~self.is_finite))

    @cached_property
    def profiles(self) -> Profiles:
        """M, E, C, F, Abs and Net of every pair, (n_pairs,), means over repetitions.

        Quarantined pairs are NaN, and not active.
        """
        kept, stages = self.response[self.is_finite], self.grid.size
        every = profile(kept.reshape(-1, stages), self.grid, self.epsilon)
        mean = {
            # The last stage is the clean pair, the same in all repetitions.
            name: values[:, 0] if "endpoint" in name else values.mean(axis=1)
            for name, values in zip(
                every._fields, (values.reshape(kept.shape[:2]) for values in every), strict=True
            )
        }
        mean["abs_response"] = mean["evidence"] + mean["contradiction"] + mean["fragility"]
        return Profiles(**{name: self._in_place(values) for name, values in mean.items()})

    def _in_place(self, kept: NDArray) -> NDArray:
        every = np.full(len(self.ids), False if kept.dtype == bool else np.nan)
        every[self.is_finite] = kept
        return every

    def at(self, epsilon: float) -> "Audit":
        """The same trajectories under another threshold; the model is not asked again.

        Raises
        ------
        ResponseError
            For a threshold that is not a finite number above 0.
        """
        return replace(self, epsilon=check_epsilon(epsilon))

    def attributions(self, metric: str = "evidence") -> NDArray[np.float64]:
        """A metric of every feature of every input, by default its attribution score ``E_k``.

        Returns
        -------
        (n_inputs, n_features), score units; NaN where an input lacks a feature or is quarantined.

        Raises
        ------
        ResponseError
            When no features were removed.
        UnknownName
            When profiles have no such metric.
        """
        if not self.feature.any():
            raise ResponseError(
                "no features were removed; leave x_minus out of the call to attribute to features"
            )
        if metric not in Profiles._fields:
            raise UnknownName.among("metric", metric, Profiles._fields)
        table = np.full((self.row.max() + 1, self.feature.max()), np.nan)
        table[self.row, self.feature - 1] = getattr(self.profiles, metric)
        return table

    def summary(self, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED) -> "Summary":
        """Means over pairs with bootstrap intervals that draw whole clusters."""
        profiles, labels = self.profiles, self.clusters
        active = np.where(self.is_finite, profiles.is_endpoint_active, np.nan)
        columns = {name: getattr(profiles, name) for name in METRICS if name != "active_frac"}
        return Summary(
            **{
                name: bootstrap_mean(values, labels, replicates=replicates, seed=seed)
                for name, values in (columns | {"active_frac": active}).items()
            },
            epsilon=self.epsilon,
            pair_count=len(self.ids),
            quarantined_count=len(self.quarantined),
        )

    def plot(self, pair: int | str) -> "alt.LayerChart":
        """Trajectory of a pair, by position or name: what is drawn is what was integrated.

        Needs altair.

        Raises
        ------
        DataError
            When there is no such pair, or its scores are not finite.
        """
        from decaf.library.plots import trajectory_chart

        names = self.ids if isinstance(pair, str) else range(len(self.ids))
        if pair not in names:
            raise DataError(
                f"there is no pair {pair!r}; expected 0 to {len(self.ids) - 1}, or one of 'ids'"
            )
        row = names.index(pair)
        if not self.is_finite[row]:
            raise DataError(f"pair {self.ids[row]!r} has scores that are not finite; see q_plus")
        return trajectory_chart(self.ids[row], self.grid, self.response[row], self.epsilon)

    def plot_mean(self) -> "alt.Chart":
        """Mean evidence, contradiction and fragility at every stage, stacked. Needs altair."""
        from decaf.library.plots import mean_chart

        return mean_chart(self.grid, self.response[self.is_finite], self.epsilon)

    def __repr__(self) -> str:
        kept = f"{len(self.ids)} pairs, {self.grid.size} stages, epsilon {self.epsilon:g}"
        return f"<Audit of {kept}, {self.forward_rows} of {self.naive_rows} forward rows>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


@dataclass(frozen=True)
class Summary:
    """Means over pairs, each with its bootstrap interval; prints as a table."""

    endpoint_magnitude: Interval
    evidence: Interval
    contradiction: Interval
    fragility: Interval
    abs_response: Interval
    net_response: Interval
    active_frac: Interval
    """Share of pairs with ``|d| >= epsilon``."""
    epsilon: float
    pair_count: int
    """Pairs, quarantined ones included."""
    quarantined_count: int

    def __str__(self) -> str:
        lines = [
            f"{symbol:<4}{words:<20}{mean:>10}  {interval}"
            for symbol, words, mean, interval in self._rows()
        ]
        return "\n".join([self._heading(), *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{symbol}</th><td>{words}</td><td>{mean}</td><td>{interval}</td>"
            "</tr>"
            for symbol, words, mean, interval in self._rows()
        )
        return (
            f"<table><caption>{self._heading()}</caption><thead><tr><th scope='col'></th>"
            "<th scope='col'></th><th scope='col'>mean</th><th scope='col'>95%</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _heading(self) -> str:
        withheld = f" ({self.quarantined_count} quarantined)" if self.quarantined_count else ""
        return (
            f"{self.pair_count} pairs{withheld} in {self.evidence.cluster_count} clusters, "
            f"epsilon {self.epsilon:g}; means with 95% bootstrap intervals"
        )

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Symbol, words, mean and interval, all with the same decimals."""
        largest = max(self.endpoint_magnitude.estimate, self.abs_response.estimate)
        decimals = min(max(SIGNIFICANT - 1 - floor(log10(largest)), 0), 9) if largest > 0 else 3
        for name, (symbol, words) in METRICS.items():
            value, places = getattr(self, name), 3 if name == "active_frac" else decimals
            interval = f"[{value.lower_95:z.{places}f}, {value.upper_95:z.{places}f}]"
            # One cluster has no interval.
            interval = interval if np.isfinite(value.lower_95) else "undefined"
            yield symbol, words, f"{value.estimate:z.{places}f}", interval
