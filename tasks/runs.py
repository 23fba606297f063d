"""Runs of a study, as the warehouse has recorded them."""

import json
from typing import Any

from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import read_file
from warehouse.storage import Root
from warehouse.tables.declarations import RUNS


def newest_run(root: Root, study: str) -> str | None:
    """Id of the run of a study that was started last, which its views show."""
    receipt = _newest_receipt(root, study)
    return receipt.key if receipt else None


def newest_config(root: Root, study: str) -> dict[str, Any]:
    """Configuration of the run that was started last; empty where there is none."""
    receipt = _newest_receipt(root, study)
    files = [file for file in receipt.files if file.table == RUNS.name] if receipt else []
    for file in files:
        (config,) = read_file(root, file)["config"].to_pylist()
        return json.loads(config)
    return {}


def _newest_receipt(root: Root, study: str) -> Receipt | None:
    return max(
        receipts.read_kind(root, "runs", study),
        key=lambda receipt: receipt.committed_at,
        default=None,
    )
