"""Store the rows of views of one study in a connection, so that later queries only read them.

DuckDB plans a view again, and every view below it, when a query names it. That takes most of a
second for a verdict, longer than the rows of a usual study take. Views look for their inputs in
their own schema, then in the search path, which begins with the stored rows. So the views that can
be stored have a separate schema: other views find the stored rows, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import duckdb

SCHEMA = "shared"
"""Schema of ``SHARED_VIEWS``."""
SHARED_VIEWS = (
    "core_current_runs",
    "core_run_units",
    "core_paths",
    "core_display_names",
    "core_source_order",
    "core_sources",
    "core_profiles",
    "core_trajectories",
    "core_score_noise",
    "out_score_noise",
    "core_accuracy_counts",
    "out_accuracy",
    "core_factual_accuracy",
    "core_score_ranges",
    "core_chance_warnings",
    "core_response_warnings",
    "core_repeated_effects",
    "out_models",
    "out_thresholds",
    "out_stage_errors",
    "out_controls",
    "out_refinements",
    "out_responses",
    "out_limits",
    "core_group_warnings",
    "core_decisions",
    "out_trust",
    "out_doubts",
    "out_findings",
    "out_warnings",
)
"""Views that several parts of a report read, each after those that it reads."""


@contextmanager
def materialize_views(
    connection: duckdb.DuckDBPyConnection, study: str, names: Sequence[str] = SHARED_VIEWS
) -> Iterator[None]:
    """Store the rows of some of ``SHARED_VIEWS``, each computed from rows stored before it.

    Inside the block the connection's queries read these rows, so they see only this study. Use it
    to read most of the views; a single view is faster without it.
    """
    views = connection.execute(
        "SELECT view_name, sql FROM duckdb_views() "
        "WHERE schema_name = $schema AND view_name IN $names",
        {"schema": SCHEMA, "names": [*names]},
    ).fetchall()
    with ExitStack() as tables:
        for name, sql in sorted(views, key=lambda view: SHARED_VIEWS.index(view[0])):
            select = sql.removeprefix(f"CREATE VIEW {SCHEMA}.{name} AS ").rstrip(";\n")
            table = f"memory.{name}"
            connection.execute(
                f"CREATE TABLE {table} AS FROM ({select}) WHERE study = $study", {"study": study}
            )
            tables.callback(connection.execute, f"DROP TABLE {table}")
        yield
