"""Find the files with the rows of every commit: its own files, or files of a compaction.

A compaction is a commit, too. Its receipt names the commits that it merges, each with the moment
of its commit. The compaction counts while all these commits exist unchanged. Readers therefore need
only the receipts: they read the small files before the compaction's receipt exists, and the large
files after it. They read every row once.
"""

from datetime import datetime
from typing import NamedTuple

from warehouse.commits.receipts import Receipt

COMPACTIONS = "compactions"
COMPACTED_KINDS = ("units",)
"""Kinds of commits that are numerous and are never rewritten."""


class Current(NamedTuple):
    """Receipts of a warehouse, by how readers use their files."""

    read: list[Receipt]
    """Receipts whose files are read."""
    covered: dict[str, Receipt]
    """The compaction that is read instead, by study and name of the commit."""
    idle: list[Receipt]
    """Compactions that a larger one replaces, or with a commit that has changed since."""


def has_commit(compaction: Receipt, receipt: Receipt) -> bool:
    """True if a compaction, read or idle, has the rows of a commit as it is now."""
    return compaction.inputs.get(receipt.name) == receipt.committed_at


def resolve(committed: list[Receipt]) -> Current:
    """Decide which files are read, so that each committed row is read exactly once.

    If compactions share a commit, readers use the compaction with the most commits, or the newest
    of several. A later compaction usually has all commits of an earlier one.

    Example
    -------
    >>> resolve([])
    Current(read=[], covered={}, idle=[])
    """
    plain = [receipt for receipt in committed if receipt.kind != COMPACTIONS]
    compactions = [receipt for receipt in committed if receipt.kind == COMPACTIONS]
    moments = {
        _commit_place(receipt.study, receipt.name): receipt.committed_at for receipt in plain
    }
    compactions.sort(key=_size, reverse=True)
    covered: dict[str, Receipt] = {}
    read, idle = [], []
    for compaction in compactions:
        places = {
            _commit_place(compaction.study, name): moment
            for name, moment in compaction.inputs.items()
        }
        is_valid = all(moments.get(place) == moment for place, moment in places.items())
        if is_valid and not places.keys() & covered.keys():
            covered |= dict.fromkeys(places, compaction)
            read.append(compaction)
        else:
            idle.append(compaction)
    uncovered = [r for r in plain if _commit_place(r.study, r.name) not in covered]
    return Current([*uncovered, *read], covered, idle)


def find_compaction(current: Current, receipt: Receipt) -> Receipt | None:
    """Compaction that readers use in place of a commit; None if they read the commit itself."""
    return current.covered.get(_commit_place(receipt.study, receipt.name))


def _commit_place(study: str, name: str) -> str:
    return f"{study}/{name}"


def _size(compaction: Receipt) -> tuple[int, datetime]:
    return len(compaction.inputs), datetime.fromisoformat(compaction.committed_at)
