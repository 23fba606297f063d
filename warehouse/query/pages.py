"""A query page by page: filtered, sorted and cut in DuckDB, as text that can be run elsewhere."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa

from warehouse.query.catalog import run_query

PAGE_ROWS = 50


class Question(NamedTuple):
    """One SELECT, and the values of its ``$names``."""

    sql: str
    values: Mapping[str, object]

    def command(self, address: str) -> str:
        """The line for a shell that asks this of the warehouse."""
        values = (f"-p {shlex.quote(f'{k}={json.dumps(v)}')}" for k, v in self.values.items())
        return " ".join(["decaf sql -w", shlex.quote(address), *values, shlex.quote(self.sql)])


class Filter(NamedTuple):
    """What rows have to meet in one column: a value, a part of its text, or bounds; None is any."""

    column: str
    value: object = None
    part: str | None = None
    least: float | None = None
    most: float | None = None

    def condition(self, number: int) -> tuple[list[str], dict[str, object]]:
        """Conditions that all hold, and the values of their parameters."""
        name = _quoted(self.column)
        wanted = {
            f"is_{number}": (self.value, "{} = ${}"),
            f"part_{number}": (self.part, "contains(lower({}::VARCHAR), lower(${}))"),
            f"least_{number}": (self.least, "{} >= ${}"),
            f"most_{number}": (self.most, "{} <= ${}"),
        }
        given = {key: one for key, one in wanted.items() if one[0] is not None}
        return (
            [condition.format(name, key) for key, (_, condition) in given.items()],
            {key: value for key, (value, _) in given.items()},
        )


GIVEN = Question("FROM given", {})
"""All rows that :func:`answer_from` is given."""


def columns_of(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Schema:
    """Columns of a query; reads no rows."""
    return run_query(connection, f"FROM (\n{query}\n) LIMIT 0").schema


def filtered(question: Question, filters: Sequence[Filter]) -> Question:
    """The rows of a question that meet all filters."""
    first = len(question.values) + 1
    found = [each.condition(number) for number, each in enumerate(filters, start=first)]
    conditions = [condition for own, _ in found for condition in own]
    if not conditions:
        return question
    where = "\n    AND ".join(conditions)
    values = {name: value for _, own in found for name, value in own.items()}
    return Question(f"FROM (\n{question.sql}\n)\nWHERE {where}", {**question.values, **values})


def counted(question: Question) -> Question:
    """How many rows there are."""
    return Question(f"SELECT count(*) AS row_count FROM (\n{question.sql}\n)", question.values)


class Choice(NamedTuple):
    """A page of rows, from 1, that meet filters, sorted by a column; equal ones by all columns."""

    filters: Sequence[Filter]
    number: int
    sort: str
    is_falling: bool

    def of(self, question: Question) -> Question:
        """That page of the rows of a question."""
        found = filtered(question, self.filters)
        order = f"ORDER BY {_quoted(self.sort)}{' DESC' * self.is_falling} NULLS LAST, *"
        cut = f"LIMIT {PAGE_ROWS} OFFSET {(self.number - 1) * PAGE_ROWS}"
        return Question(f"{found.sql}\n{order}\n{cut}", found.values)


def answer_from(rows: pa.Table, question: Question) -> pa.Table:
    """Rows of a question about ``GIVEN``, which are here already."""
    with duckdb.connect() as alone:
        alone.register("given", rows)
        return run_query(alone, question.sql, question.values)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
