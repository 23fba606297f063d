"""Means over pairs with their intervals, as text, HTML and a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import floor, log10

import numpy as np

from decaf.foundation.number_text import score_text, tick_text
from decaf.foundation.tabular import Columns, Tabular, html_table
from decaf.library.bar import LETTER_STYLE, STYLE, draw_bar
from decaf.library.palette import ROLES, notebook_style
from decaf.library.trust import group_role
from decaf.statistics.bootstrap import Interval

SIGNIFICANT = 4
"""Digits of the largest number of a table; all others have its decimals."""

VERDICT_STYLE = f"""{STYLE}{LETTER_STYLE}
background: var(--paper); padding: 8px 12px; max-width: 560px; border-radius: 6px;
p {{ margin: 0; }}
.ticks {{ display: flex; justify-content: space-between; margin: 6px 0 0; }}
.ticks {{ font-size: .69rem; color: var(--muted); }}
.unseen {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }}
"""
"""Style of the sentence and bar in a notebook."""

MOST_DIGITS = 9
"""Largest power of ten, up or down, of scores in plain decimals."""

METRICS = {
    "endpoint_magnitude": ("M", "endpoint magnitude"),
    "evidence": ("E", "evidence"),
    "contradiction": ("C", "contradiction"),
    "fragility": ("F", "fragility"),
    "abs_response": ("Abs", "E + C + F"),
    "net_response": ("Net", "E - C"),
    "active_frac": ("", "active pairs, share"),
}
"""Statistics of a summary: symbol and words."""


@dataclass(frozen=True)
class Summary(Tabular):
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
    smallest: float
    """Smallest mean Abs that counts, score units."""
    pair_count: int
    """Pairs, quarantined ones included."""
    quarantined_count: int
    path: str
    """Name of the reveal path."""
    score_source: str
    """Method and class of the estimator that gives the score; empty for any other callable."""
    scale: float
    """Response at the end of its bar in a notebook, score units."""
    doubts: tuple[str, ...] = ()
    """Sentences on what could change the means (:attr:`decaf.Trust.doubts`)."""

    @property
    def role(self) -> str:
        """Main role of the pairs (:func:`decaf.library.trust.group_role`)."""
        parts = (self.evidence, self.contradiction, self.fragility)
        evidence, contradiction, fragility = (part.estimate for part in parts)
        return group_role(evidence, contradiction, fragility, self.smallest)

    def to_columns(self) -> Columns:
        """One row a metric: ``path``, ``metric``, its ``symbol``, ``epsilon``, the interval.

        ``estimate``, ``standard_error`` and limits are in score units, those of ``active_frac`` a
        share; ``cluster_count`` and ``replicate_count`` are those of :class:`Interval`.
        """
        intervals: list[Interval] = [getattr(self, name) for name in METRICS]
        return {
            "path": np.full(len(METRICS), self.path),
            "metric": np.array(list(METRICS)),
            "symbol": np.array([symbol for symbol, _ in METRICS.values()]),
            "epsilon": np.full(len(METRICS), self.epsilon),
            **{
                name: np.array(values)
                for name, values in zip(Interval._fields, zip(*intervals, strict=True), strict=True)
            },
        }

    def __str__(self) -> str:
        lines = [
            f"{symbol:<4}{words:<20}{mean:>10}  {interval}"
            for symbol, words, mean, interval in self._rows()
        ]
        return "\n".join([self._heading(), *lines, *self.doubts])

    def _repr_html_(self) -> str:
        caption = ". ".join(filter(None, [self._heading(), " ".join(self.doubts)]))
        return self._verdict_row() + html_table(caption, ["", "", "mean", "95 %"], self._rows())

    def _verdict_row(self) -> str:
        """Sentence and bar, as a report shows them for a model."""
        response, magnitude = self.abs_response, self.endpoint_magnitude.estimate
        interval = (response.lower_95, response.upper_95)
        interval_text = f" (95 %: {score_text(interval[0])} to {score_text(interval[1])})"
        has_interval = bool(np.isfinite(response.lower_95))
        words = (
            f"This change moves the score by {score_text(response.estimate)} on path {self.path}"
            f"{interval_text if has_interval else ''}; the final scores differ by "
            f"{score_text(magnitude)} (M)."
        )
        bar = draw_bar(
            {role: getattr(self, role).estimate for role in ROLES},
            response.estimate,
            self.scale,
            interval if has_interval else None,
            magnitude,
        )
        ticks = "".join(f"<span>{tick_text(self.scale * part / 4)}</span>" for part in range(5))
        return (
            f"{notebook_style('decaf-verdict', VERDICT_STYLE)}"
            f'<div class="decaf-verdict"><p>{escape(words)}</p>'
            f'<p class="ticks" aria-hidden="true">{ticks}</p>{bar}</div>'
        )

    def _heading(self) -> str:
        withheld = f" ({self.quarantined_count} quarantined)" if self.quarantined_count else ""
        label = f"{self.score_source}: " if self.score_source else ""
        return (
            f"{label}{self.pair_count} pairs{withheld} of {self.evidence.cluster_count} sources, "
            f"epsilon {self.epsilon:g}; means with 95 % bootstrap intervals"
        )

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Symbol, words, mean and interval, all with the same decimals.

        Scores that need more than nine decimals or digits have powers of ten.
        """
        largest = max(self.endpoint_magnitude.estimate, self.abs_response.estimate)
        exponent = floor(log10(largest)) if 0 < largest < np.inf else 0
        form = f"z.{min(max(SIGNIFICANT - 1 - exponent, 0), 9) if largest > 0 else 3}f"
        if abs(exponent) > MOST_DIGITS or largest == np.inf:
            form = f"z.{SIGNIFICANT - 1}e"
        for name, (symbol, words) in METRICS.items():
            value, spec = getattr(self, name), "z.3f" if name == "active_frac" else form
            interval = f"[{value.lower_95:{spec}}, {value.upper_95:{spec}}]"
            # No interval with one source, or for means that overflow.
            is_defined = np.isfinite([value.lower_95, value.upper_95]).all()
            interval = interval if is_defined else "undefined"
            yield symbol, words, f"{value.estimate:{spec}}", interval
