"""Compare every number and figure of the paper with decaf's, from folders of result pages."""

import base64
import os
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pyarrow as pa

from decaf.errors import BadInput
from decaf.foundation.number_text import MISSING, count_text, score_text
from warehouse.query.catalog import connect_empty
from warehouse.report import templates
from warehouse.report.audit.facts import Row, Rows, rows_of
from warehouse.report.paper.comparisons import read_comparisons
from warehouse.report.paper.page import name_of
from warehouse.report.paper.tables import count_change, difference, is_count

VERDICTS = {
    "reproduced": "within the stated interval",
    "same direction": "on the same side of no effect, as are any intervals",
    "different": "neither; a measurement or count has no such side",
    "undecided": "our interval includes the paper's value and no effect",
    "not run": "no study here has the number",
    "cannot be run here": "it needs a larger machine, or data that are not free",
}
"""Words of the macro ``verdict_of`` in the order in which they are counted."""

KINDS = {
    "effect": "Effects",
    "measurement": "Measurements",
    "count": "Counts",
}
"""Kinds of numbers by the macro ``scoreboard_of``, with the headings of their counts."""


class Tally(NamedTuple):
    """Counts of numbers with one verdict: by kind, and of numbers on the paper's data."""

    effect: int
    measurement: int
    count: int
    official: int

    @property
    def total(self) -> int:
        """Numbers of all kinds."""
        return self.effect + self.measurement + self.count


class Panel(NamedTuple):
    """A panel of a figure of the paper, with decaf's picture of the same numbers."""

    figure: str
    shows: str
    picture: Path | None
    note: str
    """Part of the paper's figure that the picture shows, or the reason for no picture."""


class Scoreboard(NamedTuple):
    """Rows of the macro ``scoreboard_of``, the paper's panels, and the page of each study."""

    rows: Rows
    panels: tuple[Panel, ...]
    pages: dict[str, Path]

    @property
    def tallies(self) -> dict[str, Tally]:
        """Numbers with each verdict, by kind."""
        kinds = Counter((row.verdict, row.kind) for row in self.rows)
        official = Counter(row.verdict for row in self.rows if row.is_official)
        return {
            verdict: Tally(*(kinds[verdict, kind] for kind in KINDS), official[verdict])
            for verdict in VERDICTS
        }

    @property
    def studies(self) -> list[Row]:
        """One row for each study that has a number."""
        rows_by_study = {row.study: row for row in self.rows if row.estimate is not None}
        return [rows_by_study[study] for study in sorted(rows_by_study)]


def read_scoreboard(folders: Sequence[Path]) -> Scoreboard:
    """Read rows and pictures that ``decaf results`` wrote into folders.

    Raises BadInput if a folder has no such file, or a file has other columns.
    """
    tables, pages, pictures = [], {}, {}
    for folder in folders:
        files = sorted(folder.glob("*.csv"))
        if not files:
            raise BadInput(
                f"{folder} has no result page with its numbers; expected a folder that "
                "decaf results CONFIG PAGE wrote a page into"
            )
        for file in files:
            table = read_comparisons(file)
            tables.append(table)
            pages |= dict.fromkeys(table["study"].to_pylist(), file.with_suffix(".md"))
            drawn = file.with_name(f"{file.stem}_pictures").glob("*.svg")
            pictures = {path.stem: path for path in sorted(drawn)} | pictures
    with connect_empty() as connection:
        connection.from_arrow(pa.concat_tables(tables)).create("kept")
        rows, panels = (rows_of(connection, part, "") for part in ("scoreboard", "panels"))
    return Scoreboard(rows, tuple(_panel(row, pictures) for row in panels), pages)


def _panel(row: Row, pictures: dict[str, Path]) -> Panel:
    is_missing = row.picture is not None and row.picture not in pictures
    note = "no page here has its picture" if is_missing else row.remark or ""
    return Panel(row.figure, row.shows, pictures.get(row.picture), note)


def write_scoreboard(board: Scoreboard, target: Path, *, has_pages: bool) -> Path:
    """Write a page, of Markdown unless its name ends in ``.html``; raises WriteFailed.

    Unless ``has_pages``, the page has no links, and in Markdown no pictures.
    """
    kind = "html" if target.suffix == ".html" else "md"

    def link(path: Path) -> str:
        return quote(Path(os.path.relpath(path, target.parent)).as_posix())

    page = templates.render(
        f"scoreboard.{kind}.j2",
        board=board,
        verdicts=VERDICTS,
        kinds=KINDS,
        sections=[(paper, list(rows)) for paper, rows in groupby(board.rows, attrgetter("paper"))],
        pages={study: link(page) for study, page in board.pages.items()} if has_pages else {},
        link=link if has_pages else None,
        embedded=_embed,
        what=describe_subject,
        published=_published_text,
        ours=_ours,
        difference=_difference,
        counted=_count_kinds,
        in_words=_count_verdicts,
        name=name_of,
    )
    return templates.write(target, "scoreboard", page)


def describe_subject(row: Row) -> str:
    """Write the unit, method and part of a number of the paper; a dash without any."""
    return ", ".join(filter(None, (row.unit, row.method, row.part))) or MISSING


def _count_kinds(tally: Tally) -> str:
    counts = zip(tally, KINDS.values(), strict=False)
    return ", ".join(f"{number} {heading.lower()}" for number, heading in counts if number)


def _count_verdicts(rows: Rows) -> str:
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def _published_text(row: Row) -> list[str]:
    return _write_number(row, row.published, row.published_lower_95, row.published_upper_95)


def _ours(row: Row) -> list[str]:
    return _write_number(row, row.estimate, row.lower_95, row.upper_95)


def _write_number(
    row: Row, value: float | None, low: float | None, high: float | None
) -> list[str]:
    """Write a number, and its interval if any: a count, or as many decimals as the paper prints."""
    if is_count(value) or _has_no_fraction(row, value):
        return [count_text(int(value))]
    decimals = max(3, len((row.printed or "").partition(".")[2]))
    text, *limits = (score_text(number, decimals) for number in (value, low, high))
    return [text] if MISSING in limits else [text, f"[{', '.join(limits)}]"]


def _difference(row: Row) -> str:
    has_no_fraction = _has_no_fraction(row, row.difference)
    return count_change(row.difference) if has_no_fraction else difference(row)


def _has_no_fraction(row: Row, value: float | None) -> bool:
    return row.kind == "count" and value is not None and value.is_integer()


def _embed(picture: Path) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.read_bytes()).decode()}"
