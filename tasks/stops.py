"""Record and read the blocks at which models of a run stopped."""

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
"""Kind of commits with the stops of the models of a run, and its looks."""
WHOLE = "run"
"""Name of the input that has the id of the run with all pairs."""


def commit_stops(
    store: Storage,
    study: str,
    run_id: str,
    whole: str,
    stops: Sequence[Mapping[str, Any]],
    looks: Sequence[Mapping[str, Any]],
) -> None:
    """Record the stops of a run, and the id ``whole`` of the run with all pairs."""
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
    """Numbers of scored blocks by model for a run that stopped early; None if it did not.

    Models without a number were scored completely.
    """
    for receipt in receipts.read_kind(store, STOPS, study):
        if receipt.inputs.get(WHOLE) == whole:
            files = [file for file in receipt.files if file.table == RUN_STOPS.name]
            rows = (row for file in files for row in read_file(store, file).to_pylist())
            return {row["model_id"]: row["block_count"] for row in rows}
    return None


def is_scored(unit: Unit, stops: Mapping[str, int]) -> bool:
    """True if a unit comes before the stop of its model, or its model has no stop."""
    is_of_block = unit.block is not None and unit.model_id is not None
    return not is_of_block or unit.model_id not in stops or unit.block < stops[unit.model_id]
