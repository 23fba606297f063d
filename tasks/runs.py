"""Runs of a study, as the warehouse has recorded them."""

import json
from typing import Any, NamedTuple

from decaf.foundation.digests import short
from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import read_file
from warehouse.storage import Root
from warehouse.tables.declarations import PAIRS, RUNS


def newest_run(root: Root, study: str) -> str | None:
    """Id of the run of a study that was started last, which its views show."""
    receipt = _newest_receipt(root, study)
    return receipt.key if receipt else None


class RecordedRun(NamedTuple):
    """Record of a run from the moment when it began."""

    config: dict[str, Any]
    pair_count: int | None
    """None if the pairs of the run were withdrawn."""


def read_newest_run(root: Root, study: str) -> RecordedRun | None:
    """Configuration and number of pairs of the run that was started last; None without a run.

    Raises WarehouseError when the rows of the run are damaged.
    """
    receipt = _newest_receipt(root, study)
    files = [file for file in receipt.files if file.table == RUNS.name] if receipt else []
    if not files:
        return None
    (row,) = read_file(root, files[0]).select(["config", "pairs_digest"]).to_pylist()
    key, pair_count = short(row["pairs_digest"]), None
    if key in receipts.keys(root, PAIRS.name, study):
        pairs = receipts.read_one(root, PAIRS.name, study, key)
        pair_count = sum(file.row_count for file in pairs.files if file.table == PAIRS.name)
    return RecordedRun(json.loads(row["config"]), pair_count)


def _newest_receipt(root: Root, study: str) -> Receipt | None:
    return max(
        receipts.read_kind(root, "runs", study),
        key=lambda receipt: receipt.committed_at,
        default=None,
    )
