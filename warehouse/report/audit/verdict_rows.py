"""The verdict row: what one model depends on, with a bar for each pair type."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warehouse.report.audit.facts import COMPONENTS, Facts, Row, Rows
from warehouse.report.pair_card import is_of_probability

MOST_BARS = 3
"""Largest number of pair types with a bar."""
SCALES = (0.1, 0.25, 0.5)
"""Ends of bars if scores are not probabilities: the first that is large enough for all."""


class Heading(NamedTuple):
    """Pair type of a column of bars."""

    name: str
    expect: str
    limit: float | None
    """Largest safe, or smallest wanted, Abs and M."""


class Response(NamedTuple):
    """Bar of one pair type on the path with the largest Abs; ``row`` is its row of responses."""

    name: str
    row: Row
    path: str
    """Name of the path; empty if the study has one path."""
    other_paths: tuple[tuple[str, float], ...]
    """Other paths with their Abs, as marks on the bar."""
    limit: float | None
    """Largest safe, or smallest wanted, Abs and M."""

    @property
    def values(self) -> dict[str, float]:
        """Means of E, C and F by role, score units."""
        return {role: getattr(self.row, role) or 0.0 for role in COMPONENTS}

    @property
    def interval(self) -> tuple[float, float] | None:
        """Limits of Abs; None without an interval."""
        return None if self.row.lower_95 is None else (self.row.lower_95, self.row.upper_95)

    @property
    def magnitude(self) -> float | None:
        """M, to which the limit applies, too; None if it is not known."""
        return self.row.endpoint_magnitude


class Finding(NamedTuple):
    """Verdict row of one model; ``lead`` and ``details`` make its sentence."""

    model: str
    """Its display name, or its name in a registry."""
    model_id: str
    """Id of the model if ``model`` is another name; otherwise empty."""
    decision: str | None
    """``safe``, ``not safe`` or ``undecided`` by the limits of the study; None without any."""
    lead: str
    details: str
    responses: tuple[Response | None, ...]
    """One for each heading; None if nothing is scored."""
    doubts: tuple[str, ...]
    """Sentences on what could change the finding."""
    pair: str = ""
    """Fragment of the permalink of its strongest pair; empty if the page has no card of it."""


def headings_of(names: Rows, responses: Rows, findings: Iterable[Row]) -> tuple[Heading, ...]:
    """Pair types that have a bar: at most ``MOST_BARS`` of those with results, without controls.

    Pair types that ``findings`` are about come first, then pair types that should not matter. All
    arguments are fields of :attr:`Facts.for_people`.
    """
    expect = {row.display_name: row.expect for row in names if row.kind == "pair_type"}
    limits = {row.pair_type: _limit(row) for row in responses}
    scored = [name for name in expect if name in limits and expect[name] != "control"]
    drawn = select_drawn(scored, [row.pair_type for row in findings])
    return tuple(
        Heading(
            name,
            "" if expect[name] == "unknown" else expect[name].replace("_", " "),
            limits[name],
        )
        for name in drawn
    )


def select_drawn(pair_types: Sequence[str], named: Iterable[str]) -> list[str]:
    """Select ``MOST_BARS`` pair types in their order: those that are named, then the first."""
    named_first = dict.fromkeys([name for name in named if name in pair_types] + [*pair_types])
    chosen = set(list(named_first)[:MOST_BARS])
    return [name for name in pair_types if name in chosen]


def finding_of(facts: Facts, row: Row, headings: Sequence[Heading]) -> Finding:
    """Make the verdict row of a model from its row of ``findings``."""
    doubts = [
        doubt.sentence
        for doubt in facts.doubts
        if (doubt.model_id, doubt.pair_type) == (row.model_id, row.pair_type)
        and (doubt.path == row.path or doubt.doubt == "paths")
    ]
    model_id = facts.ids.get(row.model_id, "")
    return verdict_row(row, facts.responses, headings, model_id, doubts)


def verdict_row(
    row: Row,
    responses: Rows,
    headings: Sequence[Heading],
    model_id: str = "",
    doubts: Sequence[str] = (),
) -> Finding:
    """Make a verdict row.

    ``row`` has the model's name for people as ``model_id``, its ``decision`` and its ``sentence``;
    ``responses`` are those of all models under the same names. ``model_id`` is the id of a model
    that has another name.
    """
    by_type: dict[str, list[Row]] = {}
    for response in responses:
        if response.model_id == row.model_id:
            by_type.setdefault(response.pair_type, []).append(response)
    lead, colon, details = row.sentence.partition(": ")
    bars = (by_type.get(heading.name) for heading in headings)
    return Finding(
        row.model_id,
        model_id,
        row.decision,
        lead + colon,
        details,
        tuple(bar_of(on_paths) if on_paths else None for on_paths in bars),
        tuple(doubts),
    )


def bar_of(on_paths: Sequence[Row]) -> Response:
    """Make the bar of one pair type: the path with the largest Abs, other paths as marks."""
    row = max(on_paths, key=lambda each: each.abs_response)
    other_paths = tuple((each.path, each.abs_response) for each in on_paths if each is not row)
    return Response(row.pair_type, row, row.path if other_paths else "", other_paths, _limit(row))


def scale_of(score: str, rows: Iterable[Row]) -> float:
    """Score units at the end of bars: 1 for probabilities, else the first that is large enough.

    ``score`` is the JSON of the score's definition.
    """
    if is_of_probability(score):
        return 1.0
    largest = max((_end_of(row) for row in rows), default=1.0)
    return next((scale for scale in SCALES if largest <= scale), largest)


def _end_of(row: Row) -> float:
    """Largest value that a bar shows: Abs or its upper limit, or M."""
    return max(row.upper_95 or row.abs_response or 0.0, row.endpoint_magnitude or 0.0)


def _limit(row: Row) -> float | None:
    return row.wanted_limit if row.safe_limit is None else row.safe_limit
