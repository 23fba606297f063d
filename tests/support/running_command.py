"""Observe a command that runs during a test: its process, its progress and its files."""

import sys
import time
from pathlib import Path

from warehouse.query.catalog import connect

DECAF = Path(sys.executable).parent / "decaf"
PATIENCE_SECONDS = 600
TABLES = {
    "core_trajectories": "model_id, pair_id, path, repetition",
    "core_profiles": "model_id, pair_id, path, repetition",
    "core_predictions": "model_id, image_id",
    "core_blocks": "model_id, block",
}
"""Views whose rows do not depend on how a run went, and an order of their rows."""


def receipts(warehouse):
    """Commits of units of work and when each was made."""
    found = (warehouse / "receipts" / "units").rglob("*.json")
    return {path.name: path.stat().st_mtime_ns for path in found}


def results(warehouse, tables=TABLES):
    """Sorted rows of each of these views."""
    with connect(warehouse) as connection:
        return {
            table: connection.sql(f"FROM {table} ORDER BY {order}").fetchall()
            for table, order in tables.items()
        }


def wait_for(condition, process=None, seconds=0.1):
    """The first answer of a condition that counts, asked again after a pause in seconds."""
    stop = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < stop, "it did not get so far"
        assert process is None or process.poll() is None, "it ended too soon"
        time.sleep(seconds)
    return found
