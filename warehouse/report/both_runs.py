"""Verdict rows of a comparison: each model before and now, with the same bars."""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warehouse.report.audit.facts import COMPONENTS, Row, Rows
from warehouse.report.audit.verdict_rows import (
    Finding,
    Heading,
    Response,
    bar_of,
    scale_of,
    select_drawn,
)

MOST = 8
"""Largest number of models drawn, largest changes first; the tables have all models."""
EXPECTED = ("should_not_matter", "should_matter")
"""Expectations of pair types, in the order of their bars."""
Bar = namedtuple(
    "Bar",
    ("pair_type", "path", *COMPONENTS, "abs_response", "lower_95", "upper_95")
    + ("endpoint_magnitude", "safe_limit", "wanted_limit"),
)


class BothRuns(NamedTuple):
    """Rows of bars: for each model, one row for the earlier run and one for the newer run."""

    headings: tuple[Heading, ...]
    findings: tuple[Finding, ...]
    scale: float
    """Score units at the end of the bars."""
    model_count: int
    """Number of models that are drawn."""
    has_paths: bool
    """True if a bar has marks of other paths."""


def draw_both_runs(
    models: Sequence[str],
    runs: Sequence[tuple[str, Rows, Mapping[str, str]]],
    expect: Mapping[str, str],
    names: Mapping[str, str],
    score: str,
    found_types: Sequence[str] = (),
) -> BothRuns:
    """Make verdict rows of the first models.

    Each of ``runs`` has a word for the run, its means with intervals (a row for each model, pair
    type, path and metric) and its findings by model. ``expect`` says by pair type whether it should
    matter; ``names`` are those of models, pair types and paths for people. ``score`` is the JSON
    of the score's definition. Pair types in ``found_types`` have bars before others.
    """
    bars = [_bars_of(means, names) for _, means, _ in runs]
    order = sorted(
        (kind for kind in expect if expect[kind] in EXPECTED),
        key=lambda kind: EXPECTED.index(expect[kind]),
    )
    order += [kind for kind in expect if expect[kind] not in (*EXPECTED, "control")]
    scored = {pair_type for of_run in bars for _, pair_type in of_run}
    types = select_drawn([kind for kind in order if kind in scored], found_types)
    drawn = list(models[:MOST])
    findings = tuple(
        _finding(
            f"{names.get(model, model)}, {word}", sentences.get(model, ""), model, types, of_run
        )
        for model in drawn
        for (word, _, sentences), of_run in zip(runs, bars, strict=True)
    )
    all_bars = [bar for of_run in bars for on_paths in of_run.values() for bar in on_paths]
    return BothRuns(
        tuple(
            Heading(
                names.get(kind, kind),
                expect[kind].replace("_", " ") if expect[kind] in EXPECTED else "",
                None,
            )
            for kind in types
        ),
        findings,
        scale_of(score, all_bars),
        len(drawn),
        any(bar and bar.other_paths for finding in findings for bar in finding.responses),
    )


def _finding(
    title: str,
    sentence: str,
    model: str,
    types: Sequence[str],
    bars: Mapping[tuple[str, str], list[Row]],
) -> Finding:
    begins, colon, details = sentence.partition(": ")
    responses = tuple(_bar(bars.get((model, kind), [])) for kind in types)
    return Finding(title, "", None, begins + colon, details, responses, ())


def _bar(on_paths: Sequence[Row]) -> Response | None:
    return bar_of(on_paths) if on_paths else None


def _bars_of(means: Rows, names: Mapping[str, str]) -> dict[tuple[str, str], list[Row]]:
    """Bars by model and pair type, one for each path that has E, C, F and Abs."""
    metrics: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in means:
        metrics.setdefault((row.model_id, row.pair_type, row.path), {})[row.metric] = row
    bars: dict[tuple[str, str], list[Row]] = {}
    for (model, pair_type, path), by_metric in metrics.items():
        if not {*COMPONENTS, "abs_response"} <= by_metric.keys():
            continue
        response, magnitude = by_metric["abs_response"], by_metric.get("endpoint_magnitude")
        bars.setdefault((model, pair_type), []).append(
            Bar(
                names.get(pair_type, pair_type),
                names.get(path, path),
                *(by_metric[name].estimate for name in COMPONENTS),
                response.estimate,
                response.lower_95,
                response.upper_95,
                magnitude and magnitude.estimate,
                None,
                None,
            )
        )
    return bars
