"""Tables of a plug-in for studies of its data, as a page of Markdown."""

from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from decaf.errors import BadInput, QueryError
from decaf.foundation.number_text import count_text
from warehouse.query.catalog import run_query
from warehouse.query.views import read_view
from warehouse.report import templates
from warehouse.report.audit.facts import known_run
from warehouse.report.cells import digest
from warehouse.report.paper.page import name_of
from warehouse.report.paper.reading import LONGEST


class OwnTable(NamedTuple):
    """A table of the page: its words, its columns, and its lines of text."""

    title: str
    about: str
    columns: list[tuple[str, bool]]
    """Names, each with True if the column holds numbers."""
    lines: list[list[str]]


def write_own_page(
    connection: duckdb.DuckDBPyConnection, study: str, folder: Path, target: Path
) -> Path:
    """Write the answer of each query of a folder, in the order of their names, as a table.

    A query is one ``SELECT`` of ``$study`` with a header. The file appears whole or not at all.

    Raises UnknownName when the warehouse has no run of the study, BadInput when the folder has no
    query, QueryError when one does not run, WarehouseError when its header lacks something, and
    WriteFailed when the disk cannot be written.
    """
    run = known_run(connection, study)
    queries = sorted(folder.glob("*.sql"))
    if not queries:
        raise BadInput(f"{folder} has no .sql file; expected queries for the tables of the page")
    page = templates.render(
        "own.md.j2",
        study=study,
        run=run,
        run_id=digest(run.run_id).text,
        tables=[_read_table(connection, study, path) for path in queries],
    )
    return templates.write(target, "page", page)


def _read_table(connection: duckdb.DuckDBPyConnection, study: str, path: Path) -> OwnTable:
    view = read_view(path, path.parent)
    try:
        answer = run_query(connection, view.sql, {"study": study})
    except QueryError as error:
        raise QueryError(f"{path}: {error}") from error
    columns = [(name_of(field.name), _is_number(field.type)) for field in answer.schema]
    shown = answer.slice(0, LONGEST)
    lines = [
        list(map(name_of, values))
        for values in zip(*(column.to_pylist() for column in shown.columns), strict=True)
    ]
    about = f"One row: {view.grain}."
    if answer.num_rows > LONGEST:
        about += f" The first {LONGEST} of {count_text(answer.num_rows)} rows."
    return OwnTable(view.purpose[:1].upper() + view.purpose[1:], about, columns, lines)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
