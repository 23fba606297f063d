"""A worker on a device against a bare loop: what reading ahead and committing behind leave.

The orders of blend and both patch orders of random images go to a Dask worker of one thread in this
process, as a run sends them, without reading ahead and committing behind and with both, in turns.
Nothing is stood in for: inputs are read, states planned, built, copied and scored, rows routed and
committed. The bare loop gives the same network as many ready rows (``scoring.py``). The first turn
is not counted. On a processor the worker of a run does neither; here it does both, as a trial.
Run: python benchmarks/overlap.py RESULTS.json [--device cuda] [network ...]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ahead import in_turns
from distributed import Client, LocalCluster
from host import BLURRED, pairs, study_of
from scoring import bare
from small_study import card
from torchvision import models

from decaf.models.precision import exact_float32
from decaf.plan.study import Study
from tasks.cluster.fork_server import WORKER_MEMORY
from tasks.cluster.upcoming import Upcoming
from tasks.units import ahead

NETWORKS = {"cpu": ["resnet18"], "cuda": ["resnet50"]}
BLOCKS, SOURCES, BATCH = (
    {"cpu": 2, "cuda": 6},
    {"cpu": 2, "cuda": 32},
    {"cpu": 61, "cuda": 488},
)
SIDE, STATES, CLASSES, TURNS = 224, 61, 1000, 2
"""Each source has so many states: three inputs, and what the stages of three paths show."""
WAYS = {"without": False, "with": True}


def measured(network: str, device: str, folder: Path, client: Client) -> dict[str, Any]:
    """Rows a second of the bare loop and of both ways, and their shares of the bare loop."""
    means, deviations = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    layout = {"mean": means, "std": deviations, "memory_format": "channels_last"}
    model = card(folder, network, 0, f"torchvision:{network}", input_size=SIDE, **layout)
    blocks, sources, batch = BLOCKS[device], SOURCES[device], BATCH[device]
    settings = {
        "data": pairs(folder, blocks * sources, (SIDE, SIDE, 3), np.uint8),
        "paths": BLURRED,
        "device": device,
        "sources_per_block": sources,
        "batch_size": batch,
    }

    def study(turn: str) -> Study:
        return study_of(folder, turn, [model], CLASSES, **settings)

    seconds: dict[str, list[float]] = {way: [] for way in ("bare", *WAYS)}
    rows = blocks * sources * STATES
    alone = models.get_model(network, weights=None).to(device).eval()
    alone = alone.to(memory_format=torch.channels_last)
    ready = torch.randn(batch, 3, SIDE, SIDE, device=device)
    ready = ready.contiguous(memory_format=torch.channels_last)
    batches = [ready[: min(batch, rows - first)] for first in range(0, rows, batch)]
    bare(alone, batches[:2])
    for way, taken in in_turns(TURNS, study, client, WAYS):
        seconds[way].append(taken)
        if way == "with":
            seconds["bare"].append(bare(alone, batches))
    medians = {way: statistics.median(taken) for way, taken in seconds.items()}
    return {
        "rows": rows,
        **{f"{way}_rows_per_second": rows / taken for way, taken in medians.items()},
        **{f"share_{way}": medians["bare"] / medians[way] for way in WAYS},
    }


def main() -> None:
    """Print a table, one network a row, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--device", choices=list(NETWORKS), default="cpu")
    parser.add_argument("networks", nargs="*")
    given = parser.parse_args()
    exact_float32()
    torch.set_num_threads(1)
    here = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    found = {}
    print("| network | rows | bare, rows/s | without | with | share without | share with |")
    print("|---|---|---|---|---|---|---|")
    with LocalCluster(**here) as cluster, Client(cluster) as client:
        client.register_plugin(Upcoming(ahead.expect))
        for network in given.networks or NETWORKS[given.device]:
            with tempfile.TemporaryDirectory() as folder:
                found[network] = measured(network, given.device, Path(folder), client)
            rows, *speeds, without, both = found[network].values()
            cells = " | ".join(f"{speed:.1f}" for speed in speeds)
            print(f"| {network} | {rows} | {cells} | {without:.3f} | {both:.3f} |", flush=True)
            given.results.write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    if not WORKER_MEMORY.items() <= os.environ.items():
        # An allocator reads its settings once, at the start of a process.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WORKER_MEMORY})
    main()
