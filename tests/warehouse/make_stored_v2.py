"""Write ``stored_v2``, the warehouse of schema version 2 that is kept: made once, never again.

    PYTHONPATH=. python tests/warehouse/make_stored_v2.py

As ``make_stored_v1.py``, with an attribution measured of one model.
"""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from small_warehouse import PAIRS, small_warehouse

from warehouse.commits.writer import commit
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

FOLDER = Path(__file__).parent / "stored_v2"
KEY = "m-by-rise"


def measured(root):
    """Commit one attribution of each pair, and what it took."""
    attributions = [
        {"measurement_key": KEY, "pair_id": pair, "method": "rise", "region_score": 0.5 + number}
        | {"region_pixels": 4}
        for number, pair in enumerate(PAIRS)
    ]
    cost = {"measurement_key": KEY, "image_count": 3, "forward_rows": 768, "backward_rows": 0}
    cost |= {"batch_size": 8, "load_seconds": 0.0, "wall_seconds": 1.0, "peak_memory_bytes": 1}
    cost |= {"device": "cpu", "worker": "w", "started_at": datetime(2026, 3, 1, tzinfo=UTC)}
    tables = {"attributions": attributions, "measurement_costs": [cost]}
    rows = {
        name: pa.Table.from_pylist(given, TABLES[name].schema) for name, given in tables.items()
    }
    commit(root, "measurements", "s", KEY, rows, model_id="m")


if __name__ == "__main__":
    if SCHEMA_VERSION != 2 or FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, or this is no longer schema version 2")
    measured(small_warehouse(FOLDER))
