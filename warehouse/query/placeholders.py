"""Fill placeholders in SQL files: rows of CSV files, and views of all studies.

A general view therefore does not name studies.
"""

import csv
import re
from pathlib import Path

STUDIES = re.compile(r"\bstudies\('([^']+)'\)")
CSV = re.compile(r"\bcsv\('([^']+)'\)")
STUDY = "study"
"""Column with the name of a CSV file's folder, if a pattern matches several folders."""


def fill_placeholders(sql: str, folder: Path) -> str:
    """Replace the placeholders of a SQL file with content from ``folder``, the root of all files.

    ``csv('<pattern>')`` becomes the rows of matching CSV files: cells are text, or NULL if empty; a
    column ``study`` names the folder of a row's file. ``studies('<name>')`` becomes the rows of the
    views ``core_<study>_<name>`` of all studies.

    Examples
    --------
    >>> fill_placeholders("SELECT 1", Path("sql"))
    'SELECT 1'
    """
    sql = CSV.sub(lambda match: _rows(folder, match[1]), sql)
    return STUDIES.sub(lambda match: f"({_unite_studies(folder, match[1])})", sql)


def _unite_studies(folder: Path, name: str) -> str:
    files = sorted(folder.glob(f"studies/*/core_*_{name}.sql"))
    return " UNION ALL BY NAME ".join(f"FROM {file.stem}" for file in files)


def _rows(folder: Path, pattern: str) -> str:
    rows = []
    for path in sorted(folder.glob(pattern)):
        with path.open(newline="", encoding="utf-8") as file:
            rows += [{STUDY: path.parent.name, **row} for row in csv.DictReader(file)]
    values = ", ".join(f"({', '.join(map(_literal, row.values()))})" for row in rows)
    return f"(VALUES {values}) AS csv ({', '.join(rows[0])})"


def _literal(cell: str) -> str:
    return "NULL" if cell == "" else "'" + cell.replace("'", "''") + "'"
