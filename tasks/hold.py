"""Hold a study in its warehouse for writing."""

from collections.abc import Iterator
from contextlib import contextmanager

from decaf.plan.study import Study
from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root, remove_temporary_files
from warehouse.storage import Storage
from warehouse.upkeep.compaction import repair_compactions


@contextmanager
def hold_study(study: Study) -> Iterator[Storage]:
    """Lock the study in its warehouse, and remove temporary files of killed writers.

    Raises WarehouseError if the warehouse cannot be written, and AlreadyRunning if another process
    holds the study.
    """
    store = open_root(study.warehouse)
    with study_lock(store, study.study):
        remove_temporary_files(store, study.study)
        repair_compactions(store, study.study)
        yield store
        remove_temporary_files(store, study.study)  # left by workers that died while writing
