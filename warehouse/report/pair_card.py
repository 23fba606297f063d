"""The pair card: one pair of inputs in one model, the same on every page."""

import base64
import io
import json
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from decaf.foundation.number_text import limit_text, score_text, signed_text, tick_text

MARGIN = 10
"""Margin on either side of a curve, in % of its width; with pictures of states, half a state."""
HEIGHT = 48
"""Height of a curve above and below zero at the end of its scale, in % of the whole height."""
SMALLEST = 0.01
"""Smallest response that counts as a reaction if q is a probability; otherwise epsilon / 2."""
ROLES = ("evidence", "contradiction", "fragility")
Row = Any
"""A row of a query, with trajectory, words and stored pictures."""


class Shown(NamedTuple):
    """One picture: its data URI, its size in px, and whether its pixels are drawn as squares."""

    uri: str
    width: int
    height: int
    is_small: bool


class Curve(NamedTuple):
    """A response over the reveal, as points of an SVG element of 100 by 100."""

    areas: tuple[tuple[str, str], ...]
    """Component and points of a polygon: the positive and negative parts of the curve."""
    line: str


class Frames(NamedTuple):
    """Frames above a curve: the stages in words, and their places of a hundred."""

    picture: Shown | None
    stages: tuple[str, ...]
    ticks: tuple[float, ...]


class Card(NamedTuple):
    """One pair of one model, strong in one component."""

    row: Row
    shown_at: str
    """Classes of the choices that show it."""
    address: str
    """Fragment of its permalink: model, pair and path."""
    value: str
    delta: str
    ends: tuple[str, str]
    """Scores of the clean inputs: factual, changed."""
    factual: Shown | None
    counterfactual: Shown | None
    frames: Frames
    curve: Curve
    story: str
    csv: str
    """Data URI of the trajectory as a file."""


def card_of(row: Row, score: str, epsilon: float, scale: float, shown_at: str = "") -> Card:
    """Card of one pair; ``scale`` is the response at the top of its curve, score units.

    ``score`` is the JSON of the score's definition.
    """
    response = response_of(row.q_plus, row.q_minus)
    is_null = abs(row.endpoint_delta) < epsilon
    return Card(
        row,
        shown_at,
        address_of(row.model_id, row.pair_id, row.path),
        score_text(row.value),
        signed_text(row.endpoint_delta),
        (score_text(row.q_plus[-1]), score_text(row.q_minus[-1])),
        picture(row.factual),
        picture(row.counterfactual),
        frames_of(row),
        curve_of(row, response, row.endpoint_delta, is_null, scale),
        story(row.t, response, epsilon, smallest_gap(score, epsilon)),
        csv_of(row.t, factual=row.q_plus, changed=row.q_minus),
    )


def card_of_pair(columns: Mapping[str, Any], scale: float) -> Card:
    """Card of a row of the query ``view/pair``; ``scale`` is the response at its top."""
    row = namedtuple("Row", columns)(**columns)
    return card_of(row, row.score, row.epsilon, scale)


def scale_of_pair(columns: Mapping[str, Any]) -> float:
    """Response at the top of a pair's curve: 1 of a probability, otherwise its own largest."""
    largest = float(np.abs(response_of(columns["q_plus"], columns["q_minus"])).max())
    return 1.0 if is_of_probability(columns["score"]) or largest == 0 else largest


def frames_of(row: Row) -> Frames:
    """States of a row of stored pictures, and where they stand."""
    shown = row.shown_t or []
    return Frames(
        picture(row.states),
        tuple(tick_text(stage) for stage in shown),
        tuple(round(place, 1) for place in _places(shown, shown).tolist()),
    )


def curve_of(
    row: Row, response: NDArray[np.float64], delta: float, is_null: bool, scale: float
) -> Curve:
    """Curve of a (n_stages,) response that ends at ``delta``, over the stages of the row.

    The whole curve of an endpoint-null pair is fragility. ``scale`` is the response at its top.
    """
    x = _places(row.t, row.shown_t or [])
    parts = (response.clip(min=0), response.clip(max=0))
    names = ("fragility",) * 2 if is_null else ("evidence", "contradiction")
    return Curve(
        tuple(
            (name, points([x[0], *x, x[-1]], [0, *part, 0], scale))
            for name, part in zip(names if delta > 0 else names[::-1], parts, strict=True)
            if part.any()
        ),
        points(x, response, scale),
    )


def _places(stages: Sequence[float], shown: Sequence[float]) -> NDArray[np.float64]:
    """Horizontal positions of stages, from 0 to 100; ``shown`` stages have frames above them."""
    margin = 50 / len(shown) if shown else MARGIN
    return margin + np.array(stages) * (100 - 2 * margin)


def response_of(q_plus: Sequence[float], q_minus: Sequence[float]) -> NDArray[np.float64]:
    """(n_stages,) factual less counterfactual score."""
    return np.array(q_plus) - np.array(q_minus)


def points(x: Iterable[float], response: Iterable[float], scale: float) -> str:
    """Points of an SVG element, from -scale at the bottom to scale at the top.

    >>> points([10, 90], [0, 0.5], 1)
    '10,50 90,26'
    """
    y = (50 - HEIGHT * np.array([*response]) / scale).tolist()
    return " ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in zip(x, y, strict=True))


def address_of(model_id: str, pair_id: str, path: str) -> str:
    """Fragment of the permalink of a pair: its three names, percent-encoded."""
    return "/".join(quote(name, safe="") for name in (model_id, pair_id, path))


def smallest_gap(score: str, epsilon: float) -> float:
    """Smallest response that counts as a reaction, score units; ``score`` is a JSON definition."""
    return SMALLEST if is_of_probability(score) else epsilon / 2


def story(
    t: Sequence[float], response: NDArray[np.float64], epsilon: float, smallest: float
) -> str:
    """Describe a (n_stages,) response in one or two sentences; gaps below ``smallest`` are none.

    >>> t = [0, 0.5, 1]
    >>> story(t, np.array([0, 0.004, -0.002]), 0.02, 0.01)
    'It did not react: the gap stays within 0.004 of zero.'
    >>> story(t, np.array([0, 0.5, -0.25]), 0.02, 0.01)
    'At t = 0.5 the gap is +0.500. It ends at −0.250, on the other side.'
    >>> story(t, np.array([0, 0.5, 0.75]), 0.02, 0.01)
    'The gap keeps its sign from start to end, and ends at +0.750.'
    >>> story(t, np.array([0, -0.5, 0.01]), 0.02, 0.01)
    'At t = 0.5 the gap is −0.500. It ends at +0.010, below the threshold of 0.020.'
    """
    size, end = np.abs(response), float(response[-1])
    if size.max() < smallest:
        return f"It did not react: the gap stays within {score_text(float(size.max()))} of zero."
    opposed = response * np.sign(end)
    is_null = abs(end) < epsilon
    place = int(size.argmax() if is_null else opposed.argmin())
    peak = f"At t = {tick_text(t[place])} the gap is {signed_text(float(response[place]))}."
    if is_null:
        below = f"below the threshold of {limit_text(epsilon)}"
        if place == len(response) - 1:
            return f"The gap is largest at the end: {signed_text(end)}, {below}."
        return f"{peak} It ends at {signed_text(end)}, {below}."
    if -opposed[place] < smallest:
        return f"The gap keeps its sign from start to end, and ends at {signed_text(end)}."
    return f"{peak} It ends at {signed_text(end)}, on the other side."


def csv_of(t: Sequence[float], **scores: Sequence[float]) -> str:
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


def is_of_probability(definition: str) -> bool:
    """Tell by the JSON of a score definition if the score is a probability.

    >>> is_of_probability('{"kind": "class_probability"}'), is_of_probability("[1]")
    (True, False)
    """
    try:
        return str(json.loads(definition)["kind"]).endswith("probability")
    except (ValueError, TypeError, KeyError):
        return False


def picture(content: bytes | None) -> Shown | None:
    """A stored picture, as the page has it."""
    if content is None:
        return None
    width, height = Image.open(io.BytesIO(content)).size
    uri = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    return Shown(uri, width, height, min(width, height) <= 64)


def picture_characters(row: Row) -> int:
    """Length of all pictures of a row in base64."""
    pictures = (row.factual, row.counterfactual, row.states)
    return sum(4 * len(content) // 3 for content in pictures if content)
