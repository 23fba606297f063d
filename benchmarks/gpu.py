"""Runs every part that a GPU is asked for, each within its own minutes, and writes their figures.

The parts are the CUDA tests, scoring beside a bare loop, a worker beside it, the controlled
trainings, the demo on two workers that share one GPU, and the cost of attributions, DINOv2 ViT-g/14
first. A part that fails or takes too long is named with the end of what it printed; the others go
on. ``gpu.json`` has the machine and every part, ``gpu.md`` the tables, both beside this file;
attributions go to their own ``attribution.json`` and page. ``--device cpu`` tries the parts, and
writes to FOLDER alone.
Run: bash benchmarks/gpu.sh [FOLDER], or python benchmarks/gpu.py FOLDER [--device cpu]
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import torch

HERE = Path(__file__).parent
PROJECT = HERE.parent
MINUTES = {  # of each network's attributions
    "cuda": {
        "dinov2_vitg14": 3,
        "dinov2_vitl14": 1,
        "dinov2_vitb14": 1,
        "dinov2_vits14": 1,
        "resnet50": 1,
        "vgg16": 1,
        "vit_b_16": 1,
    },
    "cpu": {"resnet50": 15},
}
SCENES = {"cuda": "60000", "cpu": "1000"}
PRINTED = 2_000
"""Characters of the end of what a failed part printed."""


class Part(NamedTuple):
    """One command, and how long it may take."""

    name: str
    arguments: list[str]
    """Of this Python."""
    minutes: float
    figures: Path | None = None
    """The file with its figures, once it has ended."""


def parts(folder: Path, device: str) -> list[Part]:
    """What is run, in this order; 20 minutes at most on a GPU."""

    def benchmark(name: str, *arguments: str) -> list[str]:
        return [str(HERE / f"{name}.py"), *arguments, "--device", device]

    tests, scoring, training = (
        folder / name for name in ("tests.xml", "scoring.json", "training.json")
    )
    costs = HERE / "attribution.json", PROJECT / "docs" / "results" / "attribution_cost.md"
    if device == "cpu":
        costs = folder / "attribution.json", folder / "attribution_cost.md"
    pytest = ["-m", "pytest", "-q", "-m", "cuda", f"--junit-xml={tests}", str(PROJECT / "tests")]
    scenes = [str(folder / "training"), str(training), "--scenes", SCENES[device]]
    found = [
        Part("tests", pytest, 3, tests),
        Part("scoring", benchmark("scoring", "--results", str(scoring)), 2, scoring),
        Part("training", benchmark("training", *scenes), 3, training),
        Part("two_workers", benchmark("two_workers", str(folder / "two_workers")), 2),
    ]
    for network, minutes in MINUTES[device].items():
        arguments = benchmark("attribution", *map(str, costs), "--networks", network)
        found.append(Part(f"attribution_{network}", arguments, minutes))
    return found


def ran(part: Part, folder: Path) -> dict[str, Any]:
    """Run a part; how it ended, how long it took, and its figures."""
    log = folder / f"{part.name}.log"
    began = time.perf_counter()
    with log.open("w") as output:
        command = [sys.executable, *part.arguments]
        run = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        try:
            ended = str(run.wait(60 * part.minutes))
        except subprocess.TimeoutExpired:
            ended = f"stopped after {part.minutes} minutes"
            os.killpg(run.pid, signal.SIGKILL)  # with the workers that it started
            run.wait()
    found: dict[str, Any] = {"ended": ended, "seconds": round(time.perf_counter() - began, 1)}
    if ended != "0":
        found["printed"] = log.read_text()[-PRINTED:]
    if part.figures is not None and part.figures.exists():
        found["figures"] = figures_of(part.figures)
    return found


def figures_of(file: Path) -> dict[str, dict[str, Any]]:
    """Rows of a benchmark's JSON, or the counts of a test run as one row."""
    if file.suffix == ".json":
        figures: dict[str, dict[str, Any]] = json.loads(file.read_text())
        return figures
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite is not None
    counts = ("tests", "failures", "errors", "skipped")
    return {"all": {name: int(suite.get(name, 0)) for name in counts}}


def page(found: dict[str, Any]) -> str:
    """The machine, how each part ended, and the table of each that has figures."""
    lines = ["# One GPU", "", "Written by `benchmarks/gpu.sh`; run it again instead of editing."]
    lines += ["", ", ".join(f"{name} {value}" for name, value in found["machine"].items())]
    lines += table("part", found["parts"], ["ended", "seconds"])
    for name, part in found["parts"].items():
        if rows := part.get("figures"):
            titles = dict.fromkeys(title for row in rows.values() for title in row)
            lines += ["", f"## {name}", *table("of", rows, list(titles))]
    return "\n".join(lines) + "\n"


def table(first: str, rows: dict[str, dict[str, Any]], titles: list[str]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["", f"| {' | '.join([first, *titles])} |", f"|---|{'---|' * len(titles)}"]
    for name, row in rows.items():
        cells = [row.get(title, "") for title in titles]
        written = [f"{cell:,.3f}" if isinstance(cell, float) else str(cell) for cell in cells]
        lines.append(f"| {' | '.join([name, *written])} |")
    return lines


def machine(device: str) -> dict[str, str]:
    """What the figures are of."""
    about = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.machine(),
        "cores": str(os.cpu_count()),
        "torch": torch.__version__,
        "Python": platform.python_version(),
    }
    if device == "cuda":
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        about["driver"] = subprocess.check_output(query, text=True).split()[0]
    return about


def main(given: argparse.Namespace) -> int:
    """Run all parts; 1 when one of them did not end well."""
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no GPU here; --device cpu tries the parts without one")
    folder = given.folder.absolute()
    if folder.exists():
        sys.exit(f"{folder} is there already; name a new folder")
    folder.mkdir(parents=True)
    beside = HERE if given.device == "cuda" else folder
    found: dict[str, Any] = {"machine": machine(given.device), "parts": {}}
    for part in parts(folder, given.device):
        print(f"{part.name}, at most {part.minutes} minutes", flush=True)
        found["parts"][part.name] = ran(part, folder)
        (beside / "gpu.json").write_text(f"{json.dumps(found, indent=1)}\n")
        (beside / "gpu.md").write_text(page(found))
    print(page(found))
    return int(any(part["ended"] != "0" for part in found["parts"].values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=list(MINUTES), default="cuda")
    sys.exit(main(parser.parse_args()))
