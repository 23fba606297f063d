"""The pair card: one pair of inputs in one model, with pictures, the same on every page."""

import base64
import io
import json
from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from PIL import Image

from decaf.foundation.number_text import score_text, signed_text, tick_text
from decaf.library.curve import (
    Curve,
    csv_of,
    curve_of,
    places,
    response_of,
    smallest_response,
    story,
)

Row = Any
"""A row of a query, with trajectory, words and stored pictures."""
PROBABILITIES = ("class_probability", "superclass_probability")
"""Kinds of scores that are probabilities; the SQL macro ``smallest_response`` names them, too."""


class Shown(NamedTuple):
    """One picture: its data URI, its size in px, and whether its pixels are drawn as squares."""

    uri: str
    width: int
    height: int
    is_small: bool


class Frames(NamedTuple):
    """Frames above a curve: the stages in words, and their places in percent of the width."""

    picture: Shown | None
    stages: tuple[str, ...]
    ticks: tuple[float, ...]


class Card(NamedTuple):
    """One pair of one model, strong in one component."""

    row: Row
    shown_at: str
    """CSS classes of the choices that show it."""
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
    is_active = abs(row.endpoint_delta) >= epsilon
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
        curve_of(places(row.t, row.shown_t or ()), response, is_active, scale),
        story(
            row.t,
            response,
            epsilon,
            smallest_response(epsilon, is_probability=is_of_probability(score)),
        ),
        csv_of(row.t, factual=row.q_plus, changed=row.q_minus),
    )


def card_of_pair(columns: Mapping[str, Any], scale: float) -> Card:
    """Card of a row of the query ``view/pair``; ``scale`` is the response at its top."""
    row = namedtuple("Row", columns)(**columns)
    return card_of(row, row.score, row.epsilon, scale)


def scale_of_pair(columns: Mapping[str, Any]) -> float:
    """Response at the top of a pair's curve: 1 for a probability, else its largest response."""
    largest = float(np.abs(response_of(columns["q_plus"], columns["q_minus"])).max())
    return 1.0 if is_of_probability(columns["score"]) or largest == 0 else largest


def frames_of(row: Row) -> Frames:
    """Pictures of the states of a row, with their stages."""
    shown = row.shown_t or []
    return Frames(
        picture(row.states),
        tuple(tick_text(stage) for stage in shown),
        tuple(round(place, 1) for place in places(shown, shown).tolist()),
    )


def address_of(model_id: str, pair_id: str, path: str) -> str:
    """Fragment of the permalink of a pair: its three names, percent-encoded."""
    return "/".join(quote(name, safe="") for name in (model_id, pair_id, path))


def is_of_probability(definition: str) -> bool:
    """True if the score is one of :data:`PROBABILITIES`; ``definition`` is its JSON.

    >>> is_of_probability('{"kind": "class_probability"}'), is_of_probability("[1]")
    (True, False)
    >>> is_of_probability('{"kind": "log_probability"}')  # of a plug-in
    False
    """
    try:
        return json.loads(definition)["kind"] in PROBABILITIES
    except (ValueError, TypeError, KeyError):
        return False


def picture(content: bytes | None) -> Shown | None:
    """Prepare a stored picture for the page."""
    if content is None:
        return None
    width, height = Image.open(io.BytesIO(content)).size
    uri = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    return Shown(uri, width, height, min(width, height) <= 64)


def picture_characters(row: Row) -> int:
    """Length of all pictures of a row in base64."""
    pictures = (row.factual, row.counterfactual, row.states)
    return sum(4 * len(content) // 3 for content in pictures if content)
