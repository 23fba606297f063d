"""The base suite of scenes on a worker: what is spent in the network, and what models share.

Real ``decaf run`` processes with one worker score pairs of all six factors on three Gaussian paths
with untrained networks, the paper's ResNet-18 unless a width is given, which note the rows and
seconds of their forward passes. One model is audited, then again with one more geometry, and in a
folder of their own five models. The share of the network is of the time from the start of the
first block to the end of the last. A smoke test of one row a model is no part of any figure.
Run: python benchmarks/scenes.py FOLDER RESULTS.json [--sources N] [--width W] [--device cuda]
"""

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

import torch
from commands import command
from small_study import card, write_study

from decaf.plan.study import load_study
from warehouse.query.catalog import connect

BASE = Path(__file__).parents[1] / "configs" / "scenes" / "base_paper.yaml"
PATHS, ADDED = ("cmmr", "lambda_050", "pixel"), "lambda_025"
MODELS, BATCH, BLOCKS = 5, 256, 2


def study(folder: Path, models: int, paths: tuple[str, ...], given: argparse.Namespace) -> None:
    """The paper's study with fewer sources, all revealed, and these geometries."""
    paper = json.loads(load_study(BASE).model_dump_json(exclude_unset=True))
    network = {"arguments": {"width": given.width}, "input_size": 32}
    cards = [
        card(folder, f"net_{n}", n, "factory:timed_resnet:Timed", **network) for n in range(models)
    ]
    kept = {
        "data": paper["data"] | {"sources": given.sources, "dynamic": given.sources},
        "paths": {name: paper["paths"][name] for name in paths},
        "device": given.device,
        "cluster": {"kind": "local", "workers": 1, "threads": 1},
        "sources_per_block": -(-given.sources // BLOCKS),
        "batch_size": BATCH,
        "report": False,
    }
    write_study(folder, cards, **{name: paper[name] for name in ("score", "stages")} | kept)


def run(folder: Path) -> dict[str, Any]:
    """One ``decaf run``: what its new commits cost, beside what its networks and planner noted."""
    known = {scan["commit_key"] for scan in scans(folder)}
    log = folder / "work.log"
    log.unlink(missing_ok=True)
    os.environ["WORK_LOG"] = str(log)
    wall, _ = command(folder)
    new = [scan for scan in scans(folder) if scan["commit_key"] not in known]
    models = {scan["model_id"] for scan in new}
    noted: dict[str, list[tuple[int, float, int]]] = {"network": [], "plan": []}
    for line in log.read_text().splitlines():
        kind, rows, seconds, size = line.split()
        noted[kind].append((int(rows), float(seconds), int(size)))
    passes, plans = noted["network"][len(models) :], noted["plan"]  # smoke tests come first
    in_scans = sum(scan["wall_seconds"] for scan in new)
    span = new[-1]["started"] + new[-1]["wall_seconds"] - new[0]["started"]
    in_network = sum(seconds for _, seconds, _ in passes)
    starts = (folder / "workspace" / "fitted").glob("starts-*.npy")
    return {
        "models": len(models),
        "blocks": len({scan["block"] for scan in new}),
        "rows_of_cost_rows": sum(scan["forward_rows"] for scan in new),
        "rows_of_networks": sum(rows for rows, _, _ in passes),
        "rows_per_second": sum(rows for rows, _, _ in passes) / span,
        "share_in_network": in_network / span,
        "seconds": {
            "command": wall,
            "first_to_last_block": span,
            "scans": in_scans,
            "networks": in_network,
            "planning_and_building": sum(scan["build_seconds"] for scan in new),
        },
        "plans": {
            "made": len(plans),
            "states": sum(states for states, _, _ in plans),
            "seconds": sum(seconds for _, seconds, _ in plans),
            "bytes": sum(size for _, _, size in plans),
        },
        "files_of_noise": {file.name: file.stat().st_mtime_ns for file in starts},
    }


def scans(folder: Path) -> list[dict[str, Any]]:
    """Scans of the study's blocks so far, the first one first."""
    if not (folder / "warehouse").exists():
        return []
    with connect(folder / "warehouse") as connection:
        found = connection.sql(
            "SELECT commit_key, model_id, block, forward_rows, build_seconds, wall_seconds, "
            "epoch(started_at) AS started FROM out_block_costs ORDER BY started"
        )
        return found.to_arrow_table().to_pylist()


def main(given: argparse.Namespace) -> None:
    """Write all figures, and print them."""
    os.environ["PREFECT_HOME"] = str(given.folder.absolute() / "prefect")
    one, five = given.folder.absolute() / "one", given.folder.absolute() / "five"
    for folder in (one, five):
        folder.mkdir(parents=True)
    study(one, 1, PATHS, given)
    found = {"one model": run(one)}
    study(one, 1, (*PATHS, ADDED), given)
    found["one more geometry"] = run(one)
    study(five, MODELS, PATHS, given)
    found["five models"] = run(five)
    drawn = [figures.pop("files_of_noise") for figures in found.values()]
    about = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}",
        "device": torch.cuda.get_device_name() if given.device == "cuda" else "cpu, one thread",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "network": f"resnet18_cifar, width {given.width}",
        "sources": given.sources,
        "batch": BATCH,
        "paths": PATHS,
        "added": ADDED,
    }
    about["files_of_noise"] = {
        "one model": len(drawn[0]),
        "one more geometry": len(drawn[1]),
        "of these as they were": len(drawn[0].items() & drawn[1].items()),
        "five models": len(drawn[2]),
        "of these those of one model": len(drawn[0].keys() & drawn[2].keys()),
    }
    text = json.dumps(about | found, indent=1)
    given.results.write_text(f"{text}\n")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    main(parser.parse_args())
