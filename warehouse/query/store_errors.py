"""Recover errors of an object store from the text of DuckDB's errors.

DuckDB turns a Python error into text: the traceback, whose last line has its type and message.
"""

import re

from decaf.errors import OutOfReach, StoreAway, WarehouseError

KINDS = {kind.__name__: kind for kind in (WarehouseError, OutOfReach, StoreAway)}
LAST_LINE = re.compile(rf"^(?:[\w.]+\.)?({'|'.join(KINDS)}): (.+)\Z", re.MULTILINE | re.DOTALL)


def find_store_error(error: BaseException) -> WarehouseError | None:
    """Return the error that an object store raised while DuckDB read a file, or None."""
    if match := LAST_LINE.search(str(error)):
        return KINDS[match[1]](match[2].strip())
    return None
