"""What an audit costs that is not scoring: a real ``decaf run``.

One network whose blocks take 20 s and more is audited on two workers, for twenty minutes: how long
a worker is without a block between two of them, and how much of the command comes before the first
block and after the last. ``idle.py`` measures what a start and an end take by themselves.
Run: python benchmarks/overhead.py FOLDER
"""

import os
import platform
import sys
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from commands import command
from small_study import card, write_study

from warehouse.query.catalog import connect

WORKERS = 2
LARGE, LARGE_SHARDS, SOURCES_PER_SHARD = "torchvision:resnet50", 90, 14


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
    long_blocks(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute())
