"""Free memory of this process, and batches that do not fit in the memory of a device."""

import ctypes
import sys
from contextlib import suppress

from decaf.errors import ScoringFailed

CPU_OUT_OF_MEMORY = ("not enough memory", "can't allocate memory")


def is_out_of_memory(error: Exception) -> bool:
    """True if memory was too small; other failures, such as illegal accesses, are not retried."""
    torch = sys.modules.get("torch")
    return (
        isinstance(error, MemoryError)
        or (torch is not None and isinstance(error, torch.OutOfMemoryError))
        or any(sign in str(error) for sign in CPU_OUT_OF_MEMORY)
    )


def release_memory() -> None:
    """Return memory that Arrow and the C library keep for later to the system.

    Call it after large columns are dropped: Arrow keeps their memory for itself. Does nothing in a
    C library without ``malloc_trim``.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def halve_batch_size(size: int, error: Exception) -> int:
    """Halve the size of a batch that did not fit, and empty the GPU's cache.

    The result is even where possible. Raises ScoringFailed when even one row does not fit.
    """
    if size == 1:
        raise ScoringFailed(
            f"one input does not fit in the memory of the device ({error}); use smaller inputs, or "
            "a device with more memory"
        ) from error
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    return size // 2 + (size // 2) % 2 if size > 2 else 1
