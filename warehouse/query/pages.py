"""Page through a query: filter, sort and cut it in DuckDB, as SQL that users can run elsewhere."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa

from warehouse.query.catalog import run_query

PAGE_ROWS = 50
OPERATORS = {
    "is": "{} = ${}",
    "has": "contains(lower({}::VARCHAR), lower(${}))",
    **{sign: f"{{}} {sign} ${{}}" for sign in ("<", "<=", ">", ">=")},
}
"""SQL of each comparison, with places for a column and the name of a parameter."""


class Question(NamedTuple):
    """One SELECT, and the values of its ``$names``."""

    sql: str
    values: Mapping[str, object]

    def command(self, address: str) -> str:
        """Shell command that runs the query on a warehouse."""
        values = (
            f"-p {shlex.quote(f'{name}={json.dumps(value, default=str)}')}"
            for name, value in self.values.items()
        )
        return " ".join(["decaf sql -w", shlex.quote(address), *values, shlex.quote(self.sql)])


class Term(NamedTuple):
    """Comparison of a column with a value, by one of :data:`OPERATORS`."""

    column: str
    operator: str
    value: object


class Filter(NamedTuple):
    """Condition on rows: at least one of its terms holds."""

    terms: tuple[Term, ...]

    def condition(self, number: int) -> tuple[str, dict[str, object]]:
        """Return the condition in SQL, and the values of its parameters."""
        values = {f"p{number}_{place}": term.value for place, term in enumerate(self.terms, 1)}
        comparisons = (
            OPERATORS[term.operator].format(_quote(term.column), name)
            for term, name in zip(self.terms, values, strict=True)
        )
        text = " OR ".join(comparisons)
        return (f"({text})" if len(self.terms) > 1 else text), values


ALL_ROWS = Question("FROM all_rows", {})
"""Question for all rows of :func:`answer_from`."""


def filter_rows(question: Question, filters: Sequence[Filter]) -> Question:
    """Question for the rows of another question that meet all filters."""
    if not filters:
        return question
    first = len(question.values) + 1
    conditions = [each.condition(number) for number, each in enumerate(filters, start=first)]
    where = "\n    AND ".join(text for text, _ in conditions)
    values = {name: value for _, parameters in conditions for name, value in parameters.items()}
    return Question(f"FROM (\n{question.sql}\n)\nWHERE {where}", {**question.values, **values})


def count_rows(question: Question) -> Question:
    """Question for the number of rows of another question."""
    return Question(f"SELECT count(*) AS row_count FROM (\n{question.sql}\n)", question.values)


def count_rows_by(question: Question, column: str) -> Question:
    """Question for the number of rows of another question by value of a column."""
    name = _quote(column)
    counts = f"SELECT {name}, count(*) AS row_count FROM (\n{question.sql}\n) GROUP BY {name}"
    return Question(counts, question.values)


class Choice(NamedTuple):
    """A page of rows, numbered from 1, sorted by a column and then by all columns."""

    filters: Sequence[Filter]
    number: int
    sort: str
    is_falling: bool

    def of(self, question: Question) -> Question:
        """Question for the rows of the page."""
        chosen = filter_rows(question, self.filters)
        order = f"ORDER BY {_quote(self.sort)}{' DESC' * self.is_falling} NULLS LAST, *"
        cut = f"LIMIT {PAGE_ROWS} OFFSET {(self.number - 1) * PAGE_ROWS}"
        return Question(f"{chosen.sql}\n{order}\n{cut}", chosen.values)


def answer_from(rows: pa.Table, question: Question) -> pa.Table:
    """Answer a question about ``ALL_ROWS`` from rows in memory."""
    with duckdb.connect() as connection:
        connection.register("all_rows", rows)
        return run_query(connection, question.sql, question.values)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
