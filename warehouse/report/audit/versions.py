"""Versions of a model of a registry as rows of bars."""

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from warehouse.report.audit.facts import COMPONENTS, Row
from warehouse.report.audit.verdict_rows import Finding, Heading, bar_of, scale_of

MOST_TYPES = 2
"""Pair types that have a bar."""
EXPECTED = ("should_matter", "should_not_matter")
LIMITS = ("lower_95", "upper_95", "safe_limit", "wanted_limit")
Bar = namedtuple(
    "Bar", ("pair_type", "path", *COMPONENTS, "abs_response", "endpoint_magnitude", *LIMITS)
)


class Versions(NamedTuple):
    """Versions of a model, as rows of bars."""

    headings: tuple[Heading, ...]
    findings: tuple[Finding, ...]
    scale: float
    has_paths: bool
    """True if a bar has marks of other paths."""


def bars_of_versions(
    bars: Mapping[str, Sequence[Row]],
    names: Iterable[Row],
    failed: Iterable[Row],
    score: str,
) -> Versions:
    """Make the bars of versions, by pair type, those with failed gates first.

    ``bars`` has rows with the fields of ``Bar`` by version, ``names`` those of
    ``core_display_names``, and ``failed`` the failed gates; all have names for people. ``score`` is
    the definition of the scores in JSON.
    """
    bars = {name: of_version for name, of_version in bars.items() if of_version}
    failed_types = {row.pair_type for row in failed}
    pair_types = dict.fromkeys(bar.pair_type for of_version in bars.values() for bar in of_version)
    types = sorted(pair_types, key=lambda pair_type: pair_type not in failed_types)[:MOST_TYPES]
    expect = {row.display_name: row.expect for row in names if row.kind == "pair_type"}
    findings = []
    for name, of_version in bars.items():
        by_type = ([bar for bar in of_version if bar.pair_type == kind] for kind in types)
        responses = tuple(bar_of(on_paths) if on_paths else None for on_paths in by_type)
        findings.append(Finding(f"version {name}", "", None, "", "", responses, ()))
    return Versions(
        tuple(
            Heading(name, words.replace("_", " ") if words in EXPECTED else "", None)
            for name, words in ((name, expect.get(name, "")) for name in types)
        ),
        tuple(findings),
        scale_of(score, [bar for of_version in bars.values() for bar in of_version]),
        any(bar and bar.other_paths for finding in findings for bar in finding.responses),
    )


def bars_of(rows: Sequence[Row]) -> list[Bar]:
    """Bars of the rows of ``history_of`` of one version by pair type and path, of its newest audit.

    A pair type and path without E, C and F has no bar.
    """
    newest = max((row.resolved_at for row in rows), default=None)
    places: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row.resolved_at == newest:
            places.setdefault((row.pair_type, row.path), {})[row.metric] = row
    complete = {place: each for place, each in places.items() if {*COMPONENTS} <= each.keys()}
    return [
        Bar(
            *place,
            *(metrics[name].value for name in COMPONENTS),
            sum(metrics[name].value for name in COMPONENTS),
            metrics["endpoint_magnitude"].value if "endpoint_magnitude" in metrics else None,
            *_limits_of(metrics.get("abs_response")),
            None,
            None,
        )
        for place, metrics in complete.items()
    ]


def _limits_of(response: Row | None) -> tuple[float | None, float | None]:
    """Ends of the interval of Abs; (None, None) without a response."""
    return (None, None) if response is None else (response.lower_limit, response.upper_limit)
