"""Several runs of a study side by side on one page: means with intervals, and findings.

The runs may lie in different warehouses and have different pairs, so intervals are not paired.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from decaf.foundation.names import metric_name
from decaf.foundation.number_text import MISSING, score_text
from warehouse.report import templates
from warehouse.report.audit.facts import Row
from warehouse.report.cells import Cell, Column, Field, Table, fields_of, table, with_interval
from warehouse.report.comparison import METRICS, Side

KEYS = ("model_id", "pair_type", "path")
NOW = "newest run"
"""Name of the newest run on the page, next to the names of the requested runs."""

Line = dict[str, Row]
"""Means of one model, pair type and path, by the name of their run."""


def write_sides(target: Path, study: str, sides: Mapping[str, Side], now: Side) -> Path:
    """Write the page: the newest run, then the requested runs in the given order.

    Raises WriteFailed when the disk cannot be written.
    """
    shown = {**sides, NOW: now}
    lines = {metric: _lines(metric, shown) for metric in METRICS}
    return templates.write(
        target,
        "comparison",
        templates.render(
            "sides.html.j2",
            study=study,
            sides=shown,
            headline=headline(lines, now.names),
            tables=[_table(metric, metric_lines, shown) for metric, metric_lines in lines.items()],
            models=sorted({model for side in shown.values() for model in side.findings}),
        ),
    )


def headline(lines: Mapping[str, list[Line]], names: Mapping[str, str]) -> str:
    """State in a sentence where the runs lie furthest apart."""
    firsts = [
        (spread(metric_lines[0]), metric, metric_lines[0])
        for metric, metric_lines in lines.items()
        if metric_lines
    ]
    size, metric, line = max(firsts, key=lambda first: first[0], default=(0.0, "", {}))
    if not size:
        return "The runs have no mean that differs"
    row = next(iter(line.values()))
    means = [row.estimate for row in line.values()]
    what = metric.replace("abs_response", "the response")
    return (
        f"Furthest apart is {row.model_id}: {what} on "
        f"{names.get(row.pair_type, row.pair_type)} from {score_text(min(means))} to "
        f"{score_text(max(means))}"
    )


def spread(line: Line) -> float:
    """Range of the means of a line, score units; 0 for a single mean."""
    means = [row.estimate for row in line.values()]
    return max(means) - min(means)


def _lines(metric: str, sides: Mapping[str, Side]) -> list[Line]:
    """Lines of a metric; lines whose means lie furthest apart come first."""
    lines: dict[tuple[str, ...], Line] = {}
    for name, side in sides.items():
        for row in side.means:
            if row.metric == metric and row.estimate is not None:
                key = tuple(getattr(row, part) for part in KEYS)
                lines.setdefault(key, {})[name] = row
    return [lines[key] for key in sorted(lines, key=lambda key: (-spread(lines[key]), key))]


def _table(metric: str, lines: list[Line], sides: Mapping[str, Side]) -> Table:
    declared, names = fields_of("compared"), sides[NOW].names

    def of(line: Line, key: str) -> Cell:
        text = getattr(next(iter(line.values())), key)
        return Cell(names.get(text, text) if key in ("pair_type", "path") else text)

    def mean(line: Line, name: str) -> Cell:
        if name not in line:
            return Cell(MISSING)
        row, now = line[name], line.get(NOW)
        cell = with_interval(row.estimate, row.lower_95, row.upper_95)
        return cell._replace(text=cell.text + " *") if now and _is_apart(row, now) else cell

    columns = [
        *(Field(declared[key].column, partial(of, key=key)) for key in KEYS),
        *(Field(Column(name, "95 % interval"), partial(mean, name=name)) for name in sides),
    ]
    title = metric_name(metric)
    return table(title[0].upper() + title[1:], columns, lines, "")


def _is_apart(row: Row, now: Row) -> bool:
    """True if the intervals of two means do not overlap; False if one has none."""
    limits = (row.lower_95, row.upper_95, now.lower_95, now.upper_95)
    return None not in limits and (row.lower_95 > now.upper_95 or row.upper_95 < now.lower_95)
