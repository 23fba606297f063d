"""Python's garbage collector, switched off while millions of objects are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch the garbage collector off for the length of the block.

    It would look at all objects again and again, which takes a quarter of the time that a million
    take to make. What other threads leave meanwhile is freed later.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
