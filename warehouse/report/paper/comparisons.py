"""Numbers of a study for which the paper has a value: a CSV file next to its page.

A scoreboard needs these files, not the warehouses.
"""

import csv
import io
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import csv as arrow_csv

from decaf.errors import BadInput
from warehouse.query.views import MACRO, create_views, query, sort_views
from warehouse.report import templates
from warehouse.report.paper.reading import REQUIRED, Paper

COMPARISONS = "comparisons"
TEXTS = ("paper", "unit", "method", "part", "statistic", "study")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS),
        ("model_count", pa.int64()),
        ("sample_size", pa.int64()),
        ("is_official", pa.bool_()),
        ("why", pa.string()),
        *((name, pa.float64()) for name in ("estimate", "lower_95", "upper_95")),
        ("reason", pa.string()),
    ]
)
"""Columns of the macro."""


def write_comparisons(
    connection: duckdb.DuckDBPyConnection, study: str, paper: Paper, page: Path
) -> None:
    """Write the rows of a study, with nine significant digits; raises WriteFailed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(SCHEMA.names)
    for row in _comparisons(connection, study, paper):
        writer.writerow(f"{value:.9g}" if isinstance(value, float) else value for value in row)
    templates.write(page.with_suffix(".csv"), "file", text.getvalue().encode())


def read_comparisons(file: Path) -> pa.Table:
    """Read a file of :func:`write_comparisons`; raises BadInput for any other file."""
    options = arrow_csv.ConvertOptions(
        column_types=SCHEMA, strings_can_be_null=True, null_values=[""]
    )
    try:
        table = arrow_csv.read_csv(file, convert_options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"{file}: {error}; expected a file that decaf results writes") from None
    if table.schema.names != SCHEMA.names:
        raise BadInput(
            f"{file} has the columns {', '.join(table.schema.names)}; expected "
            f"{', '.join(SCHEMA.names)}, as decaf results writes them beside its page"
        )
    return table


def _comparisons(connection: duckdb.DuckDBPyConnection, study: str, paper: Paper) -> list[tuple]:
    """Rows of the macro, computed from the tables in ``paper``: their queries can take minutes."""
    read = {table.name: table.rows for table in paper.tables}
    scripts = {view.name: view for view in sort_views()}
    parts = {
        COMPARISONS,
        *(name for name in scripts[COMPARISONS].inputs if name.endswith("_comparisons")),
    }
    inputs = {name for part in parts for name in scripts[part].inputs} - parts
    whole = {name for name in inputs if scripts[name].kind == MACRO or not scripts[name].inputs}
    with duckdb.connect() as alone:
        for name in sorted(inputs - whole):
            columns = dict(connection.execute(query("report/columns"), [name]).fetchall())
            listed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
            alone.execute(f"CREATE TABLE {name} ({listed})")
            if name in read:
                rows = [{"study": study, **row.keys, **row._asdict()} for row in read[name]]
                rows_of_view = pa.Table.from_pylist([{c: row[c] for c in columns} for row in rows])
            elif set(REQUIRED) <= columns.keys():
                continue  # a table without rows of the study
            else:
                stored_rows = connection.sql(
                    f"FROM {name} WHERE study = $study", params={"study": study}
                )
                rows_of_view = stored_rows.to_arrow_table()
            alone.register("given", rows_of_view)
            alone.execute(f"INSERT INTO {name} BY NAME FROM given")
        create_views(alone, [view for name, view in scripts.items() if name in whole | parts])
        return alone.execute(query("report/comparisons")).fetchall()
