"""Which pairs changed their role most with a version: pictures, states, and the curves of both."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from warehouse.report.audit.facts import Facts, Row
from warehouse.report.audit.pairs import (
    DECIMALS,
    MOST_RANKS,
    PICTURE_CHARACTERS,
    Curve,
    Frames,
    Shown,
    curve_of,
    frames_of,
    is_of_probability,
    picture,
    picture_characters,
    signed,
)
from warehouse.report.cells import score

BEFORE = {
    "evidence": "moved and stayed",
    "contradiction": "went one way and ended the other way",
    "fragility": "moved on the way and came back",
    "none": "did not respond",
}
NOW = {
    "evidence": "moves and stays",
    "contradiction": "goes one way and ends the other way",
    "fragility": "moves on the way and comes back",
    "none": "does not respond",
}
"""What a model does where a role is the largest, in an earlier version and in the one of now."""


class Side(NamedTuple):
    """One of the two versions: what it is called, its role and how large that is."""

    version: str
    role: str
    value: str
    delta: str
    curve: Curve


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
    story: str


class Changes(NamedTuple):
    """All cards of an entry of the registry; one rank of each change of role is shown at a time."""

    title: str
    ranks: tuple[int, ...]
    cards: tuple[Change, ...]


class Changed(NamedTuple):
    """Entries, the scale of all curves, and what is left out."""

    entries: tuple[Changes, ...]
    scale: str
    note: str


def changed_pairs(facts: Facts, characters: int = PICTURE_CHARACTERS) -> Changed:
    """Cards of the pairs that changed most, with pictures of so many characters at most.

    Lower ranks, then entries, are left out until they fit; then pictures.
    """
    rows = kept = facts.changed_pairs
    places = sorted({row.entry_place for row in rows}, reverse=True)
    for entries, ranks in [*product(places[:1], range(MOST_RANKS, 0, -1)), *product(places, [1])]:
        kept = tuple(row for row in rows if row.entry_place <= entries and row.rank <= ranks)
        if sum(map(picture_characters, kept)) <= characters:
            break
    else:
        none = dict.fromkeys(("factual", "counterfactual", "states"))
        kept = tuple(row._replace(**none, shown_t=[]) for row in kept)
    scale = 1.0
    if not is_of_probability(facts.run.score):
        scale = max(
            (float(np.abs(_response(row, when)).max()) for row in kept for when in ("_before", "")),
            default=1.0,
        )
    left_out = len(rows) - len(kept)
    return Changed(
        tuple(
            _of_entry([row for row in kept if row.entry == entry], scale)
            for entry in dict.fromkeys(row.entry for row in kept)
        ),
        f"{scale:.3g}",
        f"{left_out} cards are left out, so that the page stays small." if left_out else "",
    )


def _of_entry(rows: Sequence[Row], scale: float) -> Changes:
    first = rows[0]
    return Changes(
        f"{first.entry}, version {first.version_before} → {first.version}",
        tuple(sorted({row.rank for row in rows})),
        tuple(_card(row, scale) for row in rows),
    )


def _card(row: Row, scale: float) -> Change:
    before, now = _side(row, "_before", scale), _side(row, "", scale)
    both = zip(
        (row.q_plus_before[-1], row.q_minus_before[-1]),
        (row.q_plus[-1], row.q_minus[-1]),
        strict=True,
    )
    factual, changed = (f"{score(a, 2)} → {score(b, 2)}" for a, b in both)
    return Change(
        row,
        score(row.change_size, DECIMALS),
        (factual, changed),
        picture(row.factual),
        picture(row.counterfactual),
        frames_of(row),
        (before, now),
        f"Version {before.version} {BEFORE[before.role]}; version {now.version} {NOW[now.role]}.",
    )


def _side(row: Row, when: str, scale: float) -> Side:
    """The version before, where ``when`` is ``_before``, else the one of now."""
    role = row.role_before if when else row.role_now
    delta = getattr(row, f"endpoint_delta{when}")
    value = 0.0 if role == "none" else getattr(row, f"{role}{when}")
    is_null = role in ("fragility", "none")
    curve = curve_of(row, _response(row, when), delta, is_null, scale)
    version = row.version_before if when else row.version
    return Side(version, role, score(value, DECIMALS), signed(delta), curve)


def _response(row: Row, when: str) -> np.ndarray:
    """(n_stages,) factual less counterfactual score."""
    return np.array(getattr(row, f"q_plus{when}")) - np.array(getattr(row, f"q_minus{when}"))
