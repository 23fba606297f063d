"""What a run leaves on Prefect's page: the report's place, profiles, verdicts, costs.

Each has a key that stays the same from run to run of a study, so the page shows how it changed.
"""

import re
from pathlib import Path

from tasks.step import is_in_flow
from warehouse.query.damage import connect_whole
from warehouse.storage import Storage

MOST_ROWS = 500
"""Rows of a table; the warehouse has all of them."""
TABLES = {
    "profiles": "model_id, pair_type, path, pair_count, endpoint_delta, endpoint_magnitude, "
    "evidence, contradiction, fragility FROM out_model_profiles",
    "verdicts": "entry, version, verdict, metric, rule, pair_type, path, variant, gate_limit, "
    "found, lower_limit, upper_limit, reason FROM out_verdicts",
    "costs": "model_id, forward_rows, forward_seconds, wall_seconds, device FROM out_costs",
}
"""Columns of each artifact and the view that they come from."""


def leave_artifacts(store: Storage, study: str, report: Path | None) -> None:
    """Write the artifacts of a study's newest run; nothing outside a flow of Prefect."""
    if not is_in_flow():
        return
    from prefect.artifacts import create_markdown_artifact, create_table_artifact

    with connect_whole(store, study) as connection:
        asked = {
            name: connection.sql(
                f"SELECT {columns} WHERE study = $study LIMIT {MOST_ROWS}", params={"study": study}
            ).to_arrow_table()
            for name, columns in TABLES.items()
        }
    if report:
        # Names come from data and registries: Markdown would be read as such.
        create_markdown_artifact(
            f"The report of study {study} is `{report.absolute()}`.", key=key_of(study, "report")
        )
    for name, table in asked.items():
        if table.num_rows:
            create_table_artifact(
                table.to_pylist(), key=key_of(study, name), description=f"{name} of study {study}"
            )


def key_of(study: str, name: str) -> str:
    """Key of an artifact: small letters, digits and dashes, as Prefect wants it.

    >>> key_of("Photos_2.1", "costs")
    'decaf-photos-2-1-costs'
    """
    return f"decaf-{re.sub('[^a-z0-9]+', '-', study.lower()).strip('-')}-{name}"
