"""Show the pairs that changed most with a version or a run: pictures, states and both curves."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

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
from warehouse.report.audit.facts import Facts, Row
from warehouse.report.audit.pairs import PICTURE_CHARACTERS, fit_pictures
from warehouse.report.pair_card import (
    Frames,
    Shown,
    address_of,
    frames_of,
    is_of_probability,
    picture,
)


class Words(NamedTuple):
    """Names for the two sides of a row."""

    title: str
    """Heading of the cards of the entry or model."""
    labels: tuple[str, str]
    """Labels of the earlier and the newer side."""
    address: str
    """First part of the permalink."""


class Side(NamedTuple):
    """The pair before or now: its label, its role and the value of the role."""

    label: str
    role: str
    value: str
    delta: str
    curve: Curve
    story: str


class Change(NamedTuple):
    """One pair before and now."""

    row: Row
    ends: tuple[str, str]
    """Scores of the clean inputs before and now: of the factual one, of the changed one."""
    factual: Shown | None
    counterfactual: Shown | None
    frames: Frames
    sides: tuple[Side, Side]
    address: str
    csv: str


class Changes(NamedTuple):
    """All cards of an entry or model; one rank of each change of role is shown at a time."""

    title: str
    ranks: tuple[int, ...]
    cards: tuple[Change, ...]


class Changed(NamedTuple):
    """Entries, the scale of all curves, and a note on cards that are left out."""

    entries: tuple[Changes, ...]
    scale: str
    note: str


def changed_pairs(facts: Facts, characters: int = PICTURE_CHARACTERS) -> Changed:
    """Cards of the pairs whose role a version changed most, made by :func:`draw_changes`."""
    run = facts.run
    return draw_changes(facts.changed_pairs, (run, run), _words_of_version, characters)


def _words_of_version(row: Row) -> Words:
    return Words(
        f"{row.entry}, version {row.version_before} → {row.version}",
        (f"version {row.version_before}", f"version {row.version}"),
        f"{row.entry} {row.version}",
    )


def draw_changes(
    rows: Sequence[Row],
    runs: tuple[Row, Row],
    words_of: Callable[[Row], Words],
    characters: int = PICTURE_CHARACTERS,
) -> Changed:
    """Cards of ranked pairs, whose pictures together have at most ``characters`` characters.

    If they have more, lower ranks are left out first, then entries, then all pictures. ``runs`` are
    the earlier and the newer run; ``words_of`` names the two sides of a row.
    """
    kept_rows = fit_pictures(rows, "entry_place", characters)
    scale = 1.0
    if not all(is_of_probability(run.score) for run in runs):
        responses = (_response(row, when) for row in kept_rows for when in ("_before", ""))
        scale = max((float(np.abs(response).max()) for response in responses), default=1.0)
    cards: dict[str, list[Change]] = {}
    for row in kept_rows:
        cards.setdefault(words_of(row).title, []).append(_card(row, runs, words_of(row), scale))
    left_out = len(rows) - len(kept_rows)
    return Changed(
        tuple(
            Changes(title, tuple(sorted({card.row.rank for card in of_entry})), tuple(of_entry))
            for title, of_entry in cards.items()
        ),
        tick_text(scale),
        f"{left_out} cards are left out, so that the page stays small." if left_out else "",
    )


def _card(row: Row, runs: tuple[Row, Row], words: Words, scale: float) -> Change:
    sides = (
        _side(row, when, label, run, scale)
        for when, label, run in zip(("_before", ""), words.labels, runs, strict=True)
    )
    both = zip(
        (row.q_plus_before[-1], row.q_minus_before[-1]),
        (row.q_plus[-1], row.q_minus[-1]),
        strict=True,
    )
    factual, changed = (f"{score_text(a)} → {score_text(b)}" for a, b in both)
    return Change(
        row,
        (factual, changed),
        picture(row.factual),
        picture(row.counterfactual),
        frames_of(row),
        tuple(sides),
        address_of(words.address, row.pair_id, row.path),
        csv_of(
            row.t,
            factual_before=row.q_plus_before,
            changed_before=row.q_minus_before,
            factual=row.q_plus,
            changed=row.q_minus,
        ),
    )


def _side(row: Row, when: str, label: str, run: Row, scale: float) -> Side:
    """The earlier side of a pair if ``when`` is ``_before``, else the newer side."""
    role = row.role_before if when else row.role_now
    delta = getattr(row, f"endpoint_delta{when}")
    value = 0.0 if role == "none" else getattr(row, f"{role}{when}")
    response, is_active = _response(row, when), role not in ("fragility", "none")
    return Side(
        label,
        role,
        score_text(value),
        signed_text(delta),
        curve_of(places(row.t, row.shown_t or ()), response, is_active, scale),
        story(
            row.t,
            response,
            run.epsilon,
            smallest_response(run.epsilon, is_probability=is_of_probability(run.score)),
        ),
    )


def _response(row: Row, when: str) -> np.ndarray:
    """(n_stages,) factual minus counterfactual score of one side, as :func:`_side` selects it."""
    return response_of(getattr(row, f"q_plus{when}"), getattr(row, f"q_minus{when}"))
