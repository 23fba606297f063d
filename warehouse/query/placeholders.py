"""What the text of a SQL file leaves to be filled in: rows of CSV files that lie in ``sql/``."""

import csv
import re
from pathlib import Path

CSV = re.compile(r"\bcsv\('([^']+)'\)")
STUDY = "study"
"""Column that names the folder of a file, where a pattern has files of several folders."""


def filled(sql: str, folder: Path) -> str:
    """Replace every ``csv('<pattern>')`` by the rows of the files of that name in ``folder``.

    Cells are text, an empty one is NULL; a column ``study`` names the folder of a row's file.

    Examples
    --------
    >>> filled("SELECT 1", Path("sql"))
    'SELECT 1'
    """
    return CSV.sub(lambda match: _rows(folder, match[1]), sql)


def _rows(folder: Path, pattern: str) -> str:
    rows = []
    for path in sorted(folder.glob(pattern)):
        with path.open(newline="", encoding="utf-8") as file:
            rows += [{STUDY: path.parent.name, **row} for row in csv.DictReader(file)]
    values = ", ".join(f"({', '.join(map(_literal, row.values()))})" for row in rows)
    return f"(VALUES {values}) AS csv ({', '.join(rows[0])})"


def _literal(cell: str) -> str:
    return "NULL" if cell == "" else "'" + cell.replace("'", "''") + "'"
