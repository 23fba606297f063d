"""Where models of a run stopped, as it was recorded."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from decaf.plan.units import Unit
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.commits.writer import commit
from warehouse.storage import Storage
from warehouse.tables.declarations import LOOKS, RUN_STOPS

STOPS = "stops"
"""Kind of commits: where the models of a run stopped, and what its looks said."""
WHOLE = "run"
"""Name of the run that would score every pair, among what is recorded of a stop."""


def commit_stops(
    store: Storage,
    study: str,
    run_id: str,
    whole: str,
    stops: Sequence[Mapping[str, Any]],
    looks: Sequence[Mapping[str, Any]],
) -> None:
    """Record where the run stopped in the place of the one that would score every pair."""
    tables = {
        "run_stops": pa.Table.from_pylist(
            [{"run_id": run_id, **row} for row in stops], schema=RUN_STOPS.schema
        ),
        "looks": pa.Table.from_pylist(
            [{"run_id": run_id, "position": at, **row} for at, row in enumerate(looks)],
            schema=LOOKS.schema,
        ),
    }
    commit(store, STOPS, study, run_id, tables, inputs={WHOLE: whole})


def stops_of(store: Storage, study: str, whole: str) -> dict[str, int] | None:
    """By model, blocks that were scored in the place of a whole run; None where it did not stop.

    A model that is not named was scored to the end.
    """
    for receipt in receipts.read_kind(store, STOPS, study):
        if receipt.inputs.get(WHOLE) == whole:
            files = [file for file in receipt.files if file.table == RUN_STOPS.name]
            rows = (row for file in files for row in read_file(store, file).to_pylist())
            return {row["model_id"]: row["block_count"] for row in rows}
    return None


def is_scored(unit: Unit, stops: Mapping[str, int]) -> bool:
    """Whether a unit is scored before its model stops; true of any of no block or other model."""
    is_of_block = unit.block is not None and unit.model_id is not None
    return not is_of_block or unit.model_id not in stops or unit.block < stops[unit.model_id]
