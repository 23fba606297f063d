"""The pages of ``decaf view``: a program that Streamlit runs anew whenever somebody acts.

Every page is a query of ``sql/queries/view``. A chosen row opens the next page, about that row
alone, at an address of its own. A visitor has a connection, which sees the commits of the moment
it was opened: when the page was loaded, or renewed.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import duckdb
import pyarrow as pa
import streamlit as st

from decaf.errors import DecafError, QueryError
from warehouse import storage
from warehouse.query import pages
from warehouse.query.catalog import connect, run_query
from warehouse.query.damage import described, left_out, naming_damage
from warehouse.query.database import MEANINGS
from warehouse.query.pages import Choice, Filter, Question
from warehouse.query.views import query
from warehouse.report.pair import pair_card
from warehouse.storage import Storage

WITH_STATES, WITHOUT_STATES = 590, 350
"""Height of a pair's card, px: it runs no script that could say its own."""
TRAJECTORY = ("study", "model_id", "pair_id", "path", "repetition")


class Page(NamedTuple):
    """A table: the query that it is of, by which column it begins sorted, and where a row leads."""

    name: str
    sort: str
    is_falling: bool = True
    leads_to: str = ""
    by: tuple[str, ...] = ()
    """Columns of a row that the next page is about."""
    is_sortable: bool = True
    is_read_once: bool = False
    """Whether few rows take long to make: all are read at once, then filtered and sorted."""

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.name.capitalize()


PAGES = (
    Page("studies", "started_at", leads_to="models", by=("study",)),
    Page("runs", "started_at"),
    Page("models", "severity", False, "responses", ("study", "model_id"), is_read_once=True),
    Page("responses", "evidence", True, "pairs", ("study", "model_id", "pair_type", "path")),
    Page("pairs", "evidence", True, "trajectory", TRAJECTORY),
    Page("trajectory", "stage", is_falling=False, is_sortable=False),
)


def main(store: Storage) -> None:
    """Show the page that is asked for, or say in words why it cannot be shown."""
    st.set_page_config("decaf", layout="wide")
    shown = {
        page.name: st.Page(partial(show, store, page), title=page.title, url_path=page.name)
        for page in PAGES
    }
    chosen = st.navigation([*shown.values()], position="top")
    st.session_state.shown = shown
    try:
        with naming_damage(store):
            chosen.run()
    except DecafError as error:
        st.error("This cannot be shown:")
        st.code(str(error), language=None, wrap_lines=True)


def show(store: Storage, page: Page) -> None:
    """One table: what it is about, its rows, and the question that gives them."""
    title, renewing = st.columns([3, 1], vertical_alignment="center")
    title.title(page.title, anchor=False)
    with renewing:
        connection, moment = seen(store)
    sql = query(f"view/{page.name}")
    columns = pages.columns_of(connection, sql)
    about = restrictions(columns)
    if about:
        st.text("   ".join(f"{each.column}: {each.value}" for each in about))
    if page.name == "trajectory":
        if {each.column for each in about} != {*TRAJECTORY}:
            st.info("Choose a pair first.")
            st.page_link(st.session_state.shown["pairs"], label="Pairs")
            return
        draw(connection, moment, {each.column: each.value for each in about})
    elif about and st.button("Show all"):
        st.query_params.clear()
        st.rerun()
    free = [name for name in columns.names if name not in {each.column for each in about}]
    question = pages.filtered(Question(sql, {}), about)
    ask, given = partial(answer, connection, moment), question
    if page.is_read_once:
        ask, given = partial(pages.answer_from, ask(question)), pages.GIVEN
    choice = asked(ask, given, page, columns, free)
    rows, question = ask(choice.of(given)), choice.of(question)
    chosen = st.dataframe(
        rows,
        hide_index=True,
        column_order=free,
        column_config={name: column_config(columns.field(name)) for name in free},
        key=f"{page.name} rows of {question}",
        on_select="rerun" if page.leads_to else "ignore",
        selection_mode="single-row",
    )
    with st.expander("SQL, as a command"):
        st.code(question.command(store.address), language="sql", wrap_lines=True)
    if page.leads_to and chosen.selection.rows:
        row = rows.slice(chosen.selection.rows[0], 1).to_pylist()[0]
        st.switch_page(
            st.session_state.shown[page.leads_to],
            query_params={name: str(row[name]) for name in page.by},
        )


def seen(store: Storage) -> tuple[duckdb.DuckDBPyConnection, str]:
    """The visitor's connection and the moment it is of; made when there is none."""
    if st.button("Renew", help="see what was committed since", width="stretch"):
        st.session_state.pop("seen", None)
    if "seen" not in st.session_state:
        with st.spinner("Opening the warehouse …"):
            st.session_state.seen = connect(store), datetime.now(UTC).isoformat(" ")
    connection, moment = st.session_state.seen
    st.caption(f"as of {moment[:19]} UTC")
    if damage := left_out(connection):
        st.warning("Some files are left out:")
        st.code(described(store, damage), language=None, wrap_lines=True)
    return connection, moment


def asked(
    ask: Callable[[Question], pa.Table],
    question: Question,
    page: Page,
    columns: pa.Schema,
    names: list[str],
) -> Choice:
    """The page of rows that the visitor asks for, by filters, order and number."""
    if not page.is_sortable:
        return Choice([], 1, page.sort, page.is_falling)
    only, sort, falling, at = st.columns([4, 3, 2, 2], vertical_alignment="bottom")
    by = only.multiselect("Filter by", names, key=f"{page.name} filters")
    filters = asked_filters(page, columns, by)
    question = pages.filtered(question, filters)
    total = ask(pages.counted(question))["row_count"][0].as_py()
    order = sort.selectbox("Sort by", names, names.index(page.sort), key=f"{page.name} order")
    is_falling = falling.toggle("largest first", page.is_falling, key=f"{page.name} falling")
    last = max(1, -(-total // pages.PAGE_ROWS))
    number = at.number_input(f"Page of {last}", 1, last, key=f"{page.name} {question}")
    first = (number - 1) * pages.PAGE_ROWS
    count = f"Rows {first + 1:,} to {min(total, first + pages.PAGE_ROWS):,} of {total:,}."
    opens = f" Tick one to see its {page.leads_to}." if page.leads_to else ""
    st.caption(count + opens if total else "Nothing is here yet, or nothing meets the filters.")
    return Choice(filters, number, order, is_falling)


@st.cache_data(max_entries=200, show_spinner="Asking the warehouse …")
def answer(_connection: duckdb.DuckDBPyConnection, moment: str, question: Question) -> pa.Table:
    """Rows of a question; asked once of what was committed at a moment."""
    return run_query(_connection, question.sql, question.values)


def restrictions(columns: pa.Schema) -> list[Filter]:
    """What the address says that a page is about, with the types of the columns."""
    try:
        return [
            Filter(name, pa.scalar(text).cast(columns.field(name).type).as_py())
            for name, text in st.query_params.items()
            if name in columns.names
        ]
    except pa.ArrowInvalid as error:
        raise QueryError(f"the address asks for what no row can be: {error}") from error


def asked_filters(page: Page, columns: pa.Schema, names: list[str]) -> list[Filter]:
    """Filters on columns that the visitor chose: bounds of numbers, parts of what else."""
    filters = []
    for name in names:
        key = f"{page.name} {name}"
        if is_number(columns.field(name)):
            low, high = st.columns(2)
            least = low.number_input(f"{name} from", value=None, format="%f", key=f"{key} from")
            most = high.number_input(f"{name} to", value=None, format="%f", key=f"{key} to")
            filters.append(Filter(name, least=least, most=most))
        else:
            part = st.text_input(f"{name} contains", key=key)
            filters.append(Filter(name, part=part or None))
    return filters


def column_config(field: pa.Field) -> object:
    """How a column looks, and what it means."""
    meaning = MEANINGS.get(field.name)
    if pa.types.is_floating(field.type):
        return st.column_config.NumberColumn(help=meaning, format="%.4f")
    return st.column_config.Column(help=meaning)


def is_number(field: pa.Field) -> bool:
    """Whether a column has numbers."""
    return pa.types.is_floating(field.type) or pa.types.is_integer(field.type)


def draw(connection: duckdb.DuckDBPyConnection, moment: str, about: dict[str, object]) -> None:
    """One pair: its inputs where they are stored, its states, and its curve."""
    for found in answer(connection, moment, Question(query("view/pair"), about)).to_pylist():
        st.iframe(pair_card(found), height=WITH_STATES if found["states"] else WITHOUT_STATES)


if __name__ == "__main__":
    main(storage.open(sys.argv[1]))
