"""Write artifacts for Prefect's page: the path of the report, profiles, verdicts and costs.

Their keys are equal in all runs of a study, so the page shows their history.
"""

import re
from pathlib import Path

from tasks.step import is_in_flow
from warehouse.query.damage import connect_whole
from warehouse.storage import Storage

MOST_ROWS = 500
"""Most rows of a table; the warehouse has all rows."""
TABLES = {
    "profiles": "model_id, pair_type, path, pair_count, endpoint_delta, endpoint_magnitude, "
    "evidence, contradiction, fragility FROM out_model_profiles",
    "verdicts": "entry, version, verdict, metric, rule, pair_type, path, variant, gate_limit, "
    "found, lower_limit, upper_limit, reason FROM out_verdicts",
    "costs": "model_id, forward_rows, forward_seconds, wall_seconds, device FROM out_costs",
}
"""Columns of each artifact and their view."""


def write_artifacts(store: Storage, study: str, report: Path | None) -> None:
    """Write the artifacts of a study's newest run; does nothing outside a Prefect flow."""
    if not is_in_flow():
        return
    from prefect.artifacts import create_markdown_artifact, create_table_artifact

    with connect_whole(store, study) as connection:
        tables = {
            name: connection.sql(
                f"SELECT {columns} WHERE study = $study LIMIT {MOST_ROWS}", params={"study": study}
            ).to_arrow_table()
            for name, columns in TABLES.items()
        }
    if report:
        # In a code span, names from data and registries are not read as Markdown.
        create_markdown_artifact(
            f"The report of study {study} is `{report.absolute()}`.", key=key_of(study, "report")
        )
    for name, table in tables.items():
        if table.num_rows:
            create_table_artifact(
                table.to_pylist(), key=key_of(study, name), description=f"{name} of study {study}"
            )


def key_of(study: str, name: str) -> str:
    """Key of an artifact with the characters that Prefect allows: a-z, digits and dashes.

    >>> key_of("Photos_2.1", "costs")
    'decaf-photos-2-1-costs'
    """
    return f"decaf-{re.sub('[^a-z0-9]+', '-', study.lower()).strip('-')}-{name}"
