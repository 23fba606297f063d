"""Estimate the time of missing units from the newest similar units, of their model or any model.

``decaf plan``, the progress of a run and ``decaf status`` use it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import duckdb

from decaf.plan.cluster import LocalWorkers
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.sizes import Pace
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
    """Units of about equal cost."""

    model_id: str
    name: str
    """Kind and name of the units, or SCAN."""


def work_of(model_id: str, kind: str, name: str) -> Work:
    """Group of units of equal cost to which a unit belongs."""
    return Work(model_id, SCAN if kind in ("predict", "score") else f"{kind} {name}")


def count_work(units: Iterable[Unit]) -> Counter[Work]:
    """Count units that use a model by their kind of work; other units take almost no time."""
    timed = (unit for unit in units if unit.model_id and KINDS[unit.kind].uses_model)
    return Counter(work_of(unit.model_id, unit.kind, unit.name) for unit in timed)


class Estimate:
    """Mean seconds of units, learnt from finished units; safe for threads."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._units: Counter[Work] = Counter()
        self._seconds: Counter[Work] = Counter()

    def learn(self, work: Work, unit_count: int, seconds: float) -> None:
        """Add finished units of one kind of work and their seconds on one worker."""
        for measured_work in (work, Work("", work.name)):  # of this model, and of any model
            self._units[measured_work] += unit_count
            self._seconds[measured_work] += seconds

    def seconds(self, unit_counts: Mapping[Work, int]) -> float | None:
        """Seconds that all workers need together; None without similar finished units."""
        total = 0.0
        for work, count in unit_counts.items():
            measured_work = work if self._units[work] else Work("", work.name)
            if count and not self._units[measured_work]:
                return None
            total += count and count * self._seconds[measured_work] / self._units[measured_work]
        return total / self.workers


class Remaining:
    """Missing units of a run and their estimated time, updated with each finished unit."""

    def __init__(self, estimate: Estimate, units: Iterable[Unit]) -> None:
        self._estimate = estimate
        self._left = count_work(units)

    def take(self, units: Iterable[Unit], seconds: float) -> None:
        """Remove finished units; ``seconds`` is 0 if they were committed before."""
        done = count_work(units)
        self._left -= done
        for work, count in done.items():
            if seconds:
                self._estimate.learn(work, count, seconds * count / done.total())

    def seconds(self) -> float | None:
        """Seconds until the end; None without an estimate."""
        return self._estimate.seconds(self._left)


def learn_estimate(connection: duckdb.DuckDBPyConnection, study: str) -> Estimate:
    """Learn from the stored costs of a study; the newest ones give the number of workers."""
    estimate = Estimate()
    rows = connection.sql(SPENT, params={"study": study}).fetchall()
    for model_id, kind, name, unit_count, seconds, workers in rows:
        estimate.workers = max(workers, 1)
        estimate.learn(work_of(model_id, kind, name), unit_count, seconds)
    return estimate


def estimate_of(store: Storage, study: Study) -> Estimate:
    """Estimate for a study to compute, on the workers of its configuration."""
    estimate = Estimate()
    if receipts.keys(store, UNITS, study.study):
        with connect(store) as connection:
            estimate = learn_estimate(connection, study.study)
    if isinstance(study.cluster, LocalWorkers):
        estimate.workers = study.cluster.workers
    return estimate


def trial_seconds(study: Study, pending: Iterable[Unit], paces: Mapping[str, Pace]) -> float | None:
    """Seconds of one worker for all missing units, from the speed of tried models.

    None if models were not tried, or if units other than trajectories are missing.
    """
    stages = {name: path.grid(study.grid).size for name, path in study.paths.items()}
    total = 0.0
    for unit in pending:
        if unit.kind == "score" and unit.model_id in paces:
            rows = 2 * stages[unit.name] * (unit.row_count or 0)
            total += rows * paces[unit.model_id].seconds_per_row
        elif KINDS[unit.kind].uses_model and unit.kind != "predict":
            return None
    return total or None
