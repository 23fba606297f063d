"""The response of one pair: its curve to draw, a sentence about it, and a CSV file of it."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.foundation.number_text import limit_text, score_text, signed_text, tick_text
from decaf.routing.profiles import profile

MARGIN = 10
"""Margin on either side of a curve, in % of its width; with pictures of states, half a state."""
HEIGHT = 48
"""Height of a curve above and below zero at the end of its scale, in % of the whole height."""
SMALLEST_OF_PROBABILITY = 0.01
"""Smallest response of a probability that counts."""


class Curve(NamedTuple):
    """A response over the reveal, as points of an SVG element of 100 by 100."""

    areas: tuple[tuple[str, str], ...]
    """Component and points of a polygon: the positive and negative parts of the curve."""
    line: str


def smallest_response(epsilon: float, *, is_probability: bool) -> float:
    """Smallest response that counts, score units, as the SQL macro ``smallest_response``."""
    return SMALLEST_OF_PROBABILITY if is_probability else epsilon / 2


def response_of(q_plus: ArrayLike, q_minus: ArrayLike) -> NDArray[np.float64]:
    """(…, n_stages) factual minus counterfactual score."""
    return np.asarray(q_plus, np.float64) - np.asarray(q_minus, np.float64)


def split_by_sign(
    response: NDArray[np.float64], is_active: bool
) -> tuple[tuple[str, NDArray[np.float64]], tuple[str, NDArray[np.float64]]]:
    """Role and (n_stages,) values of a response above zero, then of the response below zero.

    The response is (n_stages,), or (n_repetitions, n_stages) whose last stage is the same in all;
    the values are then means over repetitions. The response of a pair that is not active is
    fragility on both sides.
    """
    repetitions = np.atleast_2d(response)
    roles = ("evidence", "contradiction") if is_active else ("fragility", "fragility")
    above, below = roles if repetitions[0, -1] > 0 else roles[::-1]
    return (
        (above, repetitions.clip(min=0).mean(axis=0)),
        (below, repetitions.clip(max=0).mean(axis=0)),
    )


def curve_of(
    x: NDArray[np.float64], response: NDArray[np.float64], is_active: bool, scale: float
) -> Curve:
    """Curve of a response of one or several repetitions; ``scale`` is the response at its top.

    ``x`` are the (n_stages,) :func:`places` of the stages; :func:`split_by_sign` describes the
    shapes of ``response``.
    """
    return Curve(
        tuple(
            (role, points([x[0], *x, x[-1]], [0, *part, 0], scale))
            for role, part in split_by_sign(response, is_active)
            if part.any()
        ),
        points(x, np.atleast_2d(response).mean(axis=0), scale),
    )


def places(stages: ArrayLike, shown: Sequence[float] = ()) -> NDArray[np.float64]:
    """Horizontal positions of stages, from 0 to 100; ``shown`` stages have frames above them."""
    margin = 50 / len(shown) if shown else MARGIN
    return margin + np.asarray(stages, np.float64) * (100 - 2 * margin)


def points(x: Iterable[float], response: Iterable[float], scale: float) -> str:
    """Points of an SVG element, from -scale at the bottom to scale at the top.

    >>> points([10, 90], [0, 0.5], 1)
    '10,50 90,26'
    """
    y = (50 - HEIGHT * np.array([*response]) / scale).tolist()
    return " ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in zip(x, y, strict=True))


def draw_curve(curve: Curve, scale: str, words: str, ticks: Iterable[float] = ()) -> str:
    """HTML of a curve; ``card.css`` has its style, :data:`HATCH` its pattern.

    ``scale`` is the response at its top as text, ``words`` describe the curve for screen
    readers, and ``ticks`` are positions of vertical lines.
    """
    lines = "".join(f"M{x} 2V98" for x in ticks)
    areas = "".join(f'<polygon class="{role}" points="{area}"/>' for role, area in curve.areas)
    return (
        '<div class="curve">'
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(words)}"><path class="grid" d="M0 2H100M0 98H100{lines}"/>{areas}'
        f'<path class="zero" d="M0 50H100"/><polyline points="{curve.line}"/></svg>'
        f"<span>+{escape(scale)}</span><span>0</span><span>−{escape(scale)}</span></div>"
    )


HATCH = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    '<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
    'patternTransform="scale(.3 .7) rotate(45)">'
    '<rect width="7" height="7" style="fill:var(--contradiction)"/>'
    '<rect width="2" height="7" style="fill:var(--hatch)"/></pattern></defs></svg>'
)
"""Pattern of contradiction, once on a page; it differs from evidence in grey print, too."""


def story(
    t: Sequence[float] | NDArray[np.float64],
    response: NDArray[np.float64],
    epsilon: float,
    smallest: float,
) -> str:
    """Describe a (n_stages,) response in one or two sentences; below ``smallest`` there is none.

    The sign of a final difference below twice epsilon is noise, so the text says it is small.

    >>> t = [0, 0.5, 1]
    >>> story(t, np.array([0, 0.004, -0.002]), 0.02, 0.01)
    'No response: it stays within 0.004 of zero.'
    >>> story(t, np.zeros(3), 0.02, 0.01)
    'No response: it stays at zero.'
    >>> story(t, np.array([0, 0.5, -0.25]), 0.02, 0.01)
    'At t = 0.5 the response is +0.500. It ends at −0.250, on the other side.'
    >>> story(t, np.array([0, -0.5, 0.03]), 0.02, 0.01).partition("500. ")[2]
    'It opposes a small final difference, +0.030: |d| < 2ε = 0.040.'
    >>> story(t, np.array([0, 0.5, 0.75]), 0.02, 0.01)
    'The response keeps its sign from start to end, and ends at +0.750.'
    >>> story(t, np.array([0, -0.5, 0.01]), 0.02, 0.01)
    'At t = 0.5 the response is −0.500. It ends at +0.010, below the threshold of 0.020.'
    """
    size, end = np.abs(response), float(response[-1])
    if size.max() < smallest:
        bound = f"within {score_text(float(size.max()))} of zero" if size.max() else "at zero"
        return f"No response: it stays {bound}."
    opposed = response * np.sign(end)
    is_null = abs(end) < epsilon
    place = int(size.argmax() if is_null else opposed.argmin())
    peak = f"At t = {tick_text(t[place])} the response is {signed_text(float(response[place]))}."
    if is_null:
        below = f"below the threshold of {limit_text(epsilon)}"
        if place == len(response) - 1:
            return f"The response is largest at the end: {signed_text(end)}, {below}."
        return f"{peak} It ends at {signed_text(end)}, {below}."
    if -opposed[place] < smallest:
        return f"The response keeps its sign from start to end, and ends at {signed_text(end)}."
    if abs(end) < 2 * epsilon:
        return (
            f"{peak} It opposes a small final difference, {signed_text(end)}: |d| < 2ε = "
            f"{limit_text(2 * epsilon)}."
        )
    return f"{peak} It ends at {signed_text(end)}, on the other side."


def stage_words(t: ArrayLike, response: NDArray[np.float64], epsilon: float) -> str:
    """Sentence on the largest change of E, C, F or Abs without every second stage.

    It indicates the error of one pair. Empty if the number of stages is even or below three.
    ``response`` is (n_stages,), or (n_repetitions, n_stages), whose means over repetitions count.

    >>> stage_words([0, 0.5, 1], np.array([0, -0.25, 1]), 0.02).partition("Abs ")[2]
    'change by at most 0.250: an indication of their error.'
    """
    stages = np.asarray(t, np.float64)
    if stages.size % 2 == 0 or stages.size < 3:
        return ""
    fine, coarse = (
        profile(np.atleast_2d(response)[:, ::step], stages[::step], epsilon) for step in (1, 2)
    )
    changes = (
        abs(float((getattr(fine, name) - getattr(coarse, name)).mean()))
        for name in ("evidence", "contradiction", "fragility", "abs_response")
    )
    return (
        f"Without every second stage, E, C, F and Abs change by at most "
        f"{score_text(max(changes))}: an indication of their error."
    )


def csv_of(t: Iterable[float], **scores: Iterable[float]) -> str:
    """Data URI of a CSV file: a line for each stage, with a column for each list of scores.

    >>> csv_of([0, 1], factual=[0.5, 0.25])
    'data:text/csv,t,factual%0A0,0.5%0A1,0.25%0A'
    """
    lines = [",".join(["t", *scores])]
    lines += [
        ",".join(f"{number:.9g}" for number in stage)
        for stage in zip(t, *scores.values(), strict=True)
    ]
    return "data:text/csv," + quote("\n".join(lines) + "\n", safe=",.")
