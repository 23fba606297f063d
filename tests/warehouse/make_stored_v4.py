"""Write ``stored_v4``, the warehouse of schema version 4 that is kept: made once, never again.

    PYTHONPATH=. python tests/warehouse/make_stored_v4.py

As ``make_stored_v1.py``, with what one probe says of two units, and without what later versions
keep of inputs and of what a run leaves out.
"""

from pathlib import Path

import pyarrow as pa
from small_warehouse import small_warehouse

from warehouse.commits.writer import commit
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

FOLDER = Path(__file__).parent / "stored_v4"
KEY = "probes"


def probed(root):
    """Commit what one probe says of two held-out units."""
    shared = {"analysis_key": KEY, "run_id": "r", "representation": "decaf"}
    shared |= {"probe": "logistic_regression", "label": "evidence", "family": "cnn"}
    units = [
        {"model_id": "m", "source_id": source, "probability": probability, "is_shown": is_shown}
        for source, probability, is_shown in (("s0", 0.25, False), ("s1", 0.75, True))
    ]
    table = TABLES["probe_units"]
    rows = pa.Table.from_pylist([shared | unit for unit in units], table.schema)
    commit(root, "analyses", "s", KEY, {"probe_units": rows})


if __name__ == "__main__":
    if SCHEMA_VERSION != 4 or FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, or this is no longer schema version 4")
    probed(small_warehouse(FOLDER))
