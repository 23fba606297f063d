"""What models that score blocks together save: processor seconds of real networks, in turns.

Studies are planned as their command does it, and one worker's orders are carried out in this
process, one model after the other and then all of them together (`models_per_worker:`). The first
turn is not counted; medians of the others.
Run: python benchmarks/together.py RESULTS.json [network …]
"""

import json
import os
import platform
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from host import CLASSES, carried_out, images, study_of
from small_study import card

from decaf.models.precision import exact_float32
from tasks.cluster.fork_server import WORKER_MEMORY

TURNS = 3
WAYS = ("alone", "together")
NETWORKS: dict[str, tuple[str, dict[str, Any], int, int, int, int]] = {
    "small_cnn": ("factory:decaf.models.networks.small_cnn:build", {}, 2, 8, 64, 32),
    "small_vit": ("factory:decaf.models.networks.small_vit:build", {}, 2, 8, 64, 32),
    "resnet18": ("torchvision:resnet18", {"num_classes": CLASSES}, CLASSES, 3, 4, 224),
}
"""Architecture, its arguments, classes, models, sources of the block, side of its images."""


def measured(name: str) -> dict[str, Any]:
    """Rows per second of one network, by the way."""
    architecture, arguments, classes, count, sources, side = NETWORKS[name]
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        given = images(folder, sources, side)
        cards = [
            card(folder, f"{name}-{seed}", seed, architecture, arguments=arguments, input_size=side)
            for seed in range(count)
        ]
        for turn in range(TURNS + 1):
            for way, models_per_worker in zip(WAYS, (1, count), strict=True):
                study = study_of(
                    folder,
                    f"turn{turn}-{way}",
                    cards,
                    classes,
                    models_per_worker=models_per_worker,
                    sources_per_block=sources,
                    **given,
                )
                rows, steps = carried_out(study)
                seconds[way].append(steps["all"])
    speeds = {way: rows / statistics.median(taken[1:]) for way, taken in seconds.items()}
    return {
        "models": count,
        "rows_per_model": rows // count,
        "seconds": seconds,
        "rows_per_second": speeds,
        "ratio": speeds["together"] / speeds["alone"],
    }


def main() -> None:
    """Print a table, one network a row, and write the figures."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    exact_float32()
    torch.set_num_threads(1)
    found: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    print("| network | models | rows of each | alone, rows/s | together | ratio |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[2:] or NETWORKS:
        found[name] = one = measured(name)
        alone, together = one["rows_per_second"].values()
        print(
            f"| {name} | {one['models']} | {one['rows_per_model']} | {alone:,.0f} | "
            f"{together:,.0f} | {one['ratio']:.2f} |",
            flush=True,
        )
        Path(sys.argv[1]).write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    if not WORKER_MEMORY.items() <= os.environ.items():
        # An allocator reads its settings once, at the start of a process.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WORKER_MEMORY})
    main()
