"""Cells, columns and tables of the report, and how its numbers are written."""

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from decaf.foundation.number_text import (
    MISSING,
    count_text,
    limit_text,
    percent_text,
    score_text,
    signed_text,
)

HASH_CHARACTERS = 12
"""Length of a digest's prefix, enough to tell weights apart at a glance."""
GIB = 2**30


class Cell(NamedTuple):
    """One cell: its text, a smaller second line, and an explanation on hover."""

    text: str
    note: str = ""
    hover: str = ""


class Column(NamedTuple):
    """One column: heading, unit, meaning (shown on hover), alignment and colour."""

    label: str
    unit: str = ""
    meaning: str = ""
    is_number: bool = True
    metric: str = ""


@dataclass(frozen=True)
class Table:
    """A table with the query that reproduces it; ``total`` is an optional last row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sql: str
    note: str = ""
    total: tuple[Cell, ...] = ()


class Field(NamedTuple):
    """A column, and a function that gives the cell of a row."""

    column: Column
    cell: Callable[[Any], Cell]


def with_interval(
    value: float | None,
    lower: float | None,
    upper: float | None,
    write: Callable[[float | None], str] = score_text,
) -> Cell:
    """Show a number with its interval below, if it has one."""
    limits = (write(lower), write(upper))
    return Cell(write(value), "" if MISSING in limits else f"[{', '.join(limits)}]")


def number(value: float | None, decimals: int = 1) -> str:
    """Write a measurement with thousands separators."""
    return MISSING if value is None else f"{value:,.{decimals}f}"


def digest(sha256: str) -> Cell:
    """Show the prefix of a digest; the whole digest shows on hover."""
    short = len(sha256) > HASH_CHARACTERS
    return Cell(sha256[:HASH_CHARACTERS] + ("…" if short else ""), hover=sha256)


def runnable(query: str, study: str) -> str:
    """Put the study into a query as an SQL literal.

    Examples
    --------
    >>> runnable("SELECT 1 WHERE study = $study", "it's")
    "SELECT 1 WHERE study = 'it''s'"
    """
    literal = "'" + study.replace("'", "''") + "'"
    return query.replace("$study", literal)


NUMBERS: dict[str, Callable[[Any], str]] = {
    "count": count_text,
    "gib": lambda size: number(size / GIB, 2),
    "limit": limit_text,
    "number": number,
    "percent": percent_text,
    "score": score_text,
    "signed": signed_text,
}
WORDS: dict[str, Callable[[Any], str]] = {
    "": lambda name: MISSING if name is None else name,
    "list": ", ".join,
    "minute": "{:%Y-%m-%d %H:%M}".format,
    "name_or_all": lambda name: name or "all",
    "remark": lambda remark: remark or "",
    "words": lambda name: name.replace("_", " "),
}
"""Functions that write a value, by name in ``columns.csv``; :data:`NUMBERS` are right-aligned."""


def fields_of(table: str, **cells: Callable[[Any], Cell]) -> dict[str, Field]:
    """Columns of a table of the report by field, as ``columns.csv`` lists them.

    ``cells`` has functions for columns whose cells combine several fields.
    """
    writers = WORDS | NUMBERS
    fields = {}
    for name, line in _read_columns()[table].items():
        column = Column(
            line["label"], line["unit"], line["meaning"], line["write"] in NUMBERS, line["colour"]
        )
        plain = partial(_cell, name=name, write=writers[line["write"]], note=line["note"])
        fields[name] = Field(column, cells.get(name, plain))
    return fields


def _cell(row: Any, *, name: str, write: Callable[[Any], str], note: str) -> Cell:
    """One field of a row, with a second field below it, which may be NULL."""
    return Cell(write(getattr(row, name)), (getattr(row, note) or "") if note else "")


@cache
def _read_columns() -> dict[str, dict[str, dict[str, str]]]:
    """Lines of ``columns.csv`` by table and field; the line without a table fills empty cells."""
    lines: dict[str, dict[str, dict[str, str]]] = {}
    with (Path(__file__).parent / "columns.csv").open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            shared = lines.get("", {}).get(line["field"], line)
            filled = {name: cell or shared[name] for name, cell in line.items()}
            lines.setdefault(line["table"], {})[line["field"]] = filled
    return lines


def table(
    title: str, fields: Iterable[Field], rows: Iterable[Any], sql: str, note: str = ""
) -> Table:
    """Table with one line for each row and one column for each field."""
    columns, cells = zip(*fields, strict=True)
    return Table(title, columns, tuple(tuple(c(row) for c in cells) for row in rows), sql, note)
