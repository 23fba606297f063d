"""Bootstraps of the warehouse against vectorised NumPy, from the same Parquet files and draws.

NumPy reads the columns by pyarrow, lays sums out by source, multiplies them with how often every
replicate drew each, and ranks all replicates at once. It is given the draws that SQL makes for
itself. Both results are compared first; then both ways are timed in processes of their own,
alternately, the best of the rounds.
Run: python benchmarks/warehouse_bootstraps.py WAREHOUSE, one that benchmarks/views.py wrote
"""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from decaf.statistics.draws import DEFAULT_REPLICATES, multiplicities
from decaf.statistics.ranks import spearman_rows
from warehouse.query.catalog import connect

METRICS = ("abs_response", "contradiction", "endpoint_magnitude", "evidence", "fragility")
LEVELS = (0.9, 0.95)
ROUNDS = 3
TOLERANCE = 1e-9

Array = NDArray[np.float64]


class Audit(NamedTuple):
    """Sums over the trajectories of every source; axes are sorted by name."""

    sums: Array
    """(n_metrics, n_models, n_types, n_paths, n_sources), score units"""
    counts: Array
    """(n_models, n_types, n_paths, n_sources)"""


def read(root: Path, metrics: tuple[str, ...], only: ds.Expression | None = None) -> Audit:
    """Read profiles by pyarrow; only trajectories of one path, if that is asked."""
    profiles = ds.dataset(root / "tables" / "profiles", partitioning="hive").to_table(
        ["model_id", "pair_id", "path", *metrics], filter=only
    )
    pairs = ds.dataset(root / "tables" / "pairs", partitioning="hive").to_table(
        ["pair_id", "pair_type", "source_id"]
    )
    types, type_of = np.unique(pairs["pair_type"].to_numpy(), return_inverse=True)
    sources, source_of = np.unique(pairs["source_id"].to_numpy(), return_inverse=True)
    pair = pc.index_in(profiles["pair_id"], pairs["pair_id"]).to_numpy()
    models, model = _codes(profiles["model_id"])
    paths, path = _codes(profiles["path"])
    shape = (len(models), len(types), len(paths), len(sources))
    cell = np.ravel_multi_index((model, type_of[pair], path, source_of[pair]), shape)
    size = int(np.prod(shape))
    sums = [np.bincount(cell, profiles[metric].to_numpy(), size) for metric in metrics]
    counts = np.bincount(cell, minlength=size).astype(np.float64)
    return Audit(np.reshape(sums, (len(metrics), *shape)), counts.reshape(shape))


def model_intervals(root: Path, draws: dict[str, NDArray[np.int64]]) -> Array:
    """Estimate, standard error and limits, by model, pair type, path and metric."""
    metrics = tuple(sorted((*METRICS, "endpoint_delta")))
    sample, replicates = _means(read(root, metrics), draws["sources"])
    found = [sample, *_limits(replicates)]
    return np.moveaxis(found, (0, 1), (-1, -2)).reshape(-1, 6)


def rank_transfer(root: Path, draws: dict[str, NDArray[np.int64]]) -> Array:
    """Spearman correlation, standard error and limits, by pair type, metric and two paths."""
    sample, replicates = _means(read(root, METRICS), draws["sources"])
    sample, replicates = sample.round(12), replicates.round(12)
    rows = []
    metrics, _, types, paths = sample.shape
    for kind, metric, (a, b) in itertools.product(
        range(types), range(metrics), itertools.combinations(range(paths), 2)
    ):
        sides = [sample[metric, :, kind, path] for path in (a, b)]
        by_source = [replicates[metric, :, kind, path].T for path in (a, b)]
        estimate = spearman_rows(*(side[np.newaxis] for side in sides))[0]
        by_model = [side[draws["models"]] for side in sides]
        for resampled in (by_model, by_source):
            rows += _by_level(estimate, spearman_rows(*resampled))
    return np.array(rows)


def path_ratios(root: Path, draws: dict[str, NDArray[np.int64]]) -> Array:
    """Ratio of means over models, standard error and limits, by pair type, two paths and metric."""
    sample, replicates = _means(read(root, METRICS), draws["sources"])
    weights = multiplicities(draws["models"], sample.shape[1])
    rows = []
    metrics, _, types, paths = sample.shape
    for kind, (a, b), metric in itertools.product(
        range(types), itertools.combinations(range(paths), 2), range(metrics)
    ):
        above, below = (sample[metric, :, kind, path] for path in (b, a))
        over, under = (replicates[metric, :, kind, path].mean(axis=0) for path in (b, a))
        for resampled in ((weights @ above) / (weights @ below), over / under):
            rows += _by_level(above.mean() / below.mean(), resampled)
    return np.array(rows)


def by_group(root: Path, draws: dict[str, NDArray[np.int64]]) -> Array:
    """Difference, mean and ratio of two metrics over the sources, for every model."""
    only = ds.field("path") == "blend"
    sums, counts = read(root, ("evidence", "contradiction"), only)
    sums, counts = sums[:, :, 1, 0], counts[:, 1, 0]  # the pair type same_rand
    weights = multiplicities(draws["sources"], counts.shape[-1])
    rows = []
    both = zip((*sums, counts), (*(sums @ weights.T), counts @ weights.T), strict=True)
    (x, xs), (y, ys), (n, ns) = ((one.sum(axis=-1), many) for one, many in both)
    for model in range(len(n)):
        of = [side[model] for side in (x, y, n, xs, ys, ns)]
        rows += _by_level((of[0] - of[1]) / of[2], (of[3] - of[4]) / of[5])
        rows += _by_level(of[0] / of[2], of[3] / of[5])
        rows += _by_level(of[0] / of[1], of[3] / of[4])
    return np.array(rows)


class Bootstrap(NamedTuple):
    """The same numbers, in the same order, by SQL and by NumPy."""

    sql: str
    by_numpy: Callable[[Path, dict[str, NDArray[np.int64]]], Array]


LIMITS = "standard_error, lower_limit, upper_limit"
BOOTSTRAPS = {
    "out_model_intervals": Bootstrap(
        "SELECT estimate, standard_error, lower_90, upper_90, lower_95, upper_95 "
        "FROM out_model_intervals ORDER BY model_id, pair_type, path, metric",
        model_intervals,
    ),
    "out_rank_transfer_intervals": Bootstrap(
        f"SELECT spearman, {LIMITS} FROM out_rank_transfer_intervals "
        "ORDER BY pair_type, metric, path_a, path_b, resampled, level",
        rank_transfer,
    ),
    "out_path_ratio_intervals": Bootstrap(
        f"SELECT ratio, {LIMITS} FROM out_path_ratio_intervals "
        "ORDER BY pair_type, path_a, path_b, metric, resampled, level",
        path_ratios,
    ),
    "bootstrap_by_group, 72 models over sources": Bootstrap(
        "WITH blended AS (SELECT model_id AS g, source_id AS cluster, evidence AS x, "
        "contradiction AS y FROM core_profiles WHERE path = 'blend' AND pair_type = 'same_rand') "
        f"SELECT estimate, {LIMITS} FROM bootstrap_by_group('blended', 500, 91702, [0.9, 0.95]) "
        "ORDER BY g, statistic, level",
        by_group,
    ),
}


def by_sql(root: Path, sql: str) -> tuple[Array, float]:
    """Rows of a query in a new connection, and its seconds without opening the warehouse."""
    with connect(root, threads=2) as connection:
        started = time.perf_counter()
        found = connection.sql(sql).fetchnumpy()
        seconds = time.perf_counter() - started
    return np.stack([np.ma.filled(column, np.nan) for column in found.values()], axis=1), seconds


def draws_of(root: Path) -> dict[str, NDArray[np.int64]]:
    """Draws that SQL makes for sources and for models."""
    drawn = {}
    with connect(root) as connection:
        for name, count in (
            ("sources", "SELECT max(source_count) FROM core_sources"),
            ("models", "SELECT count(DISTINCT model_id) FROM core_blocks"),
        ):
            rows = connection.sql(
                "WITH layouts AS (SELECT 0 AS layout, position, NULL AS stratum "
                f"FROM range(({count})) AS places (position)) SELECT positions "
                f"FROM bootstrap_draws('layouts', {DEFAULT_REPLICATES}, 91702) ORDER BY replicate"
            ).fetchnumpy()
            drawn[name] = np.stack(rows["positions"]).astype(np.int64)
    return drawn


def timed(way: str, name: str, root: Path) -> tuple[float, float]:
    """Seconds of wall and of CPU that one way takes in this process."""
    if way == "sql":
        used = time.process_time()
        return by_sql(root, BOOTSTRAPS[name].sql)[1], time.process_time() - used
    draws = draws_of(root)
    started, used = time.perf_counter(), time.process_time()
    BOOTSTRAPS[name].by_numpy(root, draws)
    return time.perf_counter() - started, time.process_time() - used


def in_process(way: str, name: str, root: Path) -> tuple[float, float]:
    """One measurement in a fresh process."""
    command = [sys.executable, __file__, way, name, str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, used = json.loads(done.stdout)
    return wall, used


def main(root: Path) -> None:
    """Print a row of a table for every bootstrap."""
    draws = draws_of(root)
    print("| bootstrap | SQL, s | NumPy, s | ratio | CPU, SQL, s | NumPy, s | largest difference |")
    print("|---|---|---|---|---|---|---|")
    for name, (sql, by_numpy) in BOOTSTRAPS.items():
        difference = np.abs(by_sql(root, sql)[0] - by_numpy(root, draws)).max()
        assert difference < TOLERANCE, (name, difference)
        rounds = [[in_process(way, name, root) for way in ("sql", "numpy")] for _ in range(ROUNDS)]
        (wall, used), (numpy_wall, numpy_used) = np.min(rounds, axis=0)
        print(
            f"| `{name}` | {wall:.2f} | {numpy_wall:.2f} | {wall / numpy_wall:.1f} "
            f"| {used:.2f} | {numpy_used:.2f} | {difference:.0e} |",
            flush=True,
        )
    print(f"\nload average at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


def _codes(column: object) -> tuple[list[str], NDArray[np.int64]]:
    """Sorted names of a column, and the place of every row's among them."""
    names = sorted(pc.unique(column).to_pylist())
    return names, pc.index_in(column, pa.array(names)).to_numpy()


def _means(audit: Audit, draws: NDArray[np.int64]) -> tuple[Array, Array]:
    """Means of the sample and of every replicate, which are the last axis."""
    weights = multiplicities(draws, audit.counts.shape[-1])
    replicates = (audit.sums @ weights.T) / (audit.counts @ weights.T)
    return audit.sums.sum(axis=-1) / audit.counts.sum(axis=-1), replicates


def _limits(replicates: Array) -> list[Array]:
    """Standard error, and limits of both levels from the lower to the higher."""
    places = [0.05, 0.95, 0.025, 0.975]
    return [replicates.std(axis=-1, ddof=1), *np.quantile(replicates, places, axis=-1)]


def _by_level(estimate: float, replicates: Array) -> list[list[float]]:
    error, *limits = _limits(replicates)
    return [[estimate, error, *limits[2 * level : 2 * level + 2]] for level in range(len(LEVELS))]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sql" | "numpy" as way, name, root]:
            print(json.dumps(timed(way, name, Path(root))))
        case [root]:
            main(Path(root))
        case _:
            sys.exit(__doc__)
