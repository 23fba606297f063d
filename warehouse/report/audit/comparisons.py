"""The report's tables that compare: reveal paths with each other, and values of epsilon."""

from collections.abc import Callable

from warehouse.report.audit.columns import (
    ACTIVE,
    MODELS,
    PAIR_TYPE,
    PATH,
    decimals_of,
    line_field,
    line_metric,
    lines_by_metric,
    metric_field,
)
from warehouse.report.audit.facts import COMPONENTS, METRICS, Facts, Row
from warehouse.report.cells import MISSING, Cell, Column, Field, Table, score, table


def ratio_table(facts: Facts) -> Table:
    """What the path does to the mean over models of every metric."""
    decimals = decimals_of(facts)

    def cell(row: Row) -> Cell:
        ratio = MISSING if row.ratio is None else f"× {row.ratio:.2f}"
        return Cell(ratio, f"{score(row.mean_a, decimals)} → {score(row.mean_b, decimals)}")

    note = "Mean over models on the second path, divided by the mean on the first."
    return _path_table("Ratio of means", "ratio", facts, "path_ratios", cell, note)


def rank_table(facts: Facts) -> Table:
    """Whether one path ranks the models like another."""

    def cell(row: Row) -> Cell:
        spearman = MISSING if row.spearman is None else f"{row.spearman:.3f}"
        return Cell(spearman, hover=row.reason or "")

    reasons = sorted({row.reason for row in facts.rank_transfer if row.reason})
    why = f" {MISSING} stands where it is undefined: {'; '.join(reasons)}." if reasons else ""
    note = (
        "1 means that both paths put the models in the same order, 0 that the orders are "
        f"unrelated, −1 that one reverses the other.{why}"
    )
    return _path_table("Rank transfer", "Spearman", facts, "rank_transfer", cell, note)


def sweep_table(facts: Facts) -> Table:
    """How the gate moves response between the components, as a mean over models."""
    decimals = decimals_of(facts)

    def epsilon(row: Row) -> Cell:
        return Cell(("this run: " if row.epsilon == facts.run.epsilon else "") + f"{row.epsilon:g}")

    meaning = "Gate: a pair is active from this final difference on"
    fields = (
        PAIR_TYPE,
        PATH,
        Field(Column("ε", "score", meaning), epsilon),
        MODELS,
        ACTIVE,
        *(metric_field(metric, decimals) for metric in COMPONENTS),
    )
    return facts.table("sweep", "Mean over models", fields)


def _path_table(
    title: str, unit: str, facts: Facts, part: str, cell: Callable[[Row], Cell], note: str
) -> Table:
    """One row per pair type and pair of paths, one column per metric."""
    paths = Column("Paths", meaning=PATH.column.meaning, is_number=False)
    arrow = Field(paths, lambda row: Cell(f"{row.path_a} → {row.path_b}"))
    fields = (
        *map(line_field, (PAIR_TYPE, arrow, MODELS)),
        *(line_metric(metric, unit, cell) for metric in METRICS),
    )
    lines = lines_by_metric(getattr(facts, part), "pair_type", "path_a", "path_b")
    return table(title, fields, lines, facts.runnable(part), note)
