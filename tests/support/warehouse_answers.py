"""Read a warehouse: by SQL, and from its files."""

from warehouse.commits import receipts
from warehouse.commits.current import resolve
from warehouse.commits.stored import read_file
from warehouse.query.catalog import connect, run_query
from warehouse.query.checks import run_checks
from warehouse.query.views import sort_views

LOWER = [view for view in sort_views() if view.kind in ("stg", "core")]
GIVEN = ("files.", "receipts", "committed_units", "receipt_files")
FIRST = [view for view in LOWER if any(name.startswith(GIVEN) for name in view.inputs)]
"""Views that read the tables of a connection; all others are built on them."""
UPPERMOST = ("core_profiles", "out_model_profiles")


def answers(root, but=()):
    """Rows of the first views, and of some views that are built on them.

    Every other view, and every check, is a query of these, so equal rows here are equal rows there.

    Parameters
    ----------
    but
        Views that are left out.
    """
    return rows_of(root, [view.name for view in FIRST if view.name not in but] + [*UPPERMOST])


def query_rows(root, sql):
    """Rows of a query."""
    with connect(root, threads=1) as connection:
        return run_query(connection, sql).to_pylist()


def fetched(root, sql, **parameters):
    """Rows of a query as tuples, one value a column."""
    with connect(root) as connection:
        return connection.execute(sql, parameters).fetchall()


def rows_of(root, names):
    """Rows of some views, by view."""
    with connect(root, threads=1) as connection:
        return {name: rows_as_text(connection, name) for name in names}


def rows_as_text(connection, view):
    """Rows of a view, sorted; results to 12 digits, since the order of files orders their sums."""
    found = connection.execute(f"FROM {view}")
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    if view.startswith("out_"):
        rows = [{name: rounded(value) for name, value in row.items()} for row in rows]
    return sorted(map(str, rows))


def rounded(value):
    """A number to 12 digits; anything else as it is."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def failed_checks(root):
    """Names of the checks that find something."""
    with connect(root, threads=1) as connection:
        return [result.name for result in run_checks(connection) if result.offending_count]


def queried_counts(root, *tables):
    """Rows of the staging views of some tables."""
    with connect(root, threads=1) as connection:
        return tuple(run_query(connection, f"FROM stg_{name}").num_rows for name in tables)


def row_counts(root, *tables):
    """The same of the files that a reader opens."""
    found = rows_by_table(root)
    return tuple(found.get(table, 0) for table in tables)


def rows_by_table(root):
    """Rows of every table, of the files that a reader opens: every one whole, or it raises."""
    found = {}
    for receipt in resolve(list(receipts.read(root))).read:
        for file in receipt.files:
            found[file.table] = found.get(file.table, 0) + read_file(root, file).num_rows
    return found
