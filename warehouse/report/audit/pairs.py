"""The strongest pairs of some models, as cards; a page shows a few of them at a time."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from decaf.foundation.number_text import tick_text
from decaf.library.curve import response_of
from warehouse.report.audit.facts import COMPONENTS, Facts, Row
from warehouse.report.pair_card import (
    Card,
    card_of,
    is_of_probability,
    picture_characters,
)

PICTURE_CHARACTERS = 1_200_000
"""Most base64 characters of all pictures of a page."""
MOST_RANKS = 3


class Blank(NamedTuple):
    """Empty card of a component without a pair, of all models or of one."""

    component: str
    model_id: str
    shown_at: str


class TypeCards(NamedTuple):
    """All cards of a pair type; the page shows one of each component at a time."""

    title: str
    models: tuple[str, ...]
    ranks: tuple[int, ...]
    cards: tuple[Card, ...]
    blanks: tuple[Blank, ...]


class PairCards(NamedTuple):
    """The section: pair types, the scale of all curves, and a note on cards that are left out."""

    types: tuple[TypeCards, ...]
    scale: str
    bound: str
    """Smallest component that has a card, in words."""
    note: str

    @property
    def cards(self) -> tuple[Card, ...]:
        """Cards of all pair types."""
        return tuple(card for pair_type in self.types for card in pair_type.cards)


def single_pairs(facts: Facts) -> tuple[Card, ...]:
    """Cards of the strongest pair of each component, of the first pair type that has any.

    Takes facts for people. If gates failed, only pairs of the models that failed them are shown, if
    any, and the components and pair types of the gates come first. Next come pair types that break
    a limit, the largest response before the others; then the pair types of the findings, the worst
    first.
    """
    gates = [row for row in facts.verdicts if row.verdict == "fail"]
    models = facts.failed_models
    of_models = [row for row in facts.shown_pairs if row.model_id in models] or facts.shown_pairs
    limits = [row for row in facts.limits if row.verdict == "failed"]
    limits.sort(key=lambda row: row.response, reverse=True)
    with_pairs = {row.pair_type for row in of_models}
    named = (row.pair_type for row in (*gates, *limits, *facts.findings))
    candidates = (*named, *facts.profiled_types)
    first = next((name for name in candidates if name in with_pairs), None)
    of_type = [row for row in of_models if row.pair_type == first]
    metrics = {row.metric for row in gates}
    cards = []
    for component in sorted(COMPONENTS, key=lambda name: name not in metrics):
        rows = [row for row in of_type if row.component == component]
        if rows:
            row, place = max(rows, key=lambda each: each.value), len(cards) + 1
            run, scale = facts.run, scale_of(facts.run.score, of_type)
            cards.append(card_of(row, run.score, run.epsilon, scale, _at(0, place)))
    return tuple(cards)


def strongest_address(cards: Sequence[Card], finding: Row) -> str:
    """Fragment of the permalink of a finding's strongest pair; empty if no card shows one."""
    pairs = (finding.model_id, finding.pair_type)
    shown = [card for card in cards if (card.row.model_id, card.row.pair_type) == pairs]
    return max(shown, key=lambda card: card.row.value).address if shown else ""


def scale_of(score: str, rows: Sequence[Row]) -> float:
    """Response at the top of all curves: 1 for probabilities, otherwise the largest."""
    if is_of_probability(score):
        return 1.0
    responses = (response_of(row.q_plus, row.q_minus) for row in rows)
    return max((float(np.abs(response).max()) for response in responses), default=1.0)


def pair_cards(facts: Facts, characters: int = PICTURE_CHARACTERS) -> PairCards:
    """Cards of the strongest pairs, whose pictures have at most ``characters`` base64 characters.

    If they have more, lower ranks are left out first, then models, then all pictures.
    """
    kept_rows = fit_pictures(facts.shown_pairs, "model_place", characters)
    left_out = len(facts.shown_pairs) - len(kept_rows)
    is_probability = is_of_probability(facts.run.score)
    scale = scale_of(facts.run.score, kept_rows)
    shown_types = {row.pair_type for row in kept_rows}
    types = [pair_type for pair_type in facts.profiled_types if pair_type in shown_types]
    return PairCards(
        tuple(
            _type_cards([row for row in kept_rows if row.pair_type == pair_type], facts.run, scale)
            for pair_type in types
        ),
        tick_text(scale),
        "0.010" if is_probability else "half of the threshold",
        f"{left_out} cards of lower ranks or other models are left out, so that the page stays "
        "small."
        if left_out
        else "",
    )


def fit_pictures(rows: Sequence[Row], column: str, characters: int) -> list[Row]:
    """Leave out lower ranks, then models or entries, then all pictures, until the pictures fit.

    ``column`` has the place of a row's model or entry; pictures have at most ``characters`` base64
    characters.
    """
    places = sorted({getattr(row, column) for row in rows}, reverse=True)
    kept_rows = list(rows)
    for place, rank in [*product(places[:1], range(MOST_RANKS, 0, -1)), *product(places, [1])]:
        kept_rows = [row for row in rows if getattr(row, column) <= place and row.rank <= rank]
        if sum(map(picture_characters, kept_rows)) <= characters:
            return kept_rows
    none = dict.fromkeys(("factual", "counterfactual", "states"))
    return [row._replace(**none, shown_t=[]) for row in kept_rows]


def _type_cards(rows: Sequence[Row], run: Row, scale: float) -> TypeCards:
    models = tuple(dict.fromkeys(row.model_id for row in rows))
    ranks = tuple(sorted({row.rank for row in rows}))
    firsts = sorted((row for row in rows if row.rank == 1), key=lambda row: -row.value)
    order = {role: [row.model_id for row in firsts if row.component == role] for role in COMPONENTS}

    def shown_at(row: Row) -> list[str]:
        places = [_at(models.index(row.model_id) + 1, row.rank)]
        place = order[row.component].index(row.model_id) + 1
        return places + [_at(0, place)] * (row.rank == 1 and place in ranks)

    at = {(row.component, place) for row in rows for place in shown_at(row)}
    cells = product(COMPONENTS, enumerate(("", *models)), ranks)
    blanks = (
        Blank(component, model, _at(number, rank))
        for component, (number, model), rank in cells
        if (component, _at(number, rank)) not in at
    )
    cards = (card_of(row, run.score, run.epsilon, scale, " ".join(shown_at(row))) for row in rows)
    return TypeCards(rows[0].type_name, models, ranks, tuple(cards), tuple(blanks))


def _at(place: int, rank: int) -> str:
    """CSS class of the card that a model (0: all models) and a rank select."""
    return f"at-{place}-{rank}"
