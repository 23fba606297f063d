"""What the text of a SQL file leaves to be filled in: rows of CSV files, and views of all studies.

So a general view needs to name no study.
"""

import csv
import re
from pathlib import Path

STUDIES = re.compile(r"\bstudies\('([^']+)'\)")
CSV = re.compile(r"\bcsv\('([^']+)'\)")
STUDY = "study"
"""Column that names the folder of a file, where a pattern has files of several folders."""


def filled(sql: str, folder: Path) -> str:
    """Replace what a file leaves open by what lies in ``folder``, which is that of all files.

    ``csv('<pattern>')`` becomes the rows of the CSV files of that name: cells are text, an empty
    one is NULL; a column ``study`` names the folder of a row's file. ``studies('<name>')`` becomes
    the rows of the views ``core_<study>_<name>`` of all studies.

    Examples
    --------
    >>> filled("SELECT 1", Path("sql"))
    'SELECT 1'
    """
    sql = CSV.sub(lambda match: _rows(folder, match[1]), sql)
    return STUDIES.sub(lambda match: f"({_of_studies(folder, match[1])})", sql)


def _of_studies(folder: Path, name: str) -> str:
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
