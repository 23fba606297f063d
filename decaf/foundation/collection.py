"""Python's search for circles of objects, left off while millions are made that have none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Make objects without a look at all of them, again and again, for circles to free.

    A quarter of the time that a million take. Circles that others make meanwhile are freed later.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
