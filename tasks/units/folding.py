"""A worker folds the small commits that it has made: readers of a long audit open few files then.

Every commit has a file in each of its tables, and to open one takes a reader a quarter of a
millisecond, whatever is in it: minutes for a million blocks. No two workers fold the same commit,
since each folds its own alone. A worker may outlive a run and begin another study. It then leaves
the last commits of the first study as they are, since nobody may hold that study any more.
"""

import threading
from collections.abc import Sequence

from tasks.cluster.patience import patiently
from tasks.units.bench import Order
from warehouse.storage import Root
from warehouse.upkeep.compaction import fold_small

FOLDED_TOGETHER = 500
"""A worker folds this many commits of a model at once."""
FEWEST = 50
"""When a worker goes on to another model, it folds the rest of the last one if it is this many."""


class Folding:
    """Commits of this worker that are not folded yet: those of the models that it is at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._study: tuple[Root, str] | None = None
        self._keys: dict[str | None, list[str]] = {}

    def committed(self, orders: Sequence[Order]) -> None:
        """Note commits of one block, and fold those of a model once they are many.

        Raises WarehouseError when rows that were committed cannot be found any more, and
        WriteFailed when the disk refuses; readers then see what they saw before.
        """
        study = orders[0].root, orders[0].study.study
        new = {order.units[0].model_id: order.key for order in orders}
        with self._lock:
            if study != self._study:
                self._study, self._keys = study, {}
            for model_id in self._keys.keys() - new:
                keys = self._keys.pop(model_id)
                if len(keys) >= FEWEST:
                    _fold(study, keys)
            for model_id, key in new.items():
                keys = [*self._keys.pop(model_id, ()), key]
                if len(keys) < FOLDED_TOGETHER:
                    self._keys[model_id] = keys
                else:
                    _fold(study, keys)


def _fold(study: tuple[Root, str], keys: Sequence[str]) -> None:
    patiently(lambda: fold_small(*study, keys))


FOLDING = Folding()
"""That of this worker."""
