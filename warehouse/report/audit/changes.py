"""Show the pairs whose role a version changed most: pictures, states and both curves."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from decaf.foundation.number_text import score_text, signed_text, tick_text
from decaf.library.curve import Curve, csv_of, curve_of, places, response_of, story
from warehouse.report.audit.facts import Facts, Row
from warehouse.report.audit.pairs import MOST_RANKS, PICTURE_CHARACTERS
from warehouse.report.pair_card import (
    Frames,
    Shown,
    address_of,
    frames_of,
    is_of_probability,
    picture,
    picture_characters,
    smallest_gap,
)


class Side(NamedTuple):
    """One of the two versions: what it is called, its role and how large that is."""

    version: str
    role: str
    value: str
    delta: str
    curve: Curve
    story: str


class Change(NamedTuple):
    """One pair whose role is another in the version of now."""

    row: Row
    size: str
    ends: tuple[str, str]
    """Scores of the clean inputs in both versions: factual, changed."""
    factual: Shown | None
    counterfactual: Shown | None
    frames: Frames
    sides: tuple[Side, Side]
    address: str
    csv: str


class Changes(NamedTuple):
    """All cards of an entry of the registry; one rank of each change of role is shown at a time."""

    title: str
    ranks: tuple[int, ...]
    cards: tuple[Change, ...]


class Changed(NamedTuple):
    """Entries, the scale of all curves, and a note on cards that are left out."""

    entries: tuple[Changes, ...]
    scale: str
    note: str


def changed_pairs(facts: Facts, characters: int = PICTURE_CHARACTERS) -> Changed:
    """Cards of the pairs that changed most, with pictures of so many characters at most.

    Lower ranks, then entries, are left out until they fit; then pictures.
    """
    rows = kept_rows = facts.changed_pairs
    places = sorted({row.entry_place for row in rows}, reverse=True)
    for entries, ranks in [*product(places[:1], range(MOST_RANKS, 0, -1)), *product(places, [1])]:
        kept_rows = tuple(row for row in rows if row.entry_place <= entries and row.rank <= ranks)
        if sum(map(picture_characters, kept_rows)) <= characters:
            break
    else:
        none = dict.fromkeys(("factual", "counterfactual", "states"))
        kept_rows = tuple(row._replace(**none, shown_t=[]) for row in kept_rows)
    scale = 1.0
    if not is_of_probability(facts.run.score):
        scale = max(
            (
                float(np.abs(_response(row, when)).max())
                for row in kept_rows
                for when in ("_before", "")
            ),
            default=1.0,
        )
    left_out = len(rows) - len(kept_rows)
    return Changed(
        tuple(
            _of_entry([row for row in kept_rows if row.entry == entry], facts.run, scale)
            for entry in dict.fromkeys(row.entry for row in kept_rows)
        ),
        tick_text(scale),
        f"{left_out} cards are left out, so that the page stays small." if left_out else "",
    )


def _of_entry(rows: Sequence[Row], run: Row, scale: float) -> Changes:
    first = rows[0]
    return Changes(
        f"{first.entry}, version {first.version_before} → {first.version}",
        tuple(sorted({row.rank for row in rows})),
        tuple(_card(row, run, scale) for row in rows),
    )


def _card(row: Row, run: Row, scale: float) -> Change:
    before, now = (_side(row, when, run, scale) for when in ("_before", ""))
    both = zip(
        (row.q_plus_before[-1], row.q_minus_before[-1]),
        (row.q_plus[-1], row.q_minus[-1]),
        strict=True,
    )
    factual, changed = (f"{score_text(a)} → {score_text(b)}" for a, b in both)
    return Change(
        row,
        score_text(row.change_size),
        (factual, changed),
        picture(row.factual),
        picture(row.counterfactual),
        frames_of(row),
        (before, now),
        address_of(f"{row.entry} {row.version}", row.pair_id, row.path),
        csv_of(
            row.t,
            factual_before=row.q_plus_before,
            changed_before=row.q_minus_before,
            factual=row.q_plus,
            changed=row.q_minus,
        ),
    )


def _side(row: Row, when: str, run: Row, scale: float) -> Side:
    """The version before, where ``when`` is ``_before``, else the one of now."""
    role = row.role_before if when else row.role_now
    delta = getattr(row, f"endpoint_delta{when}")
    value = 0.0 if role == "none" else getattr(row, f"{role}{when}")
    response, is_active = _response(row, when), role not in ("fragility", "none")
    return Side(
        row.version_before if when else row.version,
        role,
        score_text(value),
        signed_text(delta),
        curve_of(places(row.t, row.shown_t or ()), response, is_active, scale),
        story(row.t, response, run.epsilon, smallest_gap(run.score, run.epsilon)),
    )


def _response(row: Row, when: str) -> np.ndarray:
    """(n_stages,) factual less counterfactual score of a version."""
    return response_of(getattr(row, f"q_plus{when}"), getattr(row, f"q_minus{when}"))
