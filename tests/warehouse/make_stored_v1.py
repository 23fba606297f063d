"""Write ``stored_v1``, the warehouse of schema version 1 that is kept.

    PYTHONPATH=.:tests/support python tests/warehouse/make_stored_v1.py

It is written anew until version 1 is released and never again after that: every later version must
read it. Each newer version gets a folder and a script of its own.
"""

import shutil
from pathlib import Path

from small_warehouse import small_warehouse

from warehouse.tables.columns import SCHEMA_VERSION

FOLDER = Path(__file__).parent / "stored_v1"

if __name__ == "__main__":
    if SCHEMA_VERSION != 1:
        raise SystemExit(f"{FOLDER} is of schema version 1; this is {SCHEMA_VERSION}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    small_warehouse(FOLDER)
