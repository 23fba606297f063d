"""Fill placeholders in SQL files: rows of CSV files, views of all studies, and keys of tables.

A general view therefore does not name studies, and a check does not repeat declared keys.
"""

import csv
import re
from pathlib import Path

from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES

STUDIES = re.compile(r"\bstudies\('([^']+)'\)")
CSV = re.compile(r"\bcsv\('([^']+)'\)")
OTHER_KEYS = re.compile(r"\bother_keys\('([^']+)'\)")
STUDY = "study"
"""Column with the name of a CSV file's folder, if a pattern matches several folders."""


def fill_placeholders(sql: str, folder: Path) -> str:
    """Replace the placeholders of a SQL file with content from ``folder``, the root of all files.

    ``csv('<pattern>')`` becomes the rows of matching CSV files: cells are text, or NULL if empty; a
    column ``study`` names the folder of a row's file. ``studies('<name>')`` becomes the rows of the
    views ``core_<study>_<name>`` of all studies. ``other_keys('<tables>')`` becomes a row for each
    row of all tables except the named ones: ``table_name``, ``study``, ``model_id`` and ``key``, a
    list of the other columns of its key as text.

    Examples
    --------
    >>> fill_placeholders("SELECT 1", Path("sql"))
    'SELECT 1'
    """
    sql = CSV.sub(lambda match: _rows(folder, match[1]), sql)
    sql = STUDIES.sub(lambda match: f"({_unite_studies(folder, match[1])})", sql)
    return OTHER_KEYS.sub(lambda match: f"({_unite_keys(match[1].split())})", sql)


def _unite_studies(folder: Path, name: str) -> str:
    files = sorted(folder.glob(f"studies/*/core_*_{name}.sql"))
    return " UNION ALL BY NAME ".join(f"FROM {file.stem}" for file in files)


def _unite_keys(left_out: list[str]) -> str:
    tables = (table for table in TABLES.values() if table.name not in left_out)
    return " UNION ALL ".join(map(_select_keys, tables))


def _select_keys(table: Table) -> str:
    key = ", ".join(f"{name}::VARCHAR" for name in table.key if name not in ("study", "model_id"))
    model = "model_id" if "model_id" in table.key else "NULL AS model_id"
    name = f"'{table.name}' AS table_name"
    return f"SELECT {name}, study, {model}, [{key}] AS key FROM stg_{table.name}"


def _rows(folder: Path, pattern: str) -> str:
    rows = []
    for path in sorted(folder.glob(pattern)):
        with path.open(newline="", encoding="utf-8") as file:
            rows += [{STUDY: path.parent.name, **row} for row in csv.DictReader(file)]
    values = ", ".join(f"({', '.join(map(_literal, row.values()))})" for row in rows)
    return f"(VALUES {values}) AS csv ({', '.join(rows[0])})"


def _literal(cell: str) -> str:
    return "NULL" if cell == "" else "'" + cell.replace("'", "''") + "'"
