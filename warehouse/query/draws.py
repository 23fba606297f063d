"""How often every replicate of a bootstrap drew each cluster.

Draws are hashes of seed, replicate and place that DuckDB makes (``drawn_word``). Those of many
clusters take seconds and are the same for every warehouse, so they are kept in the cache folder.
"""

import hashlib
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
from numpy.typing import NDArray

from warehouse.query.views import SQL_FOLDER
from warehouse.storage.cache import cache_folder, note_use, prune_unused

CELLS_AT_ONCE = 1 << 22
"""Draws that are made at once, which bounds the memory."""
KEPT_CELLS = 1 << 22
"""Draws from so many on are kept as a file; fewer are made again as fast as they are read."""


@lru_cache(maxsize=8)
def drawn_counts(
    cluster_count: int, strata: tuple[str | None, ...], replicates: int, seed: int
) -> NDArray[np.unsignedinteger]:
    """(replicates, cluster_count) whole numbers, how often every replicate drew each cluster.

    Parameters
    ----------
    strata
        The stratum of every cluster: each place draws a cluster of its own. Empty if there are
        none.
    """
    if cluster_count * replicates < KEPT_CELLS:
        return _counts(cluster_count, strata, replicates, seed)
    known = (duckdb.__version__, _word(), cluster_count, strata, replicates, seed)
    name = hashlib.sha256(repr(known).encode()).hexdigest()[:32]
    kept = cache_folder() / "draws" / f"{name}.npy"
    with suppress(OSError, ValueError):  # not there yet, or cut short
        note_use(kept)
        return np.load(kept, mmap_mode="r")
    counts = _counts(cluster_count, strata, replicates, seed)
    with suppress(OSError):  # where it cannot be kept, this process has it all the same
        _keep(kept, counts)
    return counts


def _counts(
    cluster_count: int, strata: tuple[str | None, ...], replicates: int, seed: int
) -> NDArray[np.unsignedinteger]:
    marked = [stratum is not None and f"={stratum}" for stratum in strata] or [""] * cluster_count
    _, of_place, sizes = np.unique(
        np.array(marked, dtype=str), return_inverse=True, return_counts=True
    )
    members = np.argsort(of_place, kind="stable")
    first = (np.cumsum(sizes) - sizes)[of_place]
    sizes = sizes[of_place].astype(np.uint64)
    parts = []
    step = max(1, CELLS_AT_ONCE // max(1, cluster_count))
    with duckdb.connect() as connection:
        connection.execute(_word())
        for start in range(0, replicates, step):
            end = min(start + step, replicates)
            rows = connection.execute(
                "SELECT replicate - $start, place, drawn_word($seed, replicate, place) "
                "FROM range($start, $end) AS a (replicate), range($count) AS b (place)",
                {"start": start, "end": end, "seed": seed, "count": cluster_count},
            )
            replicate, place, words = rows.fetchnumpy().values()
            drawn = members[first[place] + (words % sizes[place]).astype(np.int64)]
            cells = np.bincount(
                replicate * cluster_count + drawn, minlength=(end - start) * cluster_count
            )
            parts.append(cells.astype(np.min_scalar_type(cells.max(initial=0))))
    # Sums take some clusters of all replicates at a time: they lie side by side.
    return np.asfortranarray(np.concatenate(parts).reshape(replicates, cluster_count))


@cache
def _word() -> str:
    """What defines ``drawn_word``."""
    return (SQL_FOLDER / "macros" / "bootstrap" / "drawn_word.sql").read_text(encoding="utf-8")


def _keep(kept: Path, counts: NDArray[np.unsignedinteger]) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    prune_unused(kept.parent)
    temporary = kept.with_name(f"{uuid4().hex}.tmp")
    with temporary.open("wb") as file:
        np.save(file, counts)
    temporary.replace(kept)
