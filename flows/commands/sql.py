"""Carry out ``decaf sql``: read a query, run it, and print or write its rows."""

import json
import sys
from pathlib import Path

import duckdb

from decaf.errors import QueryError
from flows.commands.answers import ROWS_SHOWN, print_rows, row_count_text
from flows.commands.terminal import say, warn
from tasks.terminal import Terminal
from warehouse.query.catalog import stream_query
from warehouse.query.formats import (
    FORMATS,
    SPREADSHEET,
    file_extension,
    write_file,
    write_rows,
)
from warehouse.query.query_process import run_in_process
from warehouse.storage import Storage

NO_QUERY = (
    'no query; give one, as in decaf sql "FROM out_model_profiles", or explore a copy: '
    "decaf export results.duckdb, then DuckDB's own shell: duckdb results.duckdb"
)


def read_query(query: str | None, file: Path | None) -> str:
    """Text of the query from the argument, from a file or from standard input.

    Raises QueryError for two queries, for an empty query, for a terminal as standard input without
    a query, and for a file that cannot be read.
    """
    if query is not None and file is not None:
        raise QueryError(f"found a query and --file {file}; expected one of them")
    try:
        if file is not None:
            query = file.read_text(encoding="utf-8")
        elif query is None:
            query = "" if sys.stdin.isatty() else sys.stdin.read()
        query.encode()  # input that is not UTF-8 was read as surrogates, which this refuses
    except (OSError, UnicodeError) as error:
        raise QueryError(
            f"the query cannot be read from {file or 'the command line'}: {error}"
        ) from error
    if not query.strip():
        raise QueryError(NO_QUERY)
    return query


def parameters(texts: list[str]) -> dict[str, object]:
    """Values of ``name=value``: JSON is read as a number, boolean, list or NULL, else as text.

    Raises QueryError for a parameter without a name, and for a repeated name.

    >>> parameters(["epsilon=0.05", "model=007", 'other="7"', 'paths=["blend"]'])
    {'epsilon': 0.05, 'model': '007', 'other': '7', 'paths': ['blend']}
    """
    values: dict[str, object] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.removeprefix("$")
        if not separator or not name.isidentifier():
            raise QueryError(f"--param {text!r}: expected name=value, as in --param epsilon=0.05")
        if name in values:
            raise QueryError(f"--param {name} appears twice; expected one value")
        values[name] = _parse_value(value)
    return values


def chosen_format(file_format: str | None, output: Path | None) -> str:
    """Format of the answer: ``--format``, else the file's ending, else a table on a terminal.

    Without a terminal it is CSV. Raises QueryError for a table in a file and an unknown ending.
    """
    if file_format == "table" and output is not None:
        raise QueryError(
            f"--output {output}: --format table is only for the terminal; use --format csv"
        )
    if file_format:
        return file_format
    if output is None:
        return "table" if sys.stdout.isatty() else "csv"
    formats = {file_extension(name): name for name in FORMATS if name != SPREADSHEET}
    ending = output.suffix.removeprefix(".").lower()
    if ending not in formats:
        raise QueryError(
            f"--output {output}: expected a name that ends in {', '.join(formats)}, or --format"
        )
    return formats[ending]


def answer(
    console: Terminal,
    store: Storage,
    query: str,
    values: dict[str, object],
    file_format: str,
    output: Path | None,
    limit: int | None,
    memory_gb: int,
) -> None:
    """Run one query and print its rows, or write them to a file that is complete or absent.

    Raises BadInput if the query or the combination of options is wrong; WriteFailed if the file
    cannot be written.
    """
    if limit is not None and file_format != "table":
        raise QueryError(f"--limit is for tables; write LIMIT {limit} in the query instead")
    if file_format == "parquet" and output is None and sys.stdout.isatty():
        raise QueryError("Parquet is not for a terminal; add --output FILE.parquet")

    def work(connection: duckdb.DuckDBPyConnection) -> None:
        rows = stream_query(connection, query, values)
        if file_format == "table":
            print_rows(console, rows, ROWS_SHOWN if limit is None else limit)
        elif output is None:
            with console.writing():
                write_rows(rows, file_format, sys.stdout.buffer)
                sys.stdout.flush()
        else:
            count = write_file(output, lambda sink: write_rows(rows, file_format, sink))
            say(console, f"{row_count_text(count)}: {output}")

    run_in_process(work, store, memory_gb, warn, folder=output and output.parent)


def _parse_value(value: str) -> object:
    try:
        return json.loads(value, parse_constant=str)
    except ValueError:
        return value
