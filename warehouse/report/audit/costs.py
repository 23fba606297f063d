"""The report's table of what scoring took."""

from warehouse.report.audit.columns import MODEL, PAIRS
from warehouse.report.audit.facts import Cost, Facts
from warehouse.report.cells import Cell, Column, Table, count, number, percent, runnable

GIB = 2**30


def cost_table(facts: Facts, shown: Facts) -> Table:
    """What scoring took, for every model that is shown and for all models together."""
    columns = (
        MODEL,
        Column("Blocks", "count", "Units of work that were committed"),
        PAIRS,
        Column("Rows", "forward", "Distinct inputs that went through the model"),
        Column("Rows", "naive", "Inputs if every stage and branch were scored on its own"),
        Column("Saved", "of rows", "Rows that sharing equal inputs saved"),
        Column("Forward", "s", "Time in forward passes, added up over blocks"),
        Column("Wall", "s", "Time from the start of a scan to its commit, added up over blocks"),
        Column("Rate", "rows/s", "Forward rows per second of wall time"),
        Column("Batch", "rows", "Largest batch that was used"),
        Column("Memory", "GiB", "Largest peak of a scan"),
    )
    rows = tuple(_cost_cells(row) for row in _in_model_order(shown))
    return Table("Scoring", columns, rows, runnable(Cost.query, facts.study), total=_total(facts))


def _in_model_order(facts: Facts) -> list[Cost]:
    position = {row.model_id: place for place, row in enumerate(facts.models)}
    return sorted(facts.costs, key=lambda row: position[row.model_id])


def _cost_cells(row: Cost) -> tuple[Cell, ...]:
    return (
        Cell(row.model_id, row.device),
        Cell(count(row.block_count)),
        Cell(count(row.pair_count)),
        Cell(count(row.forward_rows)),
        Cell(count(row.naive_rows)),
        Cell(percent(row.rows_saved_frac)),
        Cell(number(row.forward_seconds)),
        Cell(number(row.wall_seconds)),
        Cell(number(row.rows_per_second)),
        Cell(count(row.batch_size)),
        Cell(number(row.peak_memory_bytes / GIB, 2)),
    )


def _total(facts: Facts) -> tuple[Cell, ...]:
    """Sums over the models; nothing for fewer than two."""
    if len(facts.costs) < 2:
        return ()
    sums = {
        name: sum(getattr(row, name) for row in facts.costs)
        for name in (
            "block_count",
            "pair_count",
            "forward_rows",
            "naive_rows",
            "forward_seconds",
            "wall_seconds",
        )
    }
    rows, naive, seconds = sums["forward_rows"], sums["naive_rows"], sums["wall_seconds"]
    total = Cost(
        model_id="All models",
        rows_saved_frac=1 - rows / naive if naive else None,
        rows_per_second=rows / seconds if seconds else None,
        batch_size=max(row.batch_size for row in facts.costs),
        peak_memory_bytes=max(row.peak_memory_bytes for row in facts.costs),
        device="",
        **sums,
    )
    return _cost_cells(total)
