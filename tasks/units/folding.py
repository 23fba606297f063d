"""A worker folds the small commits that it has made: readers of a long audit open few files then.

Every commit has a file in each of its tables, and to open one takes a reader a quarter of a
millisecond, whatever is in it: minutes for a million blocks. No two workers fold the same commit,
since each folds its own alone. A worker may outlive a run and begin another study. It then leaves
the last commits of the first study as they are, since nobody may hold that study any more.
"""

import threading

from tasks.cluster.patience import patiently
from tasks.units.bench import Order
from warehouse.storage import Root
from warehouse.upkeep.compaction import fold_small

FOLDED_TOGETHER = 500
"""A worker folds this many commits of a model at once."""
FEWEST = 50
"""When a worker goes on to another model, it folds the rest of the last one if it is this many."""


class Folding:
    """Commits of this worker that are not folded yet: those of one model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._study: tuple[Root, str] | None = None
        self._model_id: str | None = None
        self._keys: list[str] = []

    def committed(self, order: Order) -> None:
        """Note a commit, and fold those that were noted once they are many.

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
