"""Measure the cost of each step of a block, with a network that returns a constant.

Studies are planned like those of a command, and the tasks of one worker run in this process: ten
models score and commit the same block. Rows are forward rows. Seconds are processor time, so other
work on the machine and waits for the disk do not count. The seconds of a step are summed over all
models, including steps that models share. The first round is discarded, and the mean of the others
is shown. For comparison, plain ``torch.lerp`` and ``torch.where`` write the same number of rows
from ready tensors of the same sizes.
Run: python benchmarks/host.py RESULTS.json [case …]
"""

import functools
import json
import platform
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from scoring import keep_memory
from small_study import card

from decaf.models.precision import disable_tf32
from decaf.models.preprocessing import Preprocessing
from decaf.plan.study import Study
from decaf.reveal.gaussian.reference import GaussianReference
from decaf.reveal.gaussian.storage import save_reference
from decaf.scoring.planner import StatePlan
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.states import StateBuilder
from tasks.cluster.worker import load_model
from tasks.compute import fit
from tasks.inputs import store_pairs
from tasks.make_task import make_task
from tasks.plan import plan_audit
from tasks.units import predict, route, run_task, scan, score
from tasks.units.bench import Bench
from warehouse.commits.writer import open_root

MODELS, ROUNDS, PASSES, CLASSES = 10, 2, 4, 9
STEPS = {
    "read": [(Bench, "inputs"), (scan, "on_device")],
    "plan": [(scan, "state_plan")],
    "build": [(StateBuilder, "build")],
    "normalise": [(Preprocessing, "__call__")],
    "softmax": [(ClassProbability, "values")],
    "gather": [(StatePlan, "gather")],
    "rows": [(score, "trajectory_rows"), (predict, "prediction_rows")],
    "route": [(route, "profile_rows")],
    "commit": [(run_task, "commit")],
}
"""Functions whose seconds make up a step; none of them calls another one."""
PIXELS = ("build", "normalise")
"""Steps that touch every pixel of every state."""
BOOKS = ("plan", "gather", "rows", "route", "commit")
"""Steps that make rows of scores."""
PARTS = ("beside_pixels", "books", "plain")
"""Figures that are shown beside those of the steps."""
BLURRED = {
    "blend": {"kind": "blend"},
    "patch_a": {"kind": "patches", "order": "A"},
    "patch_b": {"kind": "patches", "order": "B"},
}


def images(folder: Path, sources: int, side: int) -> dict[str, Any]:
    """Pairs as in ImageNet-9: an image against two others, of random pixels."""
    return {"data": pairs(folder, sources, (side, side, 3), np.uint8), "paths": BLURRED}


def gaussian(folder: Path, sources: int, side: int) -> dict[str, Any]:
    """The same under the Gaussian reveal, from a written reference: fitting one takes minutes."""
    size = 3 * side**2
    reference = GaussianReference(
        mean=np.full(size, 0.5),
        eigenvalues=np.full(size, 0.01),
        eigenvectors=np.eye(size),
        variances=np.full(size, 0.01),
        shape=(3, side, side),
    )
    save_reference(reference, folder / "reference.safetensors")
    path = {"kind": "gaussian", "reference": str(folder / "reference.safetensors")}
    return {"data": pairs(folder, sources, (side, side, 3), np.uint8), "paths": {"cmmr": path}}


def table(folder: Path, sources: int, columns: int) -> dict[str, Any]:
    """Rows of a table against two others."""
    path = {"kind": "blend", "sigma": 0}
    return {"data": pairs(folder, sources, (columns,), np.float32), "paths": {"blend": path}}


def pairs(folder: Path, sources: int, shape: tuple[int, ...], dtype: type) -> dict[str, Any]:
    """Arrays of random inputs, two pairs a source that have the factual input in common."""
    drawn = np.random.default_rng(0).integers(0, 256, (3, sources, *shape)).astype(dtype)
    np.save(folder / "factual.npy", np.repeat(drawn[0], 2, axis=0))
    np.save(folder / "counterfactual.npy", drawn[1:].swapaxes(0, 1).reshape(-1, *shape))
    np.save(folder / "source.npy", np.repeat(np.arange(sources), 2))
    files = {name: f"{folder}/{name}.npy" for name in ("factual", "counterfactual", "source")}
    return {"adapter": "arrays", **files}


def removal(folder: Path, sources: int, side: int) -> dict[str, Any]:
    """Images without each of the sixteen cells of a grid."""
    (folder / "images").mkdir()
    levels = np.random.default_rng(0).integers(1, 256, (sources, side, side, 3), dtype=np.uint8)
    for number, pixels in enumerate(levels):
        Image.fromarray(pixels).save(folder / "images" / f"{number:04}.png")
    features = {"kind": "grid", "side": 4}
    data = {"adapter": "image_features", "images": f"{folder}/images", "features": features}
    return {"data": data, "paths": {"removal": {"kind": "removal"}}}


CASES: dict[str, tuple[Callable[..., dict[str, Any]], int, int, int]] = {
    "blend and two patch orders, 224 px": (images, 32, 224, 64),
    "blend and two patch orders, 32 px": (images, 128, 32, 64),
    "Gaussian, three draws, 32 px": (gaussian, 64, 32, 64),
    "removal of 16 features, 224 px": (removal, 8, 224, 64),
    "table of 54 columns": (table, 512, 54, 1024),
    "table of 54 columns, blocks of 8,192 rows": (table, 8192, 54, 1024),
}
"""By case: function that makes its study, number of sources, side of images or number of columns,
and rows of a batch."""


def measure_case(name: str, folder: Path) -> dict[str, Any]:
    """Figures of one case."""
    make, sources, size, batch = CASES[name]
    study_settings = make(folder, sources, size)
    is_table = make is table
    layout = "contiguous" if is_table else "channels_last"
    channels = (0.5,) if is_table else (0.485, 0.456, 0.406)
    settings = {
        "mean": channels,
        "std": channels,
        "arguments": {"classes": CLASSES},
        "input_size": None,
        "memory_format": layout,
    }
    cards = [
        card(folder, f"constant-{number}", 0, "factory:constant:build", **settings)
        for number in range(MODELS)
    ]
    shape = (size,) if is_table else (3, size, size)
    rounds = []
    for number in range(ROUNDS + 1):
        study = study_of(
            *(folder, f"round{number}", cards, CLASSES),
            batch_size=batch,
            sources_per_block=sources,
            **study_settings,
        )
        rounds.append((*carried_out(study), plain((batch, *shape), study_settings["paths"])))
    rows, bare = rounds[0][0], statistics.fmean(seconds for *_, seconds in rounds[1:])
    steps = {
        step: statistics.fmean(seconds[step] for _, seconds, _ in rounds[1:])
        for step in rounds[0][1]
    }
    beside = steps["all"] - sum(steps[step] for step in PIXELS)
    return {
        "rows_per_model": rows // MODELS,
        "rows_per_second": {step: rows / seconds for step, seconds in steps.items()},
        "plain_rows_per_second": 1 / bare,
        "build_over_plain": steps["build"] / rows / bare,
        "beside_pixels_rows_per_second": rows / beside,
        "books_rows_per_second": rows / sum(steps[step] for step in BOOKS),
    }


def study_of(
    folder: Path, name: str, cards: list[dict[str, Any]], classes: int, **settings: Any
) -> Study:
    """Study of classifiers with weights and results in a folder."""
    study_settings = {
        "models": [card | {"weights": f"{folder}/{card['weights']}"} for card in cards],
        "score": {"kind": "class_probability", "classes": classes},
        "device": "cpu",
        "workspace": folder / "workspace",
        "warehouse": str(folder / "warehouse"),
        "report": False,
    }
    return Study(study=name, **study_settings | settings)


def carried_out(study: Study) -> tuple[int, dict[str, float]]:
    """Forward rows of all tasks of a study of one block, and the seconds of every step."""
    open_root(study.warehouse)
    plan = plan_audit(study, study.pair_set())
    inputs = store_pairs(study, plan.pairs)
    fit(plan, inputs)
    work = [make_task(plan, *groups, inputs, None) for groups in plan.work.by_model.values()]
    TAKEN.clear()
    started, rows = time.process_time(), 0
    for task in work:
        # Not counted: a worker keeps its model over the blocks of it.
        TAKEN["load"] -= time.process_time()
        load_model(task.model)
        TAKEN["load"] += time.process_time()
        rows += run_task.run_task(task).forward_rows
    seconds = {step: TAKEN[step] for step in STEPS}
    total = time.process_time() - started - TAKEN["load"]
    return rows, seconds | {"other": total - sum(seconds.values()), "all": total}


def plain(shape: tuple[int, ...], paths: dict[str, dict[str, Any]]) -> float:
    """Seconds a row of torch alone, for ready tensors of a batch (n, …)."""
    start, clean, target = torch.rand(3, *shape).unbind()
    stage = torch.rand(shape[0], *[1] * (len(shape) - 1))
    seconds = 0.0
    for path in paths.values():
        if path["kind"] == "patches":
            cells = torch.rand(shape[0], 1, 8, 8) < 0.5
            shown = cells.repeat_interleave(shape[2] // 8, 2).repeat_interleave(shape[3] // 8, 3)
            write = functools.partial(torch.where, shown, clean, start, out=target)
        else:
            write = functools.partial(torch.lerp, start, clean, stage, out=target)
        began = time.process_time()
        for _ in range(PASSES):
            write()
        seconds += time.process_time() - began
    return seconds / (shape[0] * PASSES * len(paths))


TAKEN: Counter[str] = Counter()
"""Seconds of every step so far."""


def watch() -> None:
    """Add timers to the functions of every step."""
    for step, functions in STEPS.items():
        for place, name in functions:
            setattr(place, name, add_timer(step, getattr(place, name)))


def add_timer(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its seconds count for a step."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            TAKEN[step] += time.process_time() - began

    return call


def main() -> None:
    """Print a table, one case a row, and write the figures."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    disable_tf32()
    torch.set_num_threads(1)
    watch()
    print(f"{platform.machine()}, torch {torch.__version__}, Python {platform.python_version()}")
    columns = ("case", "rows", *STEPS, "other", "all", "beside pixels", "books", "plain")
    print(f"| {' | '.join(columns)} | build / plain |")
    print(f"|{'---|' * (len(columns) + 1)}")
    results, figures = Path(sys.argv[1]), {}
    for name in sys.argv[2:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = case = measure_case(name, Path(folder))
        speeds = [
            *case["rows_per_second"].values(),
            *(case[f"{part}_rows_per_second"] for part in PARTS),
        ]
        shown = " | ".join(f"{speed:,.0f}" for speed in speeds)
        print(f"| {name} | {case['rows_per_model']} | {shown} | {case['build_over_plain']:.2f} |")
        results.write_text(f"{json.dumps(figures, indent=1)}\n")


if __name__ == "__main__":
    keep_memory()
    main()
