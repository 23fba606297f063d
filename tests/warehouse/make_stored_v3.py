"""Write ``stored_v3``, the warehouse of schema version 3 that is kept: made once, never again.

    PYTHONPATH=. python tests/warehouse/make_stored_v3.py

As ``make_stored_v1.py``, with the scores of one probe, and without the probabilities that later
versions keep of every unit.
"""

from pathlib import Path

import pyarrow as pa
from small_warehouse import small_warehouse

from warehouse.commits.writer import commit
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

FOLDER = Path(__file__).parent / "stored_v3"
KEY = "probes"


def probed(root):
    """Commit what one probe scores on two families, one of them without the behaviour."""
    shared = {"analysis_key": KEY, "run_id": "r", "representation": "decaf"}
    shared |= {"probe": "logistic_regression", "label": "evidence", "train_count": 3}
    shared |= {"train_positives": 1, "test_count": 3}
    scores = [
        {"family": "cnn", "auroc": 0.75, "test_positives": 2},
        {"family": "vit", "auroc": None, "test_positives": 0}
        | {"reason": "no held-out unit carries the label"},
    ]
    rows = pa.Table.from_pylist(
        [shared | {"reason": None} | score for score in scores], TABLES["probe_scores"].schema
    )
    commit(root, "analyses", "s", KEY, {"probe_scores": rows})


if __name__ == "__main__":
    if SCHEMA_VERSION != 3 or FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, or this is no longer schema version 3")
    probed(small_warehouse(FOLDER))
