"""Read every view of an ImageNet-9 audit of the paper's size, and of ten times that size.

A made-up study goes through the real writer: the scan of 72 models. Views of behaviours,
attributions and registries have no rows there and are left out. Every view is read in a process of
its own, with a new connection, from Parquet; wall and CPU seconds and peak memory are that
process's. Committing one block is measured too. Figures are the best of the rounds.
The large warehouse is written without flushing to disk. Warehouses that are there already are read
again.
Run: python benchmarks/views.py FOLDER [VIEW ...], which keeps the warehouses (some 2 GB)
Run: python benchmarks/views.py pages FOLDER, for the first load of pages of decaf view at 1x
"""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
from starlette.testclient import TestClient
from synthetic_audit import STUDY, write

from flows.view.site import Site
from warehouse import storage
from warehouse.query.catalog import connect
from warehouse.query.views import CHECKS, views

PAGES = (
    *("/runs", "/studies", f"/models?study={STUDY}", f"/responses?study={STUDY}"),
    *(f"/pairs?study={STUDY}", f"/pairs?study={STUDY}&model_id=net_00"),
)
"""Addresses in `decaf view`."""
SCALES = (1, 10)
ROUNDS, CORES = 2, 2
MOST_SECONDS = 300
MB = 1e6
WITHOUT_ROWS = {
    *("core_measurements", "core_analyses"),
    *("core_entry_versions", "stg_registry_entries"),
}
"""Views of behaviours, attributions and registries, which the study does not have."""


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


def list_measured_views() -> Iterator[str]:
    """Names of views with rows above the staging views, and of the checks."""
    inputs = {view.name: view.inputs for view in views()}
    for view in views():
        below, unread = {view.name}, [view.name]
        while unread:
            new = set(inputs.get(unread.pop(), ())) - below
            below |= new
            unread += new
        if view.folder in ("core", "out", "paper", CHECKS) and not below & WITHOUT_ROWS:
            yield view.name


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
    figures_of_rounds = [
        result for _ in range(rounds) if (result := in_process("read", str(root), name))
    ]
    return (
        [min(figures) for figures in zip(*figures_of_rounds, strict=True)]
        if figures_of_rounds
        else [np.nan] * 4
    )


def ensure_warehouse(folder: Path, scale: int) -> Path:
    """Warehouse of the audit, written unless it is there; prints how long blocks took."""
    root = folder / f"{STUDY}-{scale}x"
    if not root.exists():
        with nullcontext() if scale == 1 else patch("os.fsync"):
            milliseconds = np.array(write(root, scale)) * 1e3
        print(f"{scale}x: a block of 1,536 trajectories is committed in ", end="")
        print(f"{milliseconds.min():.1f} ms (best), {np.median(milliseconds):.1f} (median)")
    return root


def time_pages(root: Path) -> None:
    """Print seconds and CPU seconds of the first load of each page, after reading ahead."""
    site = Site(storage.open(str(root)))
    client = TestClient(site.application(), base_url="http://127.0.0.1")
    print(f"load average {loads()}")
    steps = {"reading ahead": site.read_ahead}
    steps |= {
        f"`{address}`": lambda address=address: client.get(address).raise_for_status()
        for address in PAGES
    }
    for name, step in steps.items():
        started, used = time.perf_counter(), time.process_time()
        step()
        print(
            f"| {name} | {time.perf_counter() - started:.2f} | {time.process_time() - used:.2f} |",
            flush=True,
        )


def loads() -> str:
    """Processes that wanted a core in the last 1, 5 and 15 minutes."""
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def main(folder: Path, names: list[str]) -> None:
    """Print the time of commits, and a table of views at both sizes."""
    cpu = platform.processor() or platform.machine()
    print(f"{cpu}, {CORES} cores; Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, pyarrow {pa.__version__}; load average {loads()}\n")
    roots = at_one, at_ten = [ensure_warehouse(folder, scale) for scale in SCALES]
    for scale, root in zip(SCALES, roots, strict=True):
        size = sum(path.stat().st_size for path in root.rglob("*.parquet")) / MB
        print(f"{scale}x: {size:,.0f} MB\n")
    print("| view | 1x, s | 10x, s | growth | CPU 1x, s | 10x, s | growth | 1x, peak MB | 10x |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names or list_measured_views():
        _, seconds_at_one, used, small = best(at_one, name, ROUNDS)
        _, seconds_at_ten, used_ten, large = best(at_ten, name, ROUNDS)
        print(
            f"| `{name}` | {seconds_at_one:.2f} | {seconds_at_ten:.2f} "
            f"| {seconds_at_ten / seconds_at_one:.1f} | {used:.2f} | {used_ten:.2f} "
            f"| {used_ten / used:.1f} | {small / MB:.0f} | {large / MB:.0f} |",
            flush=True,
        )
    connects = [best(root, "core_current_runs", ROUNDS)[0] for root in roots]
    print(f"\nconnecting: {connects[0]:.2f} s and {connects[1]:.2f} s; load average {loads()}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", root, name]:
            print(json.dumps(read(Path(root), name)))
        case ["pages", folder]:
            time_pages(ensure_warehouse(Path(folder), 1))
        case [folder, *names]:
            main(Path(folder), names)
        case _:
            sys.exit(__doc__)
