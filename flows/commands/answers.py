"""Print rows of a query as a table of any width."""

from decimal import Decimal

import pyarrow as pa
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from decaf.foundation.names import printable
from flows.commands.terminal import say
from warehouse.query.catalog import Rows
from warehouse.query.values import interval_text

ROWS_SHOWN = 100
"""Rows of a table unless ``--limit`` says otherwise."""
NARROWEST_TEXT = 16
"""Fewest characters of a cut text; a narrower table is printed record by record."""
FRAME, PER_COLUMN = 1, 3
SIGNIFICANT_DIGITS = 6
NULL = "NULL"


def print_rows(console: Console, rows: Rows, limit: int = ROWS_SHOWN) -> None:
    """Print the first ``limit`` rows as a table and count the others; 0 prints all rows.

    Numbers are never wrapped or cut. If a terminal is too narrow, texts are cut. If numbers alone
    are too wide, each row becomes a record with one value a line. Control characters are printed as
    their codes.
    """
    columns: list[list[object]] = [[] for _ in rows.schema]
    shown = count = 0
    for batch in rows.batches:
        fitting = batch.slice(0, limit - shown) if limit else batch
        for cells, column in zip(columns, fitting.columns, strict=True):
            cells.extend(column.to_pylist())
        shown += fitting.num_rows
        count += batch.num_rows
    names = [printable(name) for name in rows.schema.names]
    are_numbers = [_is_number(column) for column in columns]
    texts = [[cell_text(value) for value in column] for column in columns]
    natural = [
        max(map(cell_len, [name, *column])) for name, column in zip(names, texts, strict=True)
    ]
    widths = _fit_widths(natural, are_numbers, console.width if console.is_terminal else None)
    if widths:
        _print_table(console, names, texts, are_numbers, widths)
    else:
        _print_records(console, names, texts)
    if count > shown:
        say(
            console,
            f"{shown:,} of {count:,} rows, {count - shown:,} more: --limit 0 shows all, "
            "--output FILE writes them",
        )
    else:
        console.print(row_count_text(count))


def row_count_text(count: int) -> str:
    """Number of rows in words: ``1 row``, ``1,234 rows``."""
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def cell_text(value: object) -> str:
    """Text of one cell: NULL by name, numbers to six digits, control characters as codes."""
    if value is None:
        return NULL
    if isinstance(value, float):
        return f"{value:.{SIGNIFICANT_DIGITS}g}"
    if isinstance(value, pa.MonthDayNano):
        return interval_text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(cell_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {cell_text(v)}' for k, v in value.items())}}}"
    return printable(str(value))


def _is_number(column: list[object]) -> bool:
    return any(value is not None for value in column) and all(
        value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))
        for value in column
    )


def _fit_widths(natural: list[int], are_numbers: list[bool], room: int | None) -> list[int]:
    """Widths of the columns, the longest texts cut first; empty if the numbers do not fit."""
    if room is None:
        return natural
    room -= FRAME + PER_COLUMN * len(natural)
    if sum(natural) <= room:
        return natural
    longest = max(natural, default=0)
    for cap in range(longest, NARROWEST_TEXT - 1, -1):
        widths = [
            width if is_number else min(width, cap)
            for width, is_number in zip(natural, are_numbers, strict=True)
        ]
        if sum(widths) <= room:
            return widths
    return []


def _print_table(
    console: Console,
    names: list[str],
    texts: list[list[str]],
    are_numbers: list[bool],
    widths: list[int],
) -> None:
    table = Table()
    for name, width, is_number in zip(names, widths, are_numbers, strict=True):
        justify = "right" if is_number else "left"
        table.add_column(Text(name), justify=justify, width=width, no_wrap=True)
    for row in zip(*texts, strict=True):
        table.add_row(*map(_style_cell, row))
    total = sum(widths) + FRAME + PER_COLUMN * len(widths)
    console.print(table, width=total, crop=False)


def _print_records(console: Console, names: list[str], texts: list[list[str]]) -> None:
    margin = max(map(cell_len, names))
    for number, row in enumerate(zip(*texts, strict=True), start=1):
        console.print(Text(f"── row {number} ──", style="bold"))
        for name, value in zip(names, row, strict=True):
            padding = " " * (margin - cell_len(name) + 2)
            console.print(
                Text.assemble((name, "bold"), padding, _style_cell(value)), soft_wrap=True
            )


def _style_cell(value: str) -> Text:
    return Text(value, style="dim italic" if value == NULL else "")
