"""How long work will take, by what the newest work like it took: of its model, or of any model.

``decaf plan``, the progress of a run and ``decaf status`` all ask here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import duckdb

from decaf.plan.cluster import LocalWorkers
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.plan import AuditPlan
from tasks.units.kinds import KINDS
from tasks.units.run_task import UNITS
from warehouse.commits import receipts
from warehouse.query.catalog import connect
from warehouse.storage import Storage

SCAN = "scan"
"""Predictions and paths of a block are one forward pass, with one cost."""
SPENT = """
WITH spent AS (
    SELECT commit_key, model_id, kind, name, worker, wall_seconds, started_at
    FROM stg_costs
    WHERE study = $study
    QUALIFY row_number() OVER (PARTITION BY model_id, kind, name ORDER BY started_at DESC) <= 50
),
known AS ( -- units of these commits alone: a study may have a million others
    SELECT unit_key, commit_key
    FROM committed_units
    SEMI JOIN spent USING (commit_key)
    WHERE study = $study
),
units AS (
    SELECT commit_key, kind, name, count(*) OVER (PARTITION BY commit_key) AS unit_count
    FROM (
        SELECT DISTINCT commit_key, unit_key, kind, name
        FROM stg_run_units
        JOIN known USING (unit_key)
        WHERE study = $study AND kind <> 'route'
    )
)
SELECT model_id, unit.kind, unit.name, count(*), sum(wall_seconds / unit_count),
    (SELECT count(DISTINCT worker) FROM (FROM spent ORDER BY started_at DESC LIMIT 50))
FROM spent JOIN units AS unit USING (commit_key)
GROUP BY ALL
"""


class Work(NamedTuple):
    """Units that take as long as each other."""

    model_id: str
    what: str


def work_of(model_id: str, kind: str, name: str) -> Work:
    """What a unit is an example of."""
    return Work(model_id, SCAN if kind in ("predict", "score") else f"{kind} {name}")


def counted(units: Iterable[Unit]) -> Counter[Work]:
    """Units that take a model, by what they are; the others take no time to speak of."""
    timed = (unit for unit in units if unit.model_id and KINDS[unit.kind].uses_model)
    return Counter(work_of(unit.model_id, unit.kind, unit.name) for unit in timed)


class Estimate:
    """Seconds of units, learnt from those that are done; for any threads of one process."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._units: Counter[Work] = Counter()
        self._seconds: Counter[Work] = Counter()

    def learn(self, work: Work, unit_count: int, seconds: float) -> None:
        """So many units of one work took so many seconds of one worker."""
        for known in (work, Work("", work.what)):  # of the model, and of any
            self._units[known] += unit_count
            self._seconds[known] += seconds

    def seconds(self, left: Mapping[Work, int]) -> float | None:
        """Seconds that all workers need for so many units; None where nothing like it is known."""
        total = 0.0
        for work, count in left.items():
            known = work if self._units[work] else Work("", work.what)
            if count and not self._units[known]:
                return None
            total += count and count * self._seconds[known] / self._units[known]
        return total / self.workers


class Remaining:
    """Work that is left of a run, and how long it takes; both follow what is done."""

    def __init__(self, estimate: Estimate, units: Iterable[Unit]) -> None:
        self._estimate = estimate
        self._left = counted(units)

    def take(self, units: Iterable[Unit], seconds: float) -> None:
        """Units that are done now; 0 seconds where they had been done before."""
        done = counted(units)
        self._left -= done
        for work, count in done.items():
            if seconds:
                self._estimate.learn(work, count, seconds * count / done.total())

    def seconds(self) -> float | None:
        """Seconds until the end; None where nothing is known yet."""
        return self._estimate.seconds(self._left)


def learnt(connection: duckdb.DuckDBPyConnection, study: str) -> Estimate:
    """What the warehouse knows of a study, whose newest work says how many workers there are."""
    estimate = Estimate()
    rows = connection.sql(SPENT, params={"study": study}).fetchall()
    for model_id, kind, name, unit_count, seconds, workers in rows:
        estimate.workers = max(workers, 1)
        estimate.learn(work_of(model_id, kind, name), unit_count, seconds)
    return estimate


def estimate_of(store: Storage, study: Study) -> Estimate:
    """The same of a study that is about to be computed, on the workers that it asks for."""
    estimate = Estimate()
    if receipts.keys(store, UNITS, study.study):
        with connect(store) as connection:
            estimate = learnt(connection, study.study)
    if isinstance(study.cluster, LocalWorkers):
        estimate.workers = study.cluster.workers
    return estimate


def trial_seconds(plan: AuditPlan) -> float | None:
    """Seconds of one worker for all that is left, from the speed of models that were tried.

    None where models were not tried, or where more than trajectories is left to compute.
    """
    stages = {name: path.grid(plan.study.grid).size for name, path in plan.study.paths.items()}
    total = 0.0
    for unit in plan.pending:
        if unit.kind == "score" and unit.model_id in plan.sizes.paces:
            rows = 2 * stages[unit.name] * (unit.row_count or 0)
            total += rows * plan.sizes.paces[unit.model_id].seconds_per_row
        elif KINDS[unit.kind].uses_model and unit.kind != "predict":
            return None
    return total or None
