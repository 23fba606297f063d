"""Write ``stored_v5``, the warehouse of schema version 5 that is kept: made once, never again.

    PYTHONPATH=. python tests/warehouse/make_stored_v5.py

As ``make_stored_v1.py``, with the digests of the clean inputs, and without what later versions keep
of the files behind them.
"""

from pathlib import Path

from small_warehouse import small_warehouse

from warehouse.tables.columns import SCHEMA_VERSION

FOLDER = Path(__file__).parent / "stored_v5"


if __name__ == "__main__":
    if SCHEMA_VERSION != 5 or FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, or this is no longer schema version 5")
    small_warehouse(FOLDER)
