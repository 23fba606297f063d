"""What it looks like: the strongest pairs of some models, with pictures, curve and words."""

import base64
import io
import json
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from warehouse.report.audit.facts import COMPONENTS, Facts, Row
from warehouse.report.cells import percent, score

PICTURE_CHARACTERS = 1_200_000
"""Of all pictures of a page at most, in base64."""
MOST_RANKS = 3
MARGIN = 10
"""Left and right of a curve without states, of a hundred; with them it is half a state."""
HEIGHT = 48
"""Of a curve at the end of the scale, of a hundred, above and below zero."""
DECIMALS = 3


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
    """What stands above a curve, and where: stages in words, their places of a hundred."""

    picture: Shown | None
    stages: tuple[str, ...]
    ticks: tuple[float, ...]


class Card(NamedTuple):
    """One pair of one model, strong in one component."""

    row: Row
    shown_at: str
    """Classes of the choices that show it."""
    value: str
    delta: str
    ends: tuple[str, str]
    """Scores of the clean inputs: factual, changed."""
    factual: Shown | None
    counterfactual: Shown | None
    frames: Frames
    curve: Curve
    story: str


class Blank(NamedTuple):
    """What stands where a component has no pair, of all models or of one."""

    component: str
    model_id: str
    shown_at: str


class Look(NamedTuple):
    """All cards of a pair type; of each component one is shown at a time."""

    title: str
    models: tuple[str, ...]
    ranks: tuple[int, ...]
    cards: tuple[Card, ...]
    blanks: tuple[Blank, ...]


class Looks(NamedTuple):
    """The section: pair types, the scale of all curves, and what is left out."""

    looks: tuple[Look, ...]
    scale: str
    bound: str
    """Below which a component has no card, in words."""
    note: str


def pair_looks(facts: Facts, characters: int = PICTURE_CHARACTERS) -> Looks:
    """Cards of the strongest pairs, with pictures of at most so many characters in base64.

    Lower ranks, then models, are left out until they fit; then pictures.
    """
    rows = facts.shown_pairs
    counts = sorted({row.model_place for row in rows}, reverse=True)
    kept = rows
    for models, ranks in [*product(counts[:1], range(MOST_RANKS, 0, -1)), *product(counts, [1])]:
        kept = [row for row in rows if row.model_place <= models and row.rank <= ranks]
        if sum(map(picture_characters, kept)) <= characters:
            break
    else:
        none = dict.fromkeys(("factual", "counterfactual", "states"))
        kept = [row._replace(**none, shown_t=[]) for row in kept]
    left_out = len(rows) - len(kept)
    is_probability = is_of_probability(facts.run.score)
    largest = max((np.abs(_response(row)).max() for row in kept), default=1.0)
    scale = 1.0 if is_probability else float(largest)
    found = {row.pair_type for row in kept}
    types = [one for one in facts.profiled_types if one in found]
    return Looks(
        tuple(
            _look([row for row in kept if row.pair_type == one], facts.run.epsilon, scale)
            for one in types
        ),
        f"{scale:.3g}",
        "0.01" if is_probability else "half of the gate ε",
        f"{left_out} cards of lower ranks or other models are left out, so that the page stays "
        "small."
        if left_out
        else "",
    )


def is_of_probability(definition: str) -> bool:
    """Whether the JSON of a score definition is that of a probability.

    >>> is_of_probability('{"kind": "class_probability"}'), is_of_probability("[1]")
    (True, False)
    """
    try:
        return str(json.loads(definition)["kind"]).endswith("probability")
    except (ValueError, TypeError, KeyError):
        return False


def _look(rows: Sequence[Row], epsilon: float, scale: float) -> Look:
    models = tuple(dict.fromkeys(row.model_id for row in rows))
    ranks = tuple(sorted({row.rank for row in rows}))
    firsts = sorted((row for row in rows if row.rank == 1), key=lambda row: -row.value)
    order = {one: [row.model_id for row in firsts if row.component == one] for one in COMPONENTS}

    def shown_at(row: Row) -> list[str]:
        own = [_at(models.index(row.model_id) + 1, row.rank)]
        place = order[row.component].index(row.model_id) + 1
        return own + [_at(0, place)] * (row.rank == 1 and place in ranks)

    at = {(row.component, place) for row in rows for place in shown_at(row)}
    wanted = product(COMPONENTS, enumerate(("", *models)), ranks)
    blanks = (
        Blank(component, model, _at(number, rank))
        for component, (number, model), rank in wanted
        if (component, _at(number, rank)) not in at
    )
    cards = (card_of(row, epsilon, scale, " ".join(shown_at(row))) for row in rows)
    return Look(rows[0].type_name, models, ranks, tuple(cards), tuple(blanks))


def _at(place: int, rank: int) -> str:
    """Class of what is shown when a model, or 0 for all of them, and a rank are chosen."""
    return f"at-{place}-{rank}"


def card_of(row: Row, epsilon: float, scale: float, shown_at: str) -> Card:
    """Card of one pair; ``scale`` is the response at the top of its curve, score units."""
    return Card(
        row,
        shown_at,
        score(row.value, DECIMALS),
        signed(row.endpoint_delta),
        (score(row.q_plus[-1], DECIMALS), score(row.q_minus[-1], DECIMALS)),
        picture(row.factual),
        picture(row.counterfactual),
        frames_of(row),
        curve_of(row, _response(row), row.endpoint_delta, row.component == "fragility", scale),
        story(row, epsilon),
    )


def frames_of(row: Row) -> Frames:
    """States of a row of stored pictures, and where they stand."""
    shown = row.shown_t or []
    return Frames(
        picture(row.states),
        tuple(f"{stage:.2g}" for stage in shown),
        tuple(round(one, 1) for one in _places(shown, shown).tolist()),
    )


def curve_of(
    row: Row, response: NDArray[np.float64], delta: float, is_null: bool, scale: float
) -> Curve:
    """Curve of a (n_stages,) response that ends at ``delta``, over the stages of the row.

    Of an endpoint-null pair all of it is fragility. ``scale`` is the response at the top.
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
    """Where stages stand, of a hundred: above them frames of some stages, if there are any."""
    margin = 50 / len(shown) if shown else MARGIN
    return margin + np.array(stages) * (100 - 2 * margin)


def _response(row: Row) -> NDArray[np.float64]:
    """(n_stages,) factual less counterfactual score."""
    return np.array(row.q_plus) - np.array(row.q_minus)


def points(x: Iterable[float], response: Iterable[float], scale: float) -> str:
    """Points of an SVG element, from -scale at the bottom to scale at the top.

    >>> points([10, 90], [0, 0.5], 1)
    '10,50 90,26'
    """
    y = (50 - HEIGHT * np.array([*response]) / scale).tolist()
    return " ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in zip(x, y, strict=True))


def story(row: Row, epsilon: float) -> str:
    """What the curve shows, in a sentence."""
    response = _response(row)
    if row.component == "evidence":
        if row.value >= row.abs_response * (1 - 1e-9):
            return "The gap keeps its sign from start to end."
        return f"{percent(row.value / row.abs_response)} of the response agrees with the final gap."
    opposed = response * np.sign(row.endpoint_delta)
    place = np.abs(response).argmax() if row.component == "fragility" else opposed.argmin()
    at = f"At t = {row.t[place]:.3g} the gap is {signed(response[place])}"
    if row.component == "fragility":
        end = abs(row.endpoint_delta)
        agreed = f"{end:.3g}" if end == 0 or end >= 0.001 else "less than 0.001"
        if place == len(response) - 1:
            at = "The gap is largest at the end"
        return f"{at}; in the end both scores agree to {agreed}, below ε = {epsilon:g}."
    return f"{at}; it ends at {signed(row.endpoint_delta)}, the other way round."


def signed(value: float) -> str:
    """Write a difference of scores with its sign.

    >>> signed(0.25), signed(-0.5), signed(0.0), signed(-1e-5)
    ('+0.250', '−0.500', '0.000', '<0.001')
    """
    written = score(abs(value), DECIMALS)
    return written if value == 0 or written[0] == "<" else ("+" if value > 0 else "−") + written


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
    return sum(4 * len(one) // 3 for one in pictures if one)
