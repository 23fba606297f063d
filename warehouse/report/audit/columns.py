"""Columns that several tables of the report share, and the precision of its scores."""

from collections.abc import Callable

from warehouse.report.audit.facts import Facts, Row, Rows
from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Field,
    count,
    field,
    percent,
    score,
    score_decimals,
)

METRIC_COLUMNS = {
    "endpoint_magnitude": Column(
        "M", "score", "Size of the final difference |d|, mean over pairs, score units"
    ),
    "evidence": Column(
        "E", "score", "Evidence: response that agrees with the final difference", True, "evidence"
    ),
    "contradiction": Column(
        "C",
        "score",
        "Contradiction: response that opposes the final difference",
        True,
        "contradiction",
    ),
    "fragility": Column(
        "F", "score", "Fragility: response on pairs without a final difference", True, "fragility"
    ),
    "abs_response": Column("Abs", "score", "Whole response: E + C + F", True, "abs_response"),
}
MODEL = field("model_id", "Model")
MODELS = field("model_count", "Models", "count", write=count)
PAIR_TYPE = field("pair_type", "Pair type", meaning="Which change makes the counterfactual")
PATH = field("path", "Path", meaning="How the input is revealed")
ACTIVE = field(
    "active_frac", "Active", "of pairs", "Share of pairs whose final difference reaches ε", percent
)
PAIRS = field("pair_count", "Pairs", "count", "Pairs that were scored", count)


def metric_field(metric: str, decimals: int) -> Field:
    """Column of a metric without its interval."""
    written = field(metric, "", write=lambda value: score(value, decimals))
    return written._replace(column=METRIC_COLUMNS[metric])


def decimals_of(facts: Facts) -> int:
    """Decimals that all scores of the report are written with."""
    return score_decimals(
        value for row in facts.profiles for value in (row.endpoint_magnitude, row.abs_response)
    )


def lines_by_metric(rows: Rows, *keys: str) -> list[dict[str, Row]]:
    """Lines of a table that has a column for each metric: the rows that share all keys."""
    lines: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        line = lines.setdefault(tuple(getattr(row, key) for key in keys), {})
        line[row.metric] = row
    return list(lines.values())


def line_field(field: Field) -> Field:
    """The column of a field that all rows of a line share."""
    return Field(field.column, lambda line: field.cell(next(reversed(line.values()))))


def line_metric(metric: str, unit: str, cell: Callable[[Row], Cell]) -> Field:
    """The column of a metric in such lines."""
    column = METRIC_COLUMNS[metric]._replace(unit=unit)
    return Field(column, lambda line: cell(line[metric]) if metric in line else Cell(MISSING))
