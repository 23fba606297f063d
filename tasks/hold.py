"""Hold the warehouse of a study for writing."""

from collections.abc import Iterator
from contextlib import contextmanager

from decaf.plan.study import Study
from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root, remove_temporary_files
from warehouse.storage import Root
from warehouse.upkeep.compaction import repair_compactions


@contextmanager
def hold_warehouse(study: Study) -> Iterator[Root]:
    """Lock the study in its warehouse and clear what writers that were killed have left there.

    Raises WarehouseError when the warehouse cannot be written, and AlreadyRunning when another
    process holds the study.
    """
    root = open_root(study.warehouse)
    with study_lock(root, study.study):
        remove_temporary_files(root, study.study)
        repair_compactions(root, study.study)
        yield root
        remove_temporary_files(root, study.study)  # of a worker that died while it wrote
