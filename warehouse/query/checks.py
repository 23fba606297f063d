"""Run the checks of a warehouse: queries that return offending rows, or no row if they pass."""

from dataclasses import dataclass

import duckdb

from decaf.errors import WarehouseError
from warehouse.query.store_errors import find_store_error
from warehouse.query.views import CHECKS, views

EXAMPLES = 10
"""Largest number of offending rows that a result lists."""


@dataclass(frozen=True)
class Offence:
    """One offending row; ``key`` names its subject: a pair and path, a unit or a file."""

    study: str | None
    model_id: str | None
    key: str
    found: str | None
    expected: str

    def __str__(self) -> str:
        """Format as a sentence."""
        place = "/".join(name for name in (self.study, self.model_id, self.key) if name)
        return f"{place}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True)
class CheckResult:
    """Number of offending rows of a check, and the first few by study, model and key."""

    name: str
    offending_count: int
    examples: tuple[Offence, ...]


def run_checks(
    connection: duckdb.DuckDBPyConnection, study: str | None = None
) -> list[CheckResult]:
    """Run every check of ``sql/checks`` on a connection of :func:`warehouse.query.catalog.connect`.

    With ``study``, offending rows of other studies are left out. Raises WarehouseError when a check
    cannot be computed, for example on a damaged file.
    """
    checks = [view for view in views() if view.folder == CHECKS]
    return [_run(connection, view.name, view.sql, study) for view in checks]


def _run(
    connection: duckdb.DuckDBPyConnection, name: str, sql: str, study: str | None
) -> CheckResult:
    # One statement is bound once; a relation is bound again with every step that is added to it.
    offences = f"FROM ({sql.rstrip().removesuffix(';')})"
    if study is not None:
        offences += f" WHERE study = {duckdb.ConstantExpression(study)}"
    columns = "study, model_id, key, found, expected"
    query = f"SELECT {columns}, count(*) OVER () {offences} ORDER BY ALL LIMIT {EXAMPLES}"
    try:
        rows = connection.execute(query).fetchall()
    except duckdb.Error as error:
        reason = find_store_error(error) or error
        raise WarehouseError(f"{name} cannot be computed: {reason}") from error
    count = rows[0][-1] if rows else 0
    return CheckResult(name, count, tuple(Offence(*row[:-1]) for row in rows))
