"""The report's tables of the paper, any of them, with intervals and published values."""

from typing import Any

from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Table,
    count,
    runnable,
    score,
    score_decimals,
)
from warehouse.report.paper.reading import ANY_DATA, DataNote, Paper, PaperRow, PaperTable

WHOLE = 2
"""Whole estimates from here on are counts; 0 and 1 are the ends of most scales."""

LABELS = {True: "", False: "not comparable", None: "comparability unknown"}
"""What stands beside a published value, by whether it compares."""


def paper_tables(paper: Paper, study: str) -> tuple[Table, ...]:
    """Every table of the paper that the study has rows of."""
    return tuple(_table(table, paper, study) for table in paper.tables)


def data_note(data: DataNote | None) -> str:
    """What a reader must know before comparing with the paper."""
    if data is None:
        return "Published values are shown without a check of the data: comparability unknown."
    if data.is_official:
        return f"Published values stand beside ours: {data.why}."
    return f"not the official data: not comparable ({data.why})."


def fingerprints(data: DataNote | None) -> dict[str, str]:
    """Digests of what was audited and fitted, whole, by what each is of."""
    known = {} if data is None else {"pairs": data.pairs_digest, "training": data.training_digest}
    return {name: value for name, value in known.items() if value}


def data_of(table: PaperTable) -> str:
    """Word that a table's published values need no data of the paper; else empty."""
    return "Its published values hold of any data." if table.published == ANY_DATA else ""


def budget_note(paper: Paper) -> str:
    """Methods whose numbers come from another budget than the paper's; empty without any."""
    shares = [f"{name} {written(share)}" for name, share in paper.other_budgets.items()]
    return (
        f"Other budgets than the paper's, as shares of it: {', '.join(shares)}." if shares else ""
    )


def written(value: Any) -> str:
    """Write what a row is of, or a number with three significant digits.

    Examples
    --------
    >>> written("blend"), written(None), written(0.00031), written(8289.0), written(True)
    ('blend', '–', '0.000310', '8,289', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or is_count(value):
        return count(int(value))
    if isinstance(value, float):
        return score(value, score_decimals([value]))
    return MISSING if value is None else str(value)


def is_count(value: Any) -> bool:
    """Whether an estimate is a count, as far as can be told: a whole number from 2 on."""
    return isinstance(value, float) and value.is_integer() and abs(value) >= WHOLE


def is_number(table: PaperTable, name: str) -> bool:
    """Whether a column that says what a row is of holds numbers alone, where it is not empty."""
    values = [row.of[name] for row in table.rows if row.of[name] is not None]
    return bool(values) and all(type(value) in (int, float) for value in values)  # no truth values


def whole_difference(row: PaperRow) -> str | None:
    """Write what a count has more, or less, than the paper's; None where neither is a count."""
    has_count = is_count(row.estimate) or is_count(row.published)
    return f"{row.difference:+,.0f}" if has_count and row.difference.is_integer() else None


def difference(row: PaperRow) -> str:
    """Write what a row has more, or less, than the paper.

    Examples
    --------
    >>> rows = [(0.5123, 0.5, 0.0123), (90.0, 93.0, -3.0), (0.5, 0.5, 0.0), (0.5, None, None)]
    >>> [difference(PaperRow({}, one, other, None, difference=d)) for one, other, d in rows]
    ['+0.0123', '-3', '+0.000', '–']
    """
    if row.difference is None:
        return MISSING
    sign = "" if row.difference < 0 else "+"
    return whole_difference(row) or f"{sign}{written(row.difference)}"


def interval(low: float | None, high: float | None) -> str:
    """Write both limits with as many decimals as the larger needs.

    Examples
    --------
    >>> interval(0.25, 0.75), interval(None, None)
    ('[0.250, 0.750]', '–')
    """
    if low is None or high is None:
        return MISSING
    decimals = score_decimals([low, high])
    return f"[{score(low, decimals)}, {score(high, decimals)}]"


def shown_levels(table: PaperTable) -> list[tuple[int, str, str]]:
    """Levels of the intervals that any row has, with the names of their limits."""
    return [
        (level, f"lower_{level}", f"upper_{level}")
        for level in (90, 95)
        if any(getattr(row, f"lower_{level}") is not None for row in table.rows)
    ]


def heading(name: str) -> str:
    """Write the name of a column, or of a statistic, as a heading."""
    return name.replace("_", " ").capitalize()


def title(paper: Paper, name: str) -> str:
    """Write what a statistic is called; one that nobody has described, by its name."""
    described = paper.statistics.get(name)
    return described.title if described else heading(name)


def _table(table: PaperTable, paper: Paper, study: str) -> Table:
    return _wide(table, paper, study) if table.is_wide else _long(table, paper, study)


def _wide(table: PaperTable, paper: Paper, study: str) -> Table:
    """One column for each statistic: our number, with the paper's and the difference below."""
    label = LABELS[paper.is_comparable(table)]
    columns = (
        *groups(table, table.groups),
        *(_statistic(paper, name) for name in table.statistics),
    )
    rows = tuple(
        (
            *(Cell(written(value)) for value in of),
            *(_beside(line.get(name), label) for name in table.statistics),
        )
        for of, line in table.lines.items()
    )
    return _finished(table, columns, rows, study)


def _beside(row: PaperRow | None, label: str) -> Cell:
    if row is None:
        return Cell(MISSING)
    notes = []
    if row.published is not None:
        known = "" if row.difference is None else f", {difference(row)}"
        notes = [f"paper {written(row.published)}{known} {label}".rstrip()]
    if row.estimate is None:
        return Cell(MISSING, *notes, hover=row.reason or "")
    if row.reason:
        notes.append(row.reason)  # a remark on a number: nobody would look for it under a pointer
    return Cell(written(row.estimate), "; ".join(notes))


def _statistic(paper: Paper, name: str) -> Column:
    described = paper.statistics.get(name)
    return Column(title(paper, name), meaning=described.meaning if described else "")


def groups(table: PaperTable, names: tuple[str, ...]) -> list[Column]:
    """Columns that say what a row is of."""
    return [Column(heading(name), is_number=is_number(table, name)) for name in names]


def _finished(
    table: PaperTable, columns: tuple[Column, ...], rows: tuple[tuple[Cell, ...], ...], study: str
) -> Table:
    return Table(
        table.title,
        columns,
        rows,
        runnable(table.query, study),
        f"Paper: {table.paper}. View: {table.name}. {data_of(table)}".rstrip(),
    )


def _long(table: PaperTable, paper: Paper, study: str) -> Table:
    """One row for each estimate, with its intervals and the paper's value."""
    rows = table.rows
    columns = [*groups(table, table.columns), Column("Estimate")]
    intervals = shown_levels(table)
    columns += [
        Column("Interval", f"{level}%", "Percentile bootstrap") for level, _, _ in intervals
    ]
    has_published = any(row.published is not None for row in rows)
    if has_published:
        columns.append(Column("Paper", "published", "The value that the paper gives"))
    has_difference = any(row.difference is not None for row in rows)
    if has_difference:
        columns.append(
            Column("Difference", "ours - paper's", "The estimate less the paper's value")
        )
    label = LABELS[paper.is_comparable(table)]
    shown = tuple(
        (
            *(Cell(written(row.of[name])) for name in table.columns),
            Cell(written(row.estimate), row.reason or ""),
            *(Cell(interval(getattr(row, low), getattr(row, high))) for _, low, high in intervals),
            *((_published(row, label),) if has_published else ()),
            *((Cell(difference(row)),) if has_difference else ()),
        )
        for row in rows
    )
    return _finished(table, tuple(columns), shown, study)


def _published(row: PaperRow, label: str) -> Cell:
    if row.published is None:
        return Cell(MISSING)
    limits = interval(row.published_lower_95, row.published_upper_95)
    text = written(row.published)
    return Cell(text if limits == MISSING else f"{text} {limits}", label)
