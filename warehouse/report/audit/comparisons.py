"""The report's tables that compare: reveal paths with each other, and values of epsilon."""

from collections.abc import Iterable

from warehouse.report.audit.columns import ACTIVE, METRIC_COLUMNS, PAIR_TYPE, PATH, decimals_of
from warehouse.report.audit.facts import METRICS, Facts, PathRatio, RankTransfer, SweepPoint
from warehouse.report.cells import MISSING, Cell, Column, Table, count, percent, runnable, score


def ratio_table(facts: Facts) -> Table:
    """What the path does to the mean over models of every metric."""
    decimals = decimals_of(facts)
    cells = {
        (row.pair_type, row.path_a, row.path_b, row.metric): Cell(
            MISSING if row.ratio is None else f"× {row.ratio:.2f}",
            f"{score(row.mean_a, decimals)} → {score(row.mean_b, decimals)}",
        )
        for row in facts.path_ratios
    }
    return _path_table(
        "Ratio of means",
        "ratio",
        cells,
        facts.path_ratios,
        runnable(PathRatio.query, facts.study),
        "Mean over models on the second path, divided by the mean on the first.",
    )


def rank_table(facts: Facts) -> Table:
    """Whether one path ranks the models like another."""
    cells = {
        (row.pair_type, row.path_a, row.path_b, row.metric): Cell(
            MISSING if row.spearman is None else f"{row.spearman:.3f}", hover=row.reason or ""
        )
        for row in facts.rank_transfer
    }
    reasons = sorted({row.reason for row in facts.rank_transfer if row.reason})
    why = f" {MISSING} stands where it is undefined: {'; '.join(reasons)}." if reasons else ""
    return _path_table(
        "Rank transfer",
        "Spearman",
        cells,
        facts.rank_transfer,
        runnable(RankTransfer.query, facts.study),
        "1 means that both paths put the models in the same order, 0 that the orders are "
        f"unrelated, −1 that one reverses the other.{why}",
    )


def sweep_table(facts: Facts) -> Table:
    """How the gate moves response between the components, as a mean over models."""
    decimals = decimals_of(facts)
    columns = (
        PAIR_TYPE,
        PATH,
        Column("ε", "score", "Gate: a pair is active from this final difference on"),
        Column("Models", "count"),
        ACTIVE,
        *(METRIC_COLUMNS[metric] for metric in ("evidence", "contradiction", "fragility")),
    )
    rows = tuple(
        (
            Cell(row.pair_type),
            Cell(row.path),
            Cell(("this run: " if row.epsilon == facts.run.epsilon else "") + f"{row.epsilon:g}"),
            Cell(count(row.model_count)),
            Cell(percent(row.active_frac)),
            *(
                Cell(score(value, decimals))
                for value in (row.evidence, row.contradiction, row.fragility)
            ),
        )
        for row in facts.sweep
    )
    return Table("Mean over models", columns, rows, runnable(SweepPoint.query, facts.study))


def _path_table(
    title: str,
    unit: str,
    cells: dict[tuple[str, str, str, str], Cell],
    rows: Iterable[PathRatio | RankTransfer],
    sql: str,
    note: str,
) -> Table:
    """One row per pair type and pair of paths, one column per metric."""
    model_counts = {(row.pair_type, row.path_a, row.path_b): row.model_count for row in rows}
    metric_columns = (METRIC_COLUMNS[metric]._replace(unit=unit) for metric in METRICS)
    columns = (PAIR_TYPE, PATH._replace(label="Paths"), Column("Models", "count"), *metric_columns)
    return Table(
        title,
        columns,
        tuple(
            (
                Cell(pair_type),
                Cell(f"{path_a} → {path_b}"),
                Cell(count(model_count)),
                *(
                    cells.get((pair_type, path_a, path_b, metric), Cell(MISSING))
                    for metric in METRICS
                ),
            )
            for (pair_type, path_a, path_b), model_count in model_counts.items()
        ),
        sql,
        note,
    )
