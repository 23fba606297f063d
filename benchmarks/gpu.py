"""Measure on a GPU: planner and scorer against a bare loop, and several processes at once.

The first table is that of ``scoring.py`` for the two networks. The second has the rows per second
of one and two processes that score the same block at once, as ``workers_per_gpu:`` does, against
the bare loop of one process. The tests of a GPU are ``pytest -m cuda``.
Run: python benchmarks/gpu.py RESULTS.json
"""

import json
import sys
import time
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import torch
from scoring import (
    BATCH,
    SOURCES,
    foregrounds,
    keep_memory,
    networks_of,
    print_table,
    score_planned,
)

from decaf.models.precision import disable_tf32

NETWORKS = ("resnet50", "vit_b_16")
PROCESSES = (1, 2)
START_SECONDS = 300
BLOCKS = 4
"""Blocks that each process scores; one before them is not timed."""


def score_blocks(name: str, barrier: Barrier) -> int:
    """Score the blocks of one process between two meetings of all processes; forward rows."""
    disable_tf32()
    torch.set_num_threads(1)
    _, model = networks_of(name, torch.device("cuda"))
    block, inputs = foregrounds(SOURCES["cuda"])
    score_planned(model, block, inputs, BATCH["cuda"])
    barrier.wait()
    plans = [score_planned(model, block, inputs, BATCH["cuda"])[1] for _ in range(BLOCKS)]
    barrier.wait()
    return sum(plan.state_count for plan in plans)


def rows_per_second(name: str, count: int) -> float:
    """Forward rows per second of all of ``count`` processes that share the GPU."""
    context = get_context("spawn")
    with context.Manager() as manager, context.Pool(count) as pool:
        barrier = manager.Barrier(count + 1, timeout=START_SECONDS)
        results = [pool.apply_async(score_blocks, (name, barrier)) for _ in range(count)]
        barrier.wait()
        started = time.perf_counter()
        barrier.wait()
        seconds = time.perf_counter() - started
        return sum(result.get() for result in results) / seconds


def main(results: Path) -> None:
    """Print both tables and write the figures."""
    if not torch.cuda.is_available():
        sys.exit("torch sees no GPU here")
    figures = print_table(NETWORKS, torch.device("cuda"))
    print("\n| network | processes | rows/s | of the bare loop |\n|---|---|---|---|")
    for name, figure in figures.items():
        for count in PROCESSES:
            speed = figure[f"rows_per_second_of_{count}"] = rows_per_second(name, count)
            ratio = speed / figure["bare_rows_per_second"]
            print(f"| {name} | {count} | {speed:.1f} | {ratio:.3f} |", flush=True)
            results.write_text(f"{json.dumps(figures, indent=1)}\n")


if __name__ == "__main__":
    keep_memory()
    match sys.argv[1:]:
        case [results]:
            main(Path(results))
        case _:
            sys.exit(__doc__)
