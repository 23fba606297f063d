"""What the report says, read from the views of one study.

Every row type carries the query that fills it: fields in the order of the columns, and ``?`` is
the study. The page prints the same text beside each table, so that a reader can run it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import duckdb

from decaf.errors import UnknownName

METRICS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")
"""Integrated responses with an interval, in the order of the report's columns."""


class Run(NamedTuple):
    """The newest run of the study; times in UTC, ``score`` is the score definition as JSON."""

    run_id: str
    started_at: datetime
    finished_at: datetime | None
    is_finished: bool
    epsilon: float
    score: str

    query = """SELECT run_id, started_at AT TIME ZONE 'UTC' AS started_at,
       finished_at AT TIME ZONE 'UTC' AS finished_at, is_finished, epsilon, score
FROM out_runs
WHERE study = ? AND is_current"""


class Progress(NamedTuple):
    """Planned blocks of the run, model by model, and those that are scored."""

    block_count: int
    scored_count: int

    query = """SELECT count(*) AS block_count, count(*) FILTER (WHERE is_scored) AS scored_count
FROM core_blocks
WHERE study = ?"""


class PairType(NamedTuple):
    """Pairs of one type; sources are what the intervals resample."""

    pair_type: str
    plus_variant: str
    minus_variant: str
    pair_count: int
    source_count: int

    query = """SELECT pair_type, plus_variant, minus_variant, pair_count, source_count
FROM out_pair_types
WHERE study = ?
ORDER BY pair_type, plus_variant, minus_variant"""


class Model(NamedTuple):
    """An audited model, in the order of the configuration."""

    model_id: str
    family: str
    architecture: str
    weights_sha256: str

    query = """SELECT model_id, family, architecture, weights_sha256
FROM out_models
WHERE study = ?
ORDER BY position, model_id"""


class Accuracy(NamedTuple):
    """Accuracy of a model on one kind of clean image, fraction."""

    model_id: str
    variant: str
    image_count: int
    accuracy: float

    query = """SELECT model_id, variant, image_count, accuracy
FROM out_accuracy
WHERE study = ? AND accuracy IS NOT NULL -- a score without classes has none
ORDER BY model_id, variant"""


class Profile(NamedTuple):
    """Mean response of a model on one pair type and path, score units."""

    model_id: str
    pair_type: str
    path: str
    pair_count: int
    active_frac: float | None
    endpoint_magnitude: float | None
    evidence: float | None
    contradiction: float | None
    fragility: float | None
    abs_response: float | None
    contradiction_frac: float | None
    fragility_frac: float | None

    query = """SELECT model_id, pair_type, path, pair_count, active_frac, endpoint_magnitude,
       evidence, contradiction, fragility, abs_response, contradiction_frac, fragility_frac
FROM out_model_profiles
WHERE study = ?
ORDER BY pair_type, path, position, model_id"""


class Interval(NamedTuple):
    """Mean and 95 % bootstrap interval of one metric, score units."""

    model_id: str
    pair_type: str
    path: str
    metric: str
    estimate: float | None
    lower_95: float | None
    upper_95: float | None
    source_count: int
    replicate_count: int

    query = """SELECT model_id, pair_type, path, metric, estimate, lower_95, upper_95,
       source_count, replicate_count
FROM out_model_intervals
WHERE study = ?
ORDER BY pair_type, path, model_id, metric"""


class PathRatio(NamedTuple):
    """Mean over models of one metric on two paths, and their ratio ``b / a``."""

    pair_type: str
    path_a: str
    path_b: str
    metric: str
    mean_a: float | None
    mean_b: float | None
    ratio: float | None
    model_count: int

    query = """SELECT pair_type, path_a, path_b, metric, mean_a, mean_b, ratio, model_count
FROM out_path_ratios
WHERE study = ?
ORDER BY pair_type, path_a, path_b, metric"""


class RankTransfer(NamedTuple):
    """Spearman correlation of the models' values between two paths, or why there is none."""

    pair_type: str
    path_a: str
    path_b: str
    metric: str
    spearman: float | None
    reason: str | None
    model_count: int

    query = """SELECT pair_type, path_a, path_b, metric, spearman, reason, model_count
FROM out_rank_transfer
WHERE study = ?
ORDER BY pair_type, path_a, path_b, metric"""


class StageMean(NamedTuple):
    """Mean routed response of a model at one stage, score units."""

    model_id: str
    pair_type: str
    path: str
    t: float
    evidence: float
    contradiction: float
    fragility: float

    query = """SELECT model_id, pair_type, path, t, evidence, contradiction, fragility
FROM out_mean_trajectories
WHERE study = ?
ORDER BY pair_type, path, model_id, stage"""


class SweepPoint(NamedTuple):
    """Mean over models at one epsilon."""

    pair_type: str
    path: str
    epsilon: float
    model_count: int
    active_frac: float | None
    evidence: float | None
    contradiction: float | None
    fragility: float | None

    query = """SELECT pair_type, path, epsilon, count(*) AS model_count,
       avg(active_frac) AS active_frac, avg(evidence) AS evidence,
       avg(contradiction) AS contradiction, avg(fragility) AS fragility
FROM out_epsilon_sweep
WHERE study = ?
GROUP BY pair_type, path, epsilon
ORDER BY pair_type, path, epsilon"""


class Cost(NamedTuple):
    """What scoring a model took; seconds are added up over its blocks."""

    model_id: str
    block_count: int
    pair_count: int
    forward_rows: int
    naive_rows: int
    rows_saved_frac: float | None
    forward_seconds: float
    wall_seconds: float
    rows_per_second: float | None
    batch_size: int
    peak_memory_bytes: int
    device: str

    query = """SELECT model_id, block_count, pair_count, forward_rows, naive_rows, rows_saved_frac,
       forward_seconds, wall_seconds, rows_per_second, batch_size, peak_memory_bytes, device
FROM out_costs
WHERE study = ?
ORDER BY model_id"""


class Warned(NamedTuple):
    """A finding that a reader must know before trusting the numbers."""

    model_id: str | None
    warning: str
    affected_count: int | None
    """NULL where the explanation counts."""
    detail: str

    query = """SELECT model_id, warning, affected_count, detail
FROM out_warnings
WHERE study = ?
ORDER BY warning, model_id NULLS FIRST, detail"""


@dataclass(frozen=True)
class Facts:
    """Everything that the report shows of one audit, aggregates only."""

    study: str
    run: Run
    progress: Progress
    pair_types: tuple[PairType, ...]
    models: tuple[Model, ...]
    accuracies: tuple[Accuracy, ...]
    profiles: tuple[Profile, ...]
    intervals: tuple[Interval, ...]
    path_ratios: tuple[PathRatio, ...]
    rank_transfer: tuple[RankTransfer, ...]
    stage_means: tuple[StageMean, ...]
    sweep: tuple[SweepPoint, ...]
    costs: tuple[Cost, ...]
    warnings: tuple[Warned, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Reveal paths with results: ``blend`` first, the others by name."""
        return tuple(sorted({row.path for row in self.profiles}, key=lambda p: (p != "blend", p)))

    @property
    def profiled_types(self) -> tuple[str, ...]:
        """Pair types with results, by name."""
        return tuple(sorted({row.pair_type for row in self.profiles}))


def read_facts(connection: duckdb.DuckDBPyConnection, study: str) -> Facts:
    """Read the views of one study.

    Raises
    ------
    UnknownName
        When the warehouse has no run of the study.
    """
    return Facts(
        study=study,
        run=known_run(connection, study),
        progress=rows_of(connection, Progress, study)[0],
        pair_types=rows_of(connection, PairType, study),
        models=rows_of(connection, Model, study),
        accuracies=rows_of(connection, Accuracy, study),
        profiles=rows_of(connection, Profile, study),
        intervals=rows_of(connection, Interval, study),
        path_ratios=rows_of(connection, PathRatio, study),
        rank_transfer=rows_of(connection, RankTransfer, study),
        stage_means=rows_of(connection, StageMean, study),
        sweep=rows_of(connection, SweepPoint, study),
        costs=rows_of(connection, Cost, study),
        warnings=rows_of(connection, Warned, study),
    )


def known_run(connection: duckdb.DuckDBPyConnection, study: str) -> Run:
    """Read the newest run of a study.

    Raises
    ------
    UnknownName
        When the warehouse has none.
    """
    runs = rows_of(connection, Run, study)
    if not runs:
        known = connection.sql("SELECT DISTINCT study FROM out_runs").fetchall()
        raise UnknownName.among("study", study, (name for (name,) in known))
    return runs[0]


def rows_of(connection: duckdb.DuckDBPyConnection, row_type: type, study: str) -> tuple:
    """Run the query of a row type for a study."""
    rows = connection.execute(row_type.query, [study]).fetchall()
    return tuple(row_type(*row) for row in rows)
