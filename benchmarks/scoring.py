"""Rows per second of planner + scorer against a bare loop over ready tensors of the same network.

Both sides run the same network on the same number of rows in batches of the same size; the bare
loop is given normalised tensors that lie on the device already, and fetches its outputs like the
scorer does. Networks are untrained and images random: neither changes the work. Rounds alternate;
the best of each side counts. Peak memory is the device's, or the process's on a CPU.
Run: python benchmarks/scoring.py [network …]; ``gpu.py`` does the same on a GPU
"""

import os
import platform
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torchvision import models

from decaf.data.pairs import Input, Pair, PairBlock, PairSet
from decaf.models.precision import disable_tf32
from decaf.models.sources.network import NetworkCard, NetworkModel
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.scoring.batches import FixedLimit
from decaf.scoring.block import BlockScores, score_block
from decaf.scoring.planner import StatePlan, plan_states
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.states import StateBuilder, on_device
from tasks.cluster.fork_server import WORKER_MEMORY
from tasks.cluster.worker import peak_memory, reset_peak_memory

PATHS = {"blend": Blend(), "patch_a": Patches(order="A"), "patch_b": Patches(order="B")}
GRID = np.linspace(0, 1, 9)
NETWORKS = ("resnet18",)
SOURCES = {"cpu": 4, "cuda": 64}
BATCH = {"cpu": 61, "cuda": 488}
ROUNDS = 5
HEAD = (
    "| network | rows | batch | bare, rows/s | planned, rows/s | ratio | building, share "
    "| foregrounds/s | peak, MB |\n|---|---|---|---|---|---|---|---|---|"
)
LINE = (
    "| {network} | {rows} | {batch} | {bare_rows_per_second:.1f} | {planned_rows_per_second:.1f} "
    "| {ratio:.3f} | {building_share:.3f} | {foregrounds_per_second:.2f} | {peak_mb:,.0f} |"
)


def foregrounds(count: int) -> tuple[PairBlock, np.ndarray]:
    """Pairs as in ImageNet-9 over random images, (3 count, 3, 224, 224) uint8."""
    images = tuple(Input(str(i), "random", str(i), "") for i in range(3 * count))
    pairs = tuple(
        Pair(f"{source}/{variant}", str(source), "any", 0, "all", 3 * source, 3 * source + variant)
        for source in range(count)
        for variant in (1, 2)
    )
    pixels = np.random.default_rng(0).integers(0, 256, (3 * count, 224, 224, 3), dtype=np.uint8)
    block = PairSet(images, pairs, "random").block(tuple(range(len(pairs))))
    return block, pixels.transpose(0, 3, 1, 2)


def networks_of(name: str, device: torch.device) -> tuple[torch.nn.Module, NetworkModel]:
    """Untrained torchvision network, alone and behind the card that an audit would use."""
    card = NetworkCard(
        id=name,
        family=name,
        architecture=f"torchvision:{name}",
        weights="untrained",
        input_size=224,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        memory_format="channels_last",
    )
    torch.manual_seed(0)
    network = models.get_model(name, weights=None)
    return network, NetworkModel(network, card, device)


def score_planned(
    model: NetworkModel, block: PairBlock, inputs: np.ndarray, batch: int
) -> tuple[float, StatePlan, BlockScores]:
    """Seconds of planning, building, scoring and gathering a block."""
    score = ClassProbability(kind="class_probability", classes=1000)
    synchronise(model.device)
    started = time.perf_counter()
    plan = plan_states(block, inputs, PATHS, GRID)
    builder = StateBuilder(plan, on_device(inputs, model.device))
    with torch.inference_mode():
        scores = score_block(
            plan,
            builder,
            lambda x: score.values(model.outputs(x), "logits"),
            block.class_id,
            FixedLimit(batch),
        )
    return time.perf_counter() - started, plan, scores


def bare(network: torch.nn.Module, batches: list[torch.Tensor]) -> float:
    """Seconds of the network alone on ready tensors."""
    synchronise(batches[0].device)
    started = time.perf_counter()
    with torch.inference_mode():
        for batch in batches:
            network(batch).cpu()
    return time.perf_counter() - started


def synchronise(device: torch.device) -> None:
    """Wait for all launched kernels."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def ready_batches(plan: StatePlan, batch: int, device: torch.device) -> list[torch.Tensor]:
    """Random tensors of the sizes that the plan's batches have; one buffer, so memory suffices."""
    layout = {"memory_format": torch.channels_last}
    largest = torch.randn(batch, 3, 224, 224, device=device).contiguous(**layout)
    return [largest[: states.size] for states in plan.batches(batch)]


def compare(name: str, device: torch.device) -> dict[str, Any]:
    """Figures of one network."""
    network, model = networks_of(name, device)
    block, inputs = foregrounds(SOURCES[device.type])
    batch = BATCH[device.type]
    reset_peak_memory(device)
    _, plan, _ = score_planned(model, block, inputs, batch)
    peak = peak_memory(device)
    batches = ready_batches(plan, batch, device)
    bare(network, batches)
    runs = [
        (score_planned(model, block, inputs, batch), bare(network, batches)) for _ in range(ROUNDS)
    ]
    (seconds, _, scores), alone = min(run for run, _ in runs), min(run for _, run in runs)
    rows = plan.state_count
    return {
        "rows": rows,
        "batch": batch,
        "bare_rows_per_second": rows / alone,
        "planned_rows_per_second": rows / seconds,
        "ratio": alone / seconds,
        "building_share": scores.build_seconds / seconds,
        "foregrounds_per_second": SOURCES[device.type] / seconds,
        "peak_mb": peak / 1e6,
    }


def print_table(networks: Sequence[str], device: torch.device) -> dict[str, dict[str, Any]]:
    """Print a table, one network a row; figures by network."""
    disable_tf32()
    torch.set_num_threads(1)
    name = torch.cuda.get_device_name() if device.type == "cuda" else platform.processor()
    print(
        f"{name or 'CPU'}, torch {torch.__version__}, Python {platform.python_version()}, float32"
    )
    print(HEAD)
    figures = {}
    for network in networks:
        figures[network] = compare(network, device)
        print(LINE.format(network=network, **figures[network]), flush=True)
    return figures


def keep_memory() -> None:
    """Start this process again with the workers' allocator settings, unless it has them.

    An allocator reads its settings once, at the start of a process.
    """
    if not WORKER_MEMORY.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WORKER_MEMORY})


if __name__ == "__main__":
    keep_memory()
    print_table(sys.argv[1:] or NETWORKS, torch.device("cpu"))
