"""Rows per second of a forward pass with and without the workers' allocator settings.

Each measurement is a fresh process that works in one thread beside the main one, as a Dask worker
does, alternating, on untrained networks and blank 224 px inputs: the ratio is what matters.
Run: python benchmarks/allocator.py
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torchvision import models

from tasks.cluster.fork_server import WORKER_MEMORY

NETWORKS = ("squeezenet1_1", "mobilenet_v2", "resnet18")
ROWS, BATCH, ROUNDS = 256, 64, 3


def measure(name: str) -> float:
    """Rows per second of one network in this process."""
    torch.set_num_threads(1)
    network = models.get_model(name, weights=None).eval().to(memory_format=torch.channels_last)
    batch = torch.zeros(BATCH, 3, 224, 224).contiguous(memory_format=torch.channels_last)
    with torch.inference_mode():
        network(batch)
        started = time.perf_counter()
        for _ in range(ROWS // BATCH):
            network(batch)
    return ROWS / (time.perf_counter() - started)


def in_process(name: str, settings: dict[str, str]) -> float:
    """The same in a fresh process with these variables."""
    command = [sys.executable, __file__, name]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    done = subprocess.run(
        command, env={**environment, **settings}, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Print a table: the best of several rounds of each kind, and their ratio."""
    print("| network | glibc's defaults, rows/s | workers' settings, rows/s | ratio |")
    print("|---|---|---|---|")
    for name in NETWORKS:
        plain, tuned = [], []
        for _ in range(ROUNDS):
            plain.append(in_process(name, {}))
            tuned.append(in_process(name, WORKER_MEMORY))
        best = max(plain), max(tuned)
        print(f"| {name} | {best[0]:.1f} | {best[1]:.1f} | {best[1] / best[0]:.2f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with ThreadPoolExecutor(1) as thread:
            print(thread.submit(measure, sys.argv[1]).result())
    else:
        main()
