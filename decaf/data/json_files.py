"""Read JSON files of users; errors name the file and the expected form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from decaf.errors import DataError
from decaf.foundation.files import convert_os_errors, open_file

Read = TypeVar("Read")


def read_json(file: Path, what: str, expected: str, taken: Callable[[Any], Read]) -> Read:
    """Read a JSON file of any form and return the part that ``taken`` selects.

    Raises DataError when the file cannot be read or is not JSON, and for errors of ``taken``:
    ValueError with the fault, LookupError or TypeError for a missing or wrong part.
    """
    with (
        convert_os_errors(DataError, f"{what} {file} cannot be read", expected),
        open_file(file) as read,
    ):
        content = read.read()
    try:
        return taken(json.loads(content))
    except ValueError as error:
        raise DataError(f"{what} {file}: {error}; {expected}") from error
    except (LookupError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{what} {file}: {type(error).__name__}: {error}; {expected}") from error
