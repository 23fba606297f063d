"""Files of the study and model that a query names come first among those that DuckDB opens.

DuckDB opens the first file of a table to guess how many rows it has. Where a query passes over that
file it guesses one row, and makes the hash table of a join from all profiles of a model instead of
from their pairs, which takes two to four times as long (benchmarks/README.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import duckdb

from warehouse.query.views import query
from warehouse.tables.declarations import TABLES

HOW_MANY = "len(list_filter($partitions, lambda part: contains(file, part)))"
"""Partitions of a file that are named: its study, its model, both or none."""


def provide(connection: duckdb.DuckDBPyConnection, files: Mapping[str, list[str]]) -> None:
    """Set the variable ``files``: files of each table, in the order of queries that name nothing.

    Those of all tables together are called ``any``.
    """
    connection.execute("SET VARIABLE provided_files = ?", [files])
    connection.execute("SET VARIABLE files = getvariable('provided_files')")
    connection.execute("SET VARIABLE named_partitions = []::VARCHAR[]")


def open_first(connection: duckdb.DuckDBPyConnection, texts: Iterable[str]) -> None:
    """Order the variable ``files`` for one query, from the order that it was provided in.

    ``texts`` are those that the query has or is given; names of studies and models are among them.
    Nothing happens on a connection that no files were provided to.
    """
    before = connection.execute("SELECT getvariable('named_partitions')").fetchall()[0][0]
    if before is None:
        return
    named = connection.execute(query("receipts/named_partitions"), {"texts": [*texts]}).fetchall()
    partitions = sorted(part for (part,) in named)
    if partitions != before:
        connection.execute(_ordering(), {"partitions": partitions})
        connection.execute("SET VARIABLE named_partitions = ?", [partitions])


def texts_in(tree: Any) -> Iterator[str]:
    """Texts that stand in a query, from DuckDB's syntax tree of it."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            literal = node.get("literal")
            if isinstance(literal, dict) and literal.get("kind") == "STRING":
                yield literal["text"]
            nodes += node.values()


@cache
def _ordering() -> str:
    """Files whose partitions are all named, then those of one that is, then the others."""
    ordered = {
        table: " || ".join(
            f"list_filter(f.{table}, lambda file: {HOW_MANY} = {named})" for named in (2, 1, 0)
        )
        for table in TABLES
    }
    files = ", ".join(
        f"'{table}': {value}" for table, value in {**ordered, "any": 'f."any"'}.items()
    )
    provided = "(SELECT getvariable('provided_files') AS f)"
    return f"SET VARIABLE files = (SELECT {{{files}}} FROM {provided})"
