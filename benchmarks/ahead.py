"""What reading ahead and committing behind save: wall seconds without both and with them, in turns.

Without a GPU, one is stood in for: whatever a GPU does by itself (copying and converting inputs,
building states, normalising, the network, the softmax of its logits) is a sleep of as many seconds
as a network takes for the rows, in which other threads run. All else is real: a Dask worker of one
thread in this process, orders sent to it as a run sends them, inputs read, states planned, scores
gathered and routed, rows, commits. There is one model, so no block is planned twice. The first turn
of each is not counted.
Run: python benchmarks/ahead.py RESULTS.json
"""

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from distributed import Client, LocalCluster
from host import BLURRED, CLASSES, pairs, study_of
from small_study import card

from decaf.models.sources.network import NetworkModel
from decaf.plan.study import Study
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.states import StateBuilder
from tasks.cluster.drive import drive
from tasks.cluster.fork_server import WORKER_MEMORY
from tasks.cluster.upcoming import Upcoming
from tasks.compute import fit
from tasks.inputs import store_pairs
from tasks.order import order_of
from tasks.plan import plan_audit
from tasks.units import ahead, behind, scan
from tasks.units.orders import run_order
from warehouse.commits.writer import open_root

BLOCKS, TURNS, BATCH, SIDE = 40, 3, 488, 224
SPEEDS = {
    "ResNet-50 on an H100": 2918.7,
    "5,000 rows a second": 5000,
    "three times as fast as the first": 3 * 2918.7,
}
"""Rows per second of what is stood in for; the first as benchmarks/scoring.py measured it."""
SOURCES = 32
"""Of a block, of 61 states each."""


class GpuStandIn:
    """Sleeps as long as a GPU would be busy, and counts for how long."""

    def __init__(self, rows_per_second: float) -> None:
        self.rows_per_second, self.slept = rows_per_second, 0.0

    def build(self, builder: StateBuilder, states: np.ndarray) -> torch.Tensor:
        """States that are no pixels: the first input, seen as often as asked."""
        return builder._clean[:1].expand(states.size, *builder._clean.shape[1:])

    def outputs(self, model: NetworkModel, inputs: torch.Tensor) -> torch.Tensor:
        """(n, classes) probabilities of zero, after a while."""
        began = time.perf_counter()
        time.sleep(len(inputs) / self.rows_per_second)
        self.slept += time.perf_counter() - began
        return torch.zeros(len(inputs), CLASSES, dtype=torch.float64)


def measured(name: str, folder: Path, client: Client) -> dict[str, Any]:
    """Wall seconds of every turn, without what a GPU has and with it, at a speed of the network."""
    stand_in = GpuStandIn(SPEEDS[name])
    StateBuilder.build = lambda builder, states: stand_in.build(builder, states)
    scan.on_device = lambda inputs, device: torch.zeros(()).expand(inputs.shape)
    NetworkModel.outputs = lambda model, inputs: stand_in.outputs(model, inputs)
    ClassProbability.values = lambda score, outputs, output: outputs
    channels = (0.485, 0.456, 0.406)
    normalising = {"mean": channels, "std": channels, "arguments": {"classes": CLASSES}}
    model = card(folder, "constant", 0, "factory:constant:build", input_size=None, **normalising)
    settings = {
        "data": pairs(folder, BLOCKS * SOURCES, (SIDE, SIDE, 3), np.uint8),
        "paths": BLURRED,
        "sources_per_block": SOURCES,
        "batch_size": BATCH,
    }

    def study(turn: str) -> Study:
        stand_in.slept = 0.0
        return study_of(folder, turn, [model], CLASSES, **settings)

    found: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    for way, seconds in in_turns(TURNS, study, client, {"without": False, "with": True}):
        found[way].append({"seconds": seconds, "in_network": stand_in.slept})
        print(f"{name}, {way}: {found[way][-1]}", flush=True)
    return found


def in_turns(
    turns: int, study: Callable[[str], Study], client: Client, ways: dict[str, bool]
) -> Iterator[tuple[str, float]]:
    """Ways and their wall seconds, in turns: a way says whether workers act as with a GPU.

    The first turn is not given.
    """
    for turn in range(turns + 1):
        for way, has_gpu in ways.items():
            ahead.has_gpu = behind.has_gpu = partial(_answer, has_gpu)
            seconds = carried_out(study(f"turn{turn}{way}"), client)
            if turn:
                yield way, seconds


def _answer(has_gpu: bool, _: object) -> bool:
    return has_gpu


def carried_out(study: Study, client: Client) -> float:
    """Wall seconds from sending the first order to the last result."""
    open_root(study.warehouse)
    plan = plan_audit(study, study.pair_set())
    inputs = store_pairs(plan)
    fit(plan, inputs)
    (groups,) = plan.by_model.values()
    orders = [order_of(plan, group, inputs, None) for group in groups]
    began = time.perf_counter()
    drive(client, run_order, orders, [order.label for order in orders], lambda _: None)
    return time.perf_counter() - began


def main() -> None:
    """Print a table, one speed a row, and write the figures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    found: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_before": os.getloadavg()[0],
    }
    here = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    rows = []
    with LocalCluster(**here) as cluster, Client(cluster) as client:
        client.register_plugin(Upcoming(ahead.expect))
        for name in SPEEDS:
            with tempfile.TemporaryDirectory() as folder:
                found[name] = measured(name, Path(folder), client)
            every = {
                way: [statistics.median(turn[one] for turn in turns) for one in turns[0]]
                for way, turns in found[name].items()
            }
            (without, slept), (ahead_of, slept_ahead) = every["without"], every["with"]
            shares = slept / without, slept_ahead / ahead_of
            cells = f"{without:.2f} | {ahead_of:.2f} | {shares[0]:.3f} | {shares[1]:.3f}"
            rows.append(f"| {name} | {slept:.2f} | {cells} |")
    found["load_after"] = os.getloadavg()[0]
    print("| network | in it, s | without, s | with, s | share without | share with |")
    print("|---|---|---|---|---|---|", *rows, sep="\n")
    Path(sys.argv[1]).write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    if not WORKER_MEMORY.items() <= os.environ.items():
        # An allocator reads its settings once, at the start of a process.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WORKER_MEMORY})
    main()
