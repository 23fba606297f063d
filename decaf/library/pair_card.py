"""The card of one pair, for a notebook: the scores at its ends, its curve and a sentence."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.number_text import score_text, signed_text, tick_text
from decaf.library.bar import LETTER_STYLE
from decaf.library.curve import (
    HATCH,
    csv_of,
    curve_of,
    draw_curve,
    places,
    response_of,
    stage_words,
    story,
)
from decaf.library.palette import ROLES, notebook_style
from decaf.routing.profiles import profile

STYLE = (Path(__file__).parent / "card.css").read_text(encoding="utf-8") + LETTER_STYLE
"""Style of a card in every page, by the colours of the palette; with that of letters."""

NONE = "none"
"""Role of a pair whose response is too small to count as a reaction."""
LETTERS = {role: role[0].upper() for role in ROLES} | {NONE: "–"}


@dataclass(frozen=True, eq=False)
class PairCard:
    """One pair on one reveal path; a notebook shows it as the card of a report, without pictures.

    With repetitions, curve, sentence and values are means over them.
    """

    pair_id: str
    path: str
    t: NDArray[np.float64]
    """(n_stages,) from 0 to 1."""
    q_plus: NDArray[np.float64]
    """(n_repetitions, n_stages) finite scores of the factual branch."""
    q_minus: NDArray[np.float64]
    """(n_repetitions, n_stages) finite scores of the counterfactual branch."""
    epsilon: float
    smallest: float
    """Smallest response that counts, score units."""
    scale: float
    """Response at the top of the curve, score units."""

    @cached_property
    def response(self) -> NDArray[np.float64]:
        """(n_repetitions, n_stages) score units."""
        return response_of(self.q_plus, self.q_minus)

    @property
    def endpoint_delta(self) -> float:
        """Difference of the clean scores."""
        return float(self.response[0, -1])

    @cached_property
    def values(self) -> dict[str, float]:
        """E, C and F by the names of the roles, score units."""
        profiles = profile(self.response, self.t, self.epsilon)
        return {role: float(getattr(profiles, role).mean()) for role in ROLES}

    @property
    def role(self) -> str:
        """Role with the largest value; ``none`` if the mean response stays below ``smallest``.

        The first of ``evidence``, ``contradiction`` and ``fragility`` with equal values.
        """
        if np.abs(self.response.mean(axis=0)).max() < self.smallest:
            return NONE
        return max(self.values, key=lambda role: self.values[role])

    @property
    def story(self) -> str:
        """Description of the response over the reveal, in one or two sentences."""
        return story(self.t, self.response.mean(axis=0), self.epsilon, self.smallest)

    @property
    def stage_words(self) -> str:
        """Sentence on the change without every second stage; empty if it cannot be computed."""
        return stage_words(self.t, self.response, self.epsilon)

    @property
    def csv(self) -> str:
        """Data URI of a file with the scores: a line for each stage."""
        scores: dict[str, NDArray[np.float64]] = {}
        for number, (plus, minus) in enumerate(zip(self.q_plus, self.q_minus, strict=True)):
            suffix = f"_{number}" if len(self.q_plus) > 1 else ""
            scores |= {f"factual{suffix}": plus, f"changed{suffix}": minus}
        return csv_of(self.t, **scores)

    @property
    def title(self) -> str:
        """Role of the pair in words, and its value."""
        if self.role == NONE:
            return "No response"
        return f"{self.role.capitalize()} {score_text(self.values[self.role])}"

    def __str__(self) -> str:
        delta = signed_text(self.endpoint_delta)
        return f"{self.pair_id} · {self.path}: {self.title}, d {delta}. {self.story}"

    def _repr_html_(self) -> str:
        """Card without scripts, with its own style; every value is escaped."""
        curve = curve_of(
            places(self.t),
            self.response,
            abs(self.endpoint_delta) >= self.epsilon,
            self.scale,
        )
        words = f"Response over the reveal of {self}"
        factual, changed = (
            score_text(float(scores[0, -1])) for scores in (self.q_plus, self.q_minus)
        )
        return (
            f"{notebook_style('decaf-pair', STYLE)}"
            f'<div class="decaf-pair" style="max-width:420px">{HATCH}'
            f'<article class="card {self.role}"><h4 class="title"><b class="letter {self.role}" '
            f'aria-hidden="true">{LETTERS[self.role]}</b>{self.title}</h4>'
            f'<p class="who">{escape(self.path)}<br><code>{escape(self.pair_id)}</code></p>'
            f'<div class="ends"><span>factual <b>{factual}</b></span><span>d '
            f"<b>{signed_text(self.endpoint_delta)}</b></span><span>changed <b>{changed}</b></span>"
            f"</div>{draw_curve(curve, tick_text(self.scale), words)}"
            '<p class="stages bare" aria-hidden="true"><span>t = 0</span><span>1</span></p>'
            f'<p class="story">{escape(f"{self.story} {self.stage_words}".rstrip())}</p>'
            f'<p class="ways"><a class="button" href="{self.csv}" '
            f'download="{quote(self.pair_id, safe="")}.csv">CSV</a></p>'
            "</article></div>"
        )
