"""Pages with a table: the rows of an address as cells, with links to further pages."""

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from decaf.errors import suggestion
from decaf.foundation.number_text import MISSING, score_text
from decaf.registry.messages import verdict_text
from flows.view.addresses import Address, BadAddress, restrictions
from flows.view.declared import BAR, PAGES, ROLE, Page
from flows.view.filters import is_number, parse_filter
from flows.view.snapshot import NAMED, Record, Snapshot
from warehouse.query.database import MEANINGS
from warehouse.query.pages import (
    ALL_ROWS,
    PAGE_ROWS,
    Choice,
    Filter,
    Question,
    Term,
    answer_from,
    count_rows,
    count_rows_by,
    filter_rows,
)
from warehouse.query.views import query
from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.cells import Cell, Column, digest, fields_of
from warehouse.report.pair_card import picture

NO_PICTURES: Record = {"words": "", "factual": None, "counterfactual": None}


class Head(NamedTuple):
    """Heading of a column; ``link`` sorts by it, and ``order`` is the current order."""

    name: str
    column: Column
    link: str
    order: str


class Line(NamedTuple):
    """A row: its cells by column, the widths of its bar in percent, and stored pictures."""

    values: Record
    link: str
    cells: dict[str, Cell]
    bar: list[tuple[str, float]]
    size: str
    """Abs in words; empty without a bar."""
    pictures: Record


class Rows(NamedTuple):
    """Rows of one page of a table, and their queries."""

    page: Page
    address: Address
    question: Question
    """Query of these rows, for use outside the browser."""
    answer: pa.Table
    total: int
    roles: dict[str, int]
    """Number of rows by role, without the address's restriction to a role; empty without roles."""
    columns: pa.Schema

    @property
    def last(self) -> int:
        """Number of the last page, from 1."""
        return max(1, -(-self.total // PAGE_ROWS))


def read_rows(snapshot: Snapshot, address: Address) -> Rows:
    """Ask for the rows of an address.

    Raises BadAddress for invalid values, and for a page after the last one.
    """
    page = PAGES[address.page]
    for name in address.columns:
        if name not in page.every:
            raise BadAddress(f"the address shows an unknown column{suggestion(name, page.every)}")
    columns = columns_of(snapshot, page, address.fixed_values.get("study"))
    fixed = restrictions(address, columns)
    filters = parse_filter(address.filter, columns, snapshot.names_with)
    order = address.sort or page.sort
    choice = Choice(filters, address.number, order.removeprefix("-"), order.startswith("-"))
    whole = filter_rows(_all_rows(page.name), fixed)
    roles = {}
    if page.is_read_once:
        rows = read_whole(snapshot, page, address.fixed_values.get("study"))
        of_address = filter_rows(ALL_ROWS, fixed)
        total = _only_value(answer_from(rows, count_rows(filter_rows(of_address, filters))))
        answer = answer_from(rows, choice.of(of_address))
    else:
        answer = snapshot.ask(choice.of(whole))
        if ROLE in page.columns:
            any_role = [each for each in fixed if each.terms[0].column != ROLE]
            roles = _count_roles(snapshot, page, [*any_role, *filters])
            role = address.fixed_values.get(ROLE)
            total = sum(roles.values()) if role is None else roles.get(role, 0)
        else:
            total = _only_value(snapshot.ask(count_rows(filter_rows(whole, filters))))
    read = Rows(page, address, choice.of(whole), answer, total, roles, columns)
    if address.number > read.last:
        raise BadAddress(f"the address asks for page {address.number}; the last is {read.last}")
    return read


def _count_roles(snapshot: Snapshot, page: Page, filters: Sequence[Filter]) -> dict[str, int]:
    """Number of rows of each role."""
    counts = snapshot.ask(count_rows_by(filter_rows(_all_rows(page.name), filters), ROLE))
    return {row[ROLE]: row["row_count"] for row in counts.to_pylist()}


def _only_value(rows: pa.Table) -> Any:
    return rows[0][0].as_py()


def read_whole(snapshot: Snapshot, page: Page, study: str | None) -> pa.Table:
    """All rows of a page that is read once, for one study or all studies."""
    studies = snapshot.studies()
    if study is None and len(studies) != 1:
        return snapshot.ask(_all_rows(page.name))
    name = studies[0] if study is None else study
    rows = filter_rows(_all_rows(page.name), [Filter((Term("study", "is", name),))])
    if not page.read_with:
        return snapshot.ask(rows)
    shared = (Question(query(f"view/{part}"), {"study": name}) for part in page.read_with)
    return snapshot.ask_together(name, [rows, *shared])[0]


def columns_of(snapshot: Snapshot, page: Page, study: str | None) -> pa.Schema:
    """Columns of a page, from its rows if the page is read once, since it needs the rows anyway."""
    if page.is_read_once and (study is None or study in snapshot.studies()):
        return read_whole(snapshot, page, study).schema
    return snapshot.columns_of(page.name)


def _all_rows(page: str) -> Question:
    return Question(query(f"view/{page}"), {})


def read_study(snapshot: Snapshot, page: str, study: str) -> list[Record]:
    """All rows of a study on a page that is read once."""
    return read_whole(snapshot, PAGES[page], study).to_pylist()


def shown_columns(snapshot: Snapshot, rows: Rows) -> list[str]:
    """Columns that the table shows, in order: those that the address chooses, or the default."""
    page, chosen = rows.page, rows.address.columns or rows.page.columns
    free = [name for name in choosable(snapshot, rows) if name in chosen]
    return [name for name in page.every if name in (page.link, *free)]


def choosable(snapshot: Snapshot, rows: Rows) -> list[str]:
    """Columns that a visitor may show or hide: those that the address does not restrict."""
    fixed = {rows.page.link, *rows.address.fixed_values}
    if rows.page.name not in ("studies", "runs") and len(snapshot.studies()) == 1:
        fixed.add("study")
    return [name for name in rows.page.every if name not in fixed]


def columns_by_name(snapshot: Snapshot, page: Page) -> dict[str, Any]:
    """Fields of a page by name, as ``columns.csv`` of the report declares them."""

    def name_of(kind: str) -> Callable[[Any], Cell]:
        def cell(row: Any) -> Cell:
            name = getattr(row, kind)
            shown = MISSING if name is None else snapshot.display_name(row.study, kind, name)
            return Cell(shown, hover="" if shown == name else name or "")

        return cell

    def minute_of(name: str) -> Callable[[Any], Cell]:
        def cell(row: Any) -> Cell:
            moment = getattr(row, name)
            return Cell(MISSING if moment is None else f"{moment:%Y-%m-%d %H:%M}")

        return cell

    special: dict[str, Callable[[Any], Cell]] = {
        **{kind: name_of(kind) for kind in NAMED},
        **{name: minute_of(name) for name in ("finished_at", "entry_failing_since", "accepted_at")},
        "is_current": lambda row: Cell("newest" if row.is_current else "earlier"),
        "is_finished": lambda row: Cell("finished" if row.is_finished else "not finished"),
        "run_id": lambda row: digest(row.run_id),
        "verdict": lambda row: Cell(verdict_text(row.verdict, row.state)),
        BAR: lambda row: Cell(""),
    }
    return fields_of(f"view_{page.name}", **special)


def heads_of(snapshot: Snapshot, rows: Rows) -> list[Head]:
    """Headings of the columns that are shown."""
    fields = columns_by_name(snapshot, rows.page)
    order = rows.address.sort or rows.page.sort
    heads = []
    for name in shown_columns(snapshot, rows):
        column = fields[name].column
        column = column._replace(meaning=column.meaning or MEANINGS.get(name, ""))
        by = "abs_response" if name == BAR else name
        is_falling = order.startswith("-")
        falls_next = is_number(rows.columns.field(by).type)
        if by == order.removeprefix("-"):
            falls_next = not is_falling
        link = rows.address._replace(sort="-" * falls_next + by, number=1).link()
        now = ""
        if name == order.removeprefix("-"):
            now = "descending" if is_falling else "ascending"
        heads.append(Head(name, column, link, now))
    return heads


def lines_of(snapshot: Snapshot, rows: Rows, scale: float) -> list[Line]:
    """Rows as cells; ``scale`` is the response that fills a bar, score units."""
    fields = columns_by_name(snapshot, rows.page)
    shown = shown_columns(snapshot, rows)
    records = rows.answer.to_pylist()
    pictures = _pictures(snapshot, rows) if rows.page.name == "pairs" else {}
    record_type = namedtuple("Row", rows.answer.schema.names)
    lines = []
    for record in records:
        fixed_values = {name: str(record[name]) for name in rows.page.by}
        has_link = rows.page.leads_to and all(record[name] is not None for name in rows.page.by)
        lines.append(
            Line(
                record,
                Address(rows.page.leads_to, fixed_values).link() if has_link else "",
                {name: fields[name].cell(record_type(**record)) for name in shown},
                bar_of(record, scale) if BAR in shown else [],
                score_text(record["abs_response"]) if BAR in shown else "",
                pictures.get((record["study"], record.get("pair_id")), NO_PICTURES),
            )
        )
    return lines


def _pictures(snapshot: Snapshot, rows: Rows) -> dict[tuple[str, str], Record]:
    """Stored words and pictures of the pairs of these rows, by study and pair."""
    pairs: dict[str, list[str]] = {}
    for record in rows.answer.select(["study", "pair_id"]).to_pylist():
        pairs.setdefault(record["study"], []).append(record["pair_id"])
    return {
        (study, row["pair_id"]): {
            "words": row["words"],
            "factual": picture(row["factual"]),
            "counterfactual": picture(row["counterfactual"]),
        }
        for study, names in pairs.items()
        for row in snapshot.ask_query("pictures", study=study, pair_ids=sorted({*names}))
    }


def scale_of(snapshot: Snapshot, study: str | None, responses: list[float | None]) -> float:
    """Response that fills a bar: 1 for probabilities, otherwise the largest response."""
    if snapshot.has_probabilities(study):
        return 1.0
    return max((value for value in responses if value), default=1.0)


def bar_of(record: Record, scale: float) -> list[tuple[str, float]]:
    """Components above zero with their widths in percent of the scale."""
    widths = ((name, 100 * (record[name] or 0.0) / scale) for name in COMPONENTS)
    return [(name, round(width, 2)) for name, width in widths if width > 0]
