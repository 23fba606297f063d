"""Views of one study whose rows a connection keeps, so that later queries only read them.

DuckDB plans a view again, and every view below it, when a query names it. That takes most of a
second for a verdict, longer than the rows of a usual study take. Views look for their inputs in
their own schema, then in the search path, which begins with the kept rows. So the views that can be
kept have a schema of their own: other views find the kept rows, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import duckdb

SCHEMA = "holdable"
"""Schema of the views in ``HELD``."""
HELD = (
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
    "core_decisions",
    "out_trust",
    "out_doubts",
    "out_findings",
    "out_warnings",
)
"""Views that several parts of a report read, each after those that it reads."""


@contextmanager
def hold_views(
    connection: duckdb.DuckDBPyConnection, study: str, names: Sequence[str] = HELD
) -> Iterator[None]:
    """Compute some of the views in ``HELD`` once, each from those that are held already.

    Inside the block the connection's queries read these rows, so they see only this study. Use it
    to read most of the views; a single view is faster without it.
    """
    views = connection.execute(
        "SELECT view_name, sql FROM duckdb_views() "
        "WHERE schema_name = $schema AND view_name IN $names",
        {"schema": SCHEMA, "names": [*names]},
    ).fetchall()
    with ExitStack() as held:
        for name, sql in sorted(views, key=lambda view: HELD.index(view[0])):
            select = sql.removeprefix(f"CREATE VIEW {SCHEMA}.{name} AS ").rstrip(";\n")
            table = f"memory.{name}"
            connection.execute(
                f"CREATE TABLE {table} AS FROM ({select}) WHERE study = $study", {"study": study}
            )
            held.callback(connection.execute, f"DROP TABLE {table}")
        yield
