"""A worker folds the small commits that it has made, so that a long audit does not drown in files.

Every commit has a file in each of its tables. A reader takes a quarter of a millisecond to open one
whatever is in it, so a million blocks would take minutes of any question. A worker folds no commit
of another: each commit is in one of their compactions at most. A worker may outlive a run; what it
did not fold until another study comes stays as it is, since nobody may hold its study then.
"""

import threading

from tasks.cluster.patience import patiently
from tasks.units.bench import Order
from warehouse.storage import Root
from warehouse.upkeep.compaction import fold_small

FOLDED_TOGETHER = 500
"""Commits that are folded as soon as they are so many: a tenth of a second to read one by one."""
FEWEST = 50
"""Of a model of which no more follow, fewer stay as they are."""


class Folding:
    """Commits of this worker that are not folded yet: those of one model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._study: tuple[Root, str] | None = None
        self._model_id: str | None = None
        self._keys: list[str] = []

    def committed(self, order: Order) -> None:
        """Hear of a commit, and fold it with those of before once they are many.

        Raises WarehouseError when rows that were committed cannot be found any more, and
        WriteFailed when the disk refuses; readers then see what they saw before.
        """
        study, model_id = (order.root, order.study.study), order.units[0].model_id
        with self._lock:
            if study != self._study:
                self._study, self._keys = study, []
            elif model_id != self._model_id:
                self._fold(study, FEWEST)
                self._keys = []
            self._model_id = model_id
            self._keys.append(order.key)
            self._fold(study, FOLDED_TOGETHER)

    def _fold(self, study: tuple[Root, str], fewest: int) -> None:
        if len(self._keys) >= fewest:
            keys, self._keys = self._keys, []
            patiently(lambda: fold_small(*study, keys))


FOLDING = Folding()
"""That of this worker."""
