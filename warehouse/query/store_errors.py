"""Errors of an object store that were raised while DuckDB read a file, out of what it says of them.

DuckDB tells an error of Python as text alone: the traceback, and in its last line type and message.
"""

import re

from decaf.errors import OutOfReach, StoreAway, WarehouseError

KINDS = {kind.__name__: kind for kind in (WarehouseError, OutOfReach, StoreAway)}
LAST_LINE = re.compile(rf"^(?:[\w.]+\.)?({'|'.join(KINDS)}): (.+)\Z", re.MULTILINE | re.DOTALL)


def of_store(error: BaseException) -> WarehouseError | None:
    """What was raised while a file of a store was read; none if the error is of something else."""
    if said := LAST_LINE.search(str(error)):
        return KINDS[said[1]](said[2].strip())
    return None
