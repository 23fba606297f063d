"""Write the paper's tables with a study's numbers as a page of Markdown.

The page names neither date nor machine: the same warehouse gives the same page.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from decaf.errors import BadInput, number_of
from decaf.foundation.number_text import MISSING, count_text, score_text
from warehouse.query.views import query
from warehouse.report import templates
from warehouse.report.audit.facts import known_run, rows_of
from warehouse.report.cells import Column, digest
from warehouse.report.paper.comparisons import write_comparisons
from warehouse.report.paper.pictures import paper_pictures, write_pictures
from warehouse.report.paper.reading import (
    Paper,
    PaperRow,
    PaperTable,
    read_paper,
    studies_of_the_paper,
)
from warehouse.report.paper.tables import (
    budget_note,
    difference,
    fingerprints,
    groups,
    is_count,
    shown_levels,
    table_note,
    title,
    whole_difference,
    write_value,
)

MARKUP = re.compile(r"([\\`<>&\[\]*])")
"""Characters of a name that have a meaning in Markdown or HTML."""


class Section(NamedTuple):
    """A table of the page: its columns, its lines of text, and its numbered reasons."""

    title: str
    about: str
    columns: list[Column]
    lines: list[list[str]]
    notes: dict[str, int]


def write_paper_page(connection: duckdb.DuckDBPyConnection, study: str, target: Path) -> Path:
    """Write every table of the paper that a study has rows of, and its pictures next to the page.

    Each file is written whole or not at all, the page last. Pictures are in a folder with the name
    of the page, numbers in a CSV file for :mod:`warehouse.report.paper.scoreboard`.

    Raises UnknownName if the warehouse has no run of the study, BadInput if no table of the paper
    has rows of it, and WriteFailed if a file cannot be written.
    """
    known_run(connection, study)
    paper = read_paper(connection, study)
    if not paper.tables:
        raise _without_tables(f"study {study}")
    return _write(connection, study, paper, target)


def write_paper_pages(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write a page into a folder for each study of a warehouse that has a table of the paper.

    Raises BadInput if no study has such a table, and WriteFailed if a file cannot be written.
    """
    for place, (study,) in enumerate(connection.execute(query("report/studies")).fetchall()):
        if (paper := read_paper(connection, study)).tables:
            _write(connection, study, paper, folder / f"{place}.md")
    if not any(folder.iterdir()):
        raise _without_tables("the warehouse")


def _without_tables(what: str) -> BadInput:
    expected = f"a study of {' or of '.join(studies_of_the_paper())} whose models have been scored"
    return BadInput(
        f"{what} has no table of the paper; expected {expected}, or data of a plug-in with "
        "'results_folder'"
    )


def _write(connection: duckdb.DuckDBPyConnection, study: str, paper: Paper, target: Path) -> Path:
    run = known_run(connection, study)
    explained, coloured = paper_pictures(paper, rows_of(connection, "profiles", study))
    pictures = [*explained, *coloured]
    page = templates.render(
        "paper.md.j2",
        study=study,
        run=run,
        run_id=digest(run.run_id).text,
        data=paper.data,
        fingerprints=fingerprints(paper.data),
        budget_note=budget_note(paper),
        models=number_of(len(rows_of(connection, "models", study)), "model"),
        pairs=number_of(
            sum(row.pair_count for row in rows_of(connection, "pair_types", study)), "pair"
        ),
        warnings=number_of(
            sum(
                len(rows_of(connection, part, study)) for part in ("warnings", "benchmark_warnings")
            ),
            "warning",
        ),
        pictures=[
            (place, MARKUP.sub(r"\\\1", picture.title), MARKUP.sub(r"\\\1", picture.note))
            for place, picture in zip(write_pictures(pictures, target), pictures, strict=True)
        ],
        has_coloured=bool(coloured),
        sections=[_section(table, paper) for table in paper.tables],
    )
    write_comparisons(connection, study, paper, target)
    return templates.write(target, "page", page)


def number(value: float | None) -> str:
    """Write a number with the paper's three decimals, or a count.

    Examples
    --------
    >>> number(0.58667), number(0.00031), number(8289.0), number(None)
    ('0.587', '<0.001', '8,289', '–')
    """
    return count_text(int(value)) if is_count(value) else score_text(value)


def _section(table: PaperTable, paper: Paper) -> Section:
    first_lines = table.first_lines
    rows = (
        [row for _, line in first_lines for row in line.values()] if table.is_wide else first_lines
    )
    reasons = dict.fromkeys(row.reason for row in rows if row.reason)
    notes = {reason: place for place, reason in enumerate(reasons, 1)}
    if table.is_wide:
        columns = [
            *groups(table, table.groups),
            *(Column(title(paper, name)) for name in table.statistics),
        ]
        lines = [
            [*map(name_of, of), *(_compare(line.get(name), notes) for name in table.statistics)]
            for of, line in first_lines
        ]
    else:
        levels = shown_levels(table)
        heads = ("Ours", *(f"{level} %" for level, _, _ in levels), "Paper", "Difference")
        columns = [*groups(table, table.columns), *map(Column, heads)]
        lines = [
            [
                *(name_of(row.keys[name]) for name in table.columns),
                _with_note(number(row.estimate), row, notes),
                *(_interval(getattr(row, low), getattr(row, high)) for _, low, high in levels),
                _published_text(row),
                difference(row),
            ]
            for row in first_lines
        ]
    about = f"Paper: {table.paper}. View: `{table.name}`. {table_note(table)}".rstrip()
    return Section(table.title, about, columns, lines, notes)


def _compare(row: PaperRow | None, notes: dict[str, int]) -> str:
    if row is None:
        return MISSING
    ours, theirs = number(row.estimate), number(row.published)
    if row.published is None:
        return _with_note(ours, row, notes)
    if row.difference is None:
        return _with_note(f"{ours} ({theirs})", row, notes)
    if whole_difference(row):  # next to a larger count, 0 and 1 are counts, too
        ours, theirs = count_text(int(row.estimate)), count_text(int(row.published))
    return _with_note(f"{ours} ({theirs}, {difference(row)})", row, notes)


def _with_note(text: str, row: PaperRow, notes: dict[str, int]) -> str:
    """Add the number of a row's reason to its text."""
    return f"{text}<sup>{notes[row.reason]}</sup>" if row.reason else text


def name_of(value: Any) -> str:
    """Write a value that identifies a row; escape bars, tags and links."""
    text = number(value) if isinstance(value, float) else write_value(value)
    return MARKUP.sub(r"\\\1", text.replace("|", "/"))


def _interval(low: float | None, high: float | None) -> str:
    return MISSING if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _published_text(row: PaperRow) -> str:
    limits = _interval(row.published_lower_95, row.published_upper_95)
    text = number(row.published)
    return text if limits == MISSING else f"{text} {limits}"
