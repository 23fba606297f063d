"""Which files hold the rows of every commit: its own, or those of a compaction that covers it.

A compaction is a commit of its own. Its receipt names the commits that it folds, each with the
moment of its commit, and holds while all of them are there, unchanged. So readers need no more
than the receipts: before the compaction's receipt is there they read the small files, and after
it the large ones, every row once.
"""

from datetime import datetime
from typing import NamedTuple

from warehouse.commits.receipts import Receipt

COMPACTIONS = "compactions"
FOLDED_KINDS = ("units",)
"""Kinds of commits that are many and are never written again."""


class Current(NamedTuple):
    """Receipts by what their files are for readers."""

    read: list[Receipt]
    """Their files hold the rows."""
    covered: dict[str, Receipt]
    """The compaction that is read instead, by study and name of the commit."""
    idle: list[Receipt]
    """Compactions that a larger one replaces, or that a commit does not agree with any more."""


def names(compaction: Receipt, receipt: Receipt) -> bool:
    """Whether a compaction, of whatever use now, has the rows of a commit as it is now."""
    return compaction.inputs.get(receipt.name) == receipt.committed_at


def resolve(committed: list[Receipt]) -> Current:
    """Decide which files are read, so that each committed row is read exactly once.

    Of compactions that share a commit the one with the most commits holds, then the newest; a
    later one folds all that an earlier one did.

    Example
    -------
    >>> resolve([])
    Current(read=[], covered={}, idle=[])
    """
    plain = [receipt for receipt in committed if receipt.kind != COMPACTIONS]
    compactions = [receipt for receipt in committed if receipt.kind == COMPACTIONS]
    moments = {_place(receipt.study, receipt.name): receipt.committed_at for receipt in plain}
    compactions.sort(key=_size, reverse=True)
    covered: dict[str, Receipt] = {}
    read, idle = [], []
    for compaction in compactions:
        places = {_place(compaction.study, name): at for name, at in compaction.inputs.items()}
        holds = all(moments.get(place) == at for place, at in places.items())
        if holds and not places.keys() & covered.keys():
            covered |= dict.fromkeys(places, compaction)
            read.append(compaction)
        else:
            idle.append(compaction)
    own = [r for r in plain if _place(r.study, r.name) not in covered]
    return Current([*own, *read], covered, idle)


def covering(current: Current, receipt: Receipt) -> Receipt | None:
    """The compaction that is read in the place of a commit, if there is one."""
    return current.covered.get(_place(receipt.study, receipt.name))


def _place(study: str, name: str) -> str:
    return f"{study}/{name}"


def _size(compaction: Receipt) -> tuple[int, datetime]:
    return len(compaction.inputs), datetime.fromisoformat(compaction.committed_at)
