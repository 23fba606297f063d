"""The paper's tables beside a study's numbers as a page of Markdown, for a repository's docs.

The page says nothing of the day or the machine: the same warehouse gives the same page.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from decaf.errors import BadInput, WriteFailed
from decaf.foundation.files import replace_file
from warehouse.report.audit.facts import Row, known_run, rows_of
from warehouse.report.cells import MISSING, count, digest, score
from warehouse.report.paper.reading import (
    DataNote,
    Paper,
    PaperRow,
    PaperTable,
    read_paper,
    studies_of_the_paper,
)
from warehouse.report.paper.tables import (
    budget_note,
    data_of,
    fingerprints,
    heading,
    is_count,
    is_number,
    shown_levels,
    title,
    whole_difference,
    written,
)

DECIMALS = 3
"""As the tables of the paper have."""

NOTICE = "<!-- Written by decaf results from a warehouse; run it again instead of editing. -->"


def write_paper_page(connection: duckdb.DuckDBPyConnection, study: str, target: Path) -> Path:
    """Write every table of the paper that a study has rows of; the file appears whole or not.

    Parameters
    ----------
    connection
        In-memory DuckDB with the views of the warehouse.
    target
        Markdown file to write; an existing one is replaced.

    Raises
    ------
    UnknownName
        When the warehouse has no run of the study.
    BadInput
        When no table of the paper is about such a study.
    WriteFailed
        When the disk refuses.
    """
    run = known_run(connection, study)
    paper = read_paper(connection, study)
    if not paper.tables:
        raise BadInput(
            f"study {study} has no table of the paper; expected a study of "
            f"{' or of '.join(studies_of_the_paper())} whose models have been scored"
        )
    parts = [NOTICE, *_opening(connection, study, run, paper)]
    for table in paper.tables:
        parts += _section(table, paper)
    text = "\n\n".join(parts) + "\n"
    try:
        replace_file(target, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise WriteFailed(
            f"page {target} cannot be written: {error.strerror}; choose another folder"
        ) from error
    return target


def _opening(
    connection: duckdb.DuckDBPyConnection, study: str, run: Row, paper: Paper
) -> Iterator[str]:
    models = len(rows_of(connection, "models", study))
    pairs = sum(row.pair_count for row in rows_of(connection, "pair_types", study))
    warnings = len(rows_of(connection, "warnings", study))
    yield f"# The paper's tables beside the study `{study}`"
    yield _data(paper.data)
    if digests := fingerprints(paper.data):
        yield f"Fingerprints: {', '.join(f'{of} `{found}`' for of, found in digests.items())}."
    if budgets := budget_note(paper):
        yield f"**{budgets}**"
    yield (
        f"Run `{digest(run.run_id).text}`: {count(models)} models, {count(pairs)} pairs, gate "
        f"{run.epsilon:g}; {count(warnings)} warnings stand in the report."
    )
    if not run.is_finished:
        yield "**The run is not finished**: numbers are of what has been scored so far."
    yield (
        "Where statistics stand side by side, a cell is our number, then in brackets the paper's "
        f"and the difference (ours less the paper's). `{MISSING}` is undefined, or not in the "
        "paper. A small number is explained below its table."
    )


def _data(data: DataNote | None) -> str:
    if data is None:
        return "**Data.** It is not known whether these are the paper's data."
    if data.is_official:
        return f"**Data.** The paper's: {data.why}."
    return (
        f"**Data.** Not the paper's ({data.why}), so no difference says that either side is wrong."
    )


def _section(table: PaperTable, paper: Paper) -> Iterator[str]:
    yield f"## {table.purpose[:1].upper()}{table.purpose[1:]}"
    yield f"Paper: {table.paper}. View: `{table.name}`. {data_of(table)}".rstrip()
    notes = _notes(table)
    yield _wide(table, paper, notes) if table.is_wide else _long(table, notes)
    if notes:
        yield "\n".join(f"{place}. {reason}" for reason, place in notes.items())


def _notes(table: PaperTable) -> dict[str, int]:
    """Reasons of the rows, numbered in their order."""
    said = (row.reason for row in table.rows if row.reason)
    return {reason: place for place, reason in enumerate(dict.fromkeys(said), 1)}


def _noted(text: str, row: PaperRow, notes: dict[str, int]) -> str:
    """Add the number of a row's reason to what is written of it."""
    return f"{text}<sup>{notes[row.reason]}</sup>" if row.reason else text


def number(value: float | None) -> str:
    """Write a number with the paper's three decimals, or a count.

    Examples
    --------
    >>> number(0.58667), number(0.00031), number(8289.0), number(None)
    ('0.587', '<0.001', '8,289', '–')
    """
    return count(int(value)) if is_count(value) else score(value, DECIMALS)


def difference(row: PaperRow) -> str:
    """Write what a row has more, or less, than the paper.

    Examples
    --------
    >>> rows = [(0.5, 0.75, -0.25), (90.0, 88.0, 2.0), (0.5, None, None)]
    >>> [difference(PaperRow({}, one, other, None, difference=d)) for one, other, d in rows]
    ['-0.250', '+2', '–']
    """
    if row.difference is None:
        return MISSING
    return whole_difference(row) or f"{row.difference:+,.{DECIMALS}f}"


def _interval(low: float | None, high: float | None) -> str:
    return MISSING if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _wide(table: PaperTable, paper: Paper, notes: dict[str, int]) -> str:
    lines = (
        [*map(_name, of), *(_beside(line.get(name), notes) for name in table.statistics)]
        for of, line in table.lines.items()
    )
    heads = [title(paper, name) for name in table.statistics]
    return _markdown(table, table.groups, heads, lines)


def _beside(row: PaperRow | None, notes: dict[str, int]) -> str:
    if row is None:
        return MISSING
    ours, theirs = number(row.estimate), number(row.published)
    if row.published is None:
        return _noted(ours, row, notes)
    if row.difference is None:
        return _noted(f"{ours} ({theirs})", row, notes)
    if whole_difference(row):  # 0 and 1 are counts, too, beside a larger one
        ours, theirs = count(int(row.estimate)), count(int(row.published))
    return _noted(f"{ours} ({theirs}, {difference(row)})", row, notes)


def _long(table: PaperTable, notes: dict[str, int]) -> str:
    levels = shown_levels(table)
    lines = (
        [
            *(_name(row.of[name]) for name in table.columns),
            _noted(number(row.estimate), row, notes),
            *(_interval(getattr(row, low), getattr(row, high)) for _, low, high in levels),
            _published(row),
            difference(row),
        ]
        for row in table.rows
    )
    heads = ["Ours", *(f"{level} %" for level, _, _ in levels), "Paper", "Difference"]
    return _markdown(table, table.columns, heads, lines)


def _name(value: Any) -> str:
    """Write what a row is of; a bar would end its cell."""
    return number(value) if isinstance(value, float) else written(value).replace("|", "/")


def _published(row: PaperRow) -> str:
    limits = _interval(row.published_lower_95, row.published_upper_95)
    text = number(row.published)
    return text if limits == MISSING else f"{text} {limits}"


def _markdown(
    table: PaperTable, names: tuple[str, ...], heads: list[str], lines: Iterable[list[str]]
) -> str:
    rules = ["--:" if is_number(table, name) else "---" for name in names] + ["--:"] * len(heads)
    return "\n".join(
        f"| {' | '.join(line)} |" for line in ([*map(heading, names), *heads], rules, *lines)
    )
