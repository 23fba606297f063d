"""The warehouse at the size of the paper's ImageNet-9 audit and at ten times that size.

Made-up studies go through the real writer: the scan of 72 models, the deep audit of 32 with its
behaviours and attributions, and a registry of 72 that was audited twice; a view is read in the one
that has rows for it. Every view is read in a process of its own, with a new connection, from
Parquet; wall and CPU seconds and peak memory are that process's. Committing one block and planning
are measured too. Figures are the best of the rounds. The large warehouses are written without
flushing to disk. Warehouses that are there already are read again.
Run: python benchmarks/views.py FOLDER [VIEW ...], which keeps the warehouses (some 3 GB)
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
from safetensors.numpy import save_file
from synthetic_audit import DEEP, REGISTRY, SCAN, TYPES, VARIANTS, Audit, write

from decaf.data.pairs import Input, Pair, PairSet
from warehouse.query.catalog import connect
from warehouse.query.views import CHECKS, views

SCALES = (1, 10)
ROUNDS, CORES = 2, 2
PLANNED_SHARDS, PLANNED_SOURCES, MOST_SECONDS = 10_000, 32, 300
MB = 1e6
SUBJECTS = {
    DEEP: {"core_measurements", "core_analyses"},
    REGISTRY: {"core_entry_versions", "stg_registry_entries"},
}
"""What tells which audit has rows for a view; the scan has those of all others."""


def read(root: Path, name: str) -> tuple[float, float, float, float]:
    """Seconds to connect; seconds and CPU seconds of the query to its last row; peak memory."""
    view = {view.name: view for view in views()}[name]
    started = time.perf_counter()
    with connect(root, threads=CORES) as connection:
        connected, used = time.perf_counter(), time.process_time()
        sql = view.sql.rstrip().rstrip(";") if view.folder == CHECKS else f"FROM {name}"
        # All columns and rows are made, none is kept: what an aggregate over them has to see.
        connection.sql(f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM ({sql})").fetchall()
        seconds, used = time.perf_counter() - connected, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return connected - started, seconds, used, peak


def measured() -> Iterator[str]:
    """Views of the audit: what is above the staging views, and the checks."""
    return (view.name for view in views() if view.folder in ("core", "out", "paper", CHECKS))


def audit_of(name: str) -> Audit:
    """The audit in which a view has rows."""
    inputs = {view.name: view.inputs for view in views()}
    below, left = {name}, [name]
    while left:
        new = set(inputs.get(left.pop(), ())) - below
        below |= new
        left += new
    return next((audit for audit, marks in SUBJECTS.items() if marks & below), SCAN)


def plan(root: Path) -> tuple[int, float, float, bool]:
    """Plan an audit of as many blocks as are wanted against a warehouse, as ``decaf run`` does.

    Returns
    -------
    Units of work, seconds to plan, seconds with the imports, and whether torch was imported.
    """
    started = time.perf_counter()
    from decaf.plan.study import Study
    from tasks.plan import plan_audit

    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.safetensors"
        save_file({"weight": np.zeros(1, np.float32)}, weights)
        fed = {"architecture": "torchvision:resnet18", "weights": str(weights), "input_size": 224}
        models = [
            {"id": f"net_{number:02}", "family": "net", "mean": [0.5], "std": [0.5], **fed}
            for number in range(SCAN.models)
        ]
        study = Study(
            study=SCAN.study,
            data={"adapter": "shapes3d"},
            models=models,
            score={"kind": "class_probability", "classes": 2},
            paths={name: {"kind": "blend"} for name in SCAN.paths},
            sources_per_block=PLANNED_SOURCES,
            warehouse=str(root),
        )
        pairs = _pair_set(PLANNED_SOURCES * -(-PLANNED_SHARDS // SCAN.models))
        began = time.perf_counter()
        planned = plan_audit(study, pairs)
        ended = time.perf_counter()
    return len(planned.units), ended - began, ended - started, "torch" in sys.modules


def _pair_set(sources: int) -> PairSet:
    images = tuple(
        Input(f"{source}/{side}", side, f"{source} {side}", "")
        for source in range(sources)
        for side in VARIANTS
    )
    pairs = tuple(
        Pair(f"{source}-{kind}", f"{source:06}", kind, 0, "score", 3 * source, 3 * source + side)
        for source in range(sources)
        for side, kind in enumerate(TYPES, start=1)
    )
    return PairSet(images, pairs, "synthetic")


def in_process(*arguments: str) -> Any:
    """One measurement in a fresh process."""
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{arguments}: {error}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def best(root: Path, name: str, rounds: int) -> list[float]:
    """Least of each figure over the rounds; NaN where no round ended in time."""
    found = [result for _ in range(rounds) if (result := in_process("read", str(root), name))]
    return [min(figures) for figures in zip(*found, strict=True)] if found else [np.nan] * 4


def written(folder: Path, audit: Audit, scale: int) -> Path:
    """Warehouse of an audit, written unless it is there; says how long the scan's blocks took."""
    root = folder / f"{audit.study}-{scale}x"
    if not root.exists():
        with nullcontext() if scale == 1 else patch("os.fsync"):
            took = np.array(write(root, audit, scale)) * 1e3
        if audit is SCAN:
            print(f"{scale}x: a block of 1,536 trajectories is committed in {took.min():.1f} ms ")
            print(f"(best), {np.median(took):.1f} (median)")
    return root


def loads() -> str:
    """Processes that wanted a core in the last 1, 5 and 15 minutes."""
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def main(folder: Path, names: list[str]) -> None:
    """Print commits and planning, and a table of views at both sizes."""
    cpu = platform.processor() or platform.machine()
    print(f"{cpu}, {CORES} cores; Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, pyarrow {pa.__version__}; load average {loads()}\n")
    roots = {
        audit: [written(folder, audit, scale) for scale in SCALES] for audit in (SCAN, *SUBJECTS)
    }
    for scale, root in zip(SCALES, roots[SCAN], strict=True):
        size = sum(path.stat().st_size for path in root.rglob("*.parquet")) / MB
        units, seconds, whole, has_torch = in_process("plan", str(root))
        print(f"{scale}x: {size:,.0f} MB; {units:,} units planned in {seconds:.2f} s, ")
        print(f"{whole:.2f} s with the imports; torch: {has_torch}\n")
    print("| view | 1x, s | 10x, s | growth | CPU 1x, s | 10x, s | growth | 1x, peak MB | 10x |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names or measured():
        at_one, at_ten = roots[audit_of(name)]
        _, one, used, small = best(at_one, name, ROUNDS)
        _, ten, used_ten, large = best(at_ten, name, ROUNDS)
        print(
            f"| `{name}` | {one:.2f} | {ten:.2f} | {ten / one:.1f} | {used:.2f} | {used_ten:.2f} "
            f"| {used_ten / used:.1f} | {small / MB:.0f} | {large / MB:.0f} |",
            flush=True,
        )
    connects = [best(root, "core_current_runs", ROUNDS)[0] for root in roots[SCAN]]
    print(f"\nconnecting: {connects[0]:.2f} s and {connects[1]:.2f} s; load average {loads()}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", root, name]:
            print(json.dumps(read(Path(root), name)))
        case ["plan", root]:
            print(json.dumps(plan(Path(root))))
        case [folder, *names]:
            main(Path(folder), names)
        case _:
            sys.exit(__doc__)
