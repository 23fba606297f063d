"""Runs of a study, as the warehouse has recorded them."""

import json
from typing import Any, NamedTuple

from decaf.foundation.digests import short
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.storage import Storage
from warehouse.tables.declarations import PAIRS, RUNS


def newest_run(store: Storage, study: str) -> str | None:
    """Id of the last started run of a study, which views show; None without a run."""
    receipt = receipts.read_newest(store, "runs", study)
    return receipt.key if receipt else None


class RecordedRun(NamedTuple):
    """Record that a run wrote at its start."""

    config: dict[str, Any]
    pair_count: int | None
    """None if the pairs of the run were withdrawn."""


def read_newest_run(store: Storage, study: str) -> RecordedRun | None:
    """Configuration and number of pairs of the last started run; None without a run.

    Raises WarehouseError if the rows of the run are damaged.
    """
    receipt = receipts.read_newest(store, "runs", study)
    files = [file for file in receipt.files if file.table == RUNS.name] if receipt else []
    if not files:
        return None
    (row,) = read_file(store, files[0]).select(["config", "pairs_digest"]).to_pylist()
    key, pair_count = short(row["pairs_digest"]), None
    if key in receipts.keys(store, PAIRS.name, study):
        pairs = receipts.read_one(store, PAIRS.name, study, key)
        pair_count = sum(file.row_count for file in pairs.files if file.table == PAIRS.name)
    return RecordedRun(json.loads(row["config"]), pair_count)
