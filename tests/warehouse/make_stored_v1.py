"""Write ``stored_v1``, the warehouse of schema version 1 that is kept: made once, never again.

    PYTHONPATH=. python tests/warehouse/make_stored_v1.py

Every later version must read it. A newer version gets a folder and a script of its own.
"""

from pathlib import Path

from small_warehouse import small_warehouse

from warehouse.tables.columns import SCHEMA_VERSION

FOLDER = Path(__file__).parent / "stored_v1"

if __name__ == "__main__":
    if SCHEMA_VERSION != 1 or FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, or this is no longer schema version 1")
    small_warehouse(FOLDER)
