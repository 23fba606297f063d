"""What an audit costs that is not scoring: real ``decaf run`` processes.

A finished audit of 72 models is run again: wall and CPU seconds of the whole command. Then one
network whose blocks take 20 s and more is audited on two workers, for twenty minutes: how long a
worker is without a block between two of them, and how much of the command comes before the first
block and after the last. The smallest audit shows what a start and an end take by themselves.
Run: python benchmarks/overhead.py FOLDER
"""

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from small_study import card, write_study

from warehouse.query.catalog import connect

DECAF = str(Path(sys.executable).parent / "decaf")
MODELS, ROUNDS, WORKERS = 72, 3, 2
TINY = "factory:decaf.models.networks.small_cnn:build"
LARGE, LARGE_SHARDS, SOURCES_PER_SHARD = "torchvision:resnet50", 90, 14


class Taken(NamedTuple):
    """What one command took, with all processes that it waited for."""

    wall: float
    cpu: float


def command(folder: Path) -> Taken:
    """Run ``decaf run`` in a folder; seconds."""
    started = time.perf_counter()
    with (folder / "run.log").open("w") as log:
        run = subprocess.Popen([DECAF, "run", "study.yaml"], cwd=folder, stdout=log, stderr=log)
        _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit((folder / "run.log").read_text())
    return Taken(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)


def smallest(folder: Path) -> None:
    """One model, one block: the first start migrates Prefect's database, the others do not."""
    for number in range(ROUNDS + 1):
        own = folder / f"smallest-{number}"
        own.mkdir()
        cards = [card(own, "net", 0, TINY, input_size=32)]
        workers = {"kind": "local", "workers": WORKERS}
        write_study(own, cards, data={"adapter": "shapes3d", "sources": 2}, cluster=workers)
        taken = command(own)
        print(f"smallest audit, {number or 'first'}: {taken.wall:.1f} s, CPU {taken.cpu:.1f} s")


def again(folder: Path) -> None:
    """A finished audit of many models."""
    own = folder / "finished"
    own.mkdir()
    cards = [card(own, f"net_{n:02}", n, TINY, input_size=32) for n in range(MODELS)]
    settings = {"data": {"adapter": "shapes3d", "sources": 8}, "sources_per_block": 4}
    write_study(own, cards, cluster={"kind": "local", "workers": WORKERS}, **settings)
    first = command(own)
    print(f"{MODELS} models, first: {first.wall:.1f} s, CPU {first.cpu:.1f} s")
    for _ in range(ROUNDS):
        taken = command(own)
        print(f"{MODELS} models, finished: {taken.wall:.2f} s, CPU {taken.cpu:.2f} s")


def long_blocks(folder: Path) -> None:
    """Blocks of 20 s and more: gaps between them, and what is around them."""
    own = folder / "long"
    own.mkdir()
    cards = [card(own, "net", 0, LARGE, input_size=224, arguments={"num_classes": 2})]
    settings = {"sources_per_block": SOURCES_PER_SHARD, "batch_size": 61}
    data = {"adapter": "shapes3d", "sources": LARGE_SHARDS * SOURCES_PER_SHARD}
    write_study(own, cards, data=data, cluster={"kind": "local", "workers": WORKERS}, **settings)
    taken = command(own)
    with connect(own / "warehouse") as connection:
        found = connection.sql(
            "SELECT worker, epoch(started_at), wall_seconds FROM stg_costs ORDER BY started_at"
        ).fetchall()
    gaps = []
    for worker in {row[0] for row in found}:
        blocks = [(begin, begin + seconds) for name, begin, seconds in found if name == worker]
        gaps += [after[0] - before[1] for before, after in pairwise(blocks)]
    seconds = np.array([row[2] for row in found])
    span = max(row[1] + row[2] for row in found) - found[0][1]
    share = sum(gaps) / (sum(gaps) + seconds.sum())
    busy = seconds.sum() / (WORKERS * taken.wall)
    print(
        f"{len(found)} blocks of {seconds.min():.1f} to {seconds.max():.1f} s on {WORKERS} workers"
    )
    print(f"between two: {np.mean(gaps):.3f} s, at most {max(gaps):.3f}; share {share:.4f}")
    print(f"command {taken.wall:.1f} s, of which first to last block {span:.1f} s; busy {busy:.4f}")


def main(folder: Path) -> None:
    """Print all figures."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    names = ("prefect", "distributed", "torch")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, ")
    print(f"{versions}; load average {load}", flush=True)
    smallest(folder)
    again(folder)
    long_blocks(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute())
