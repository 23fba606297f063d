"""The demo on two workers of one Dask scheduler, which share one GPU or this machine's cores.

Run: python benchmarks/two_workers.py FOLDER [--device cuda]
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import yaml

from decaf.plan.study import load_study

DEMO = Path(__file__).parents[1] / "configs" / "scenes" / "demo.yaml"
DECAF = str(Path(sys.executable).parent / "decaf")
DASK = [sys.executable, "-m", "dask"]
KIND = {"cuda": ["cuda", "worker"], "cpu": ["worker"]}
SEES = {"cuda": {"CUDA_VISIBLE_DEVICES": "0"}, "cpu": {}}
"""dask-cuda gives every worker of one process another GPU, so each has a process of its own."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def main(given: argparse.Namespace) -> None:
    """Start a scheduler and two workers, run the demo on them, and end them."""
    given.folder.mkdir(parents=True)
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    study = json.loads(load_study(DEMO).model_dump_json(exclude_unset=True))
    own = {"workspace": "workspace", "warehouse": "warehouse", "report": "report.html"}
    cluster = {"kind": "address", "address": address}
    text = yaml.safe_dump(study | own | {"cluster": cluster, "device": given.device})
    (given.folder / "demo.yaml").write_text(text)
    scheduler = [*DASK, "scheduler", "--host", "127.0.0.1", "--port", str(port)]
    scheduler += ["--dashboard-address", "127.0.0.1:0"]
    worker = [*DASK, *KIND[given.device], address, "--nthreads", "1", "--no-dashboard"]
    sees = {**os.environ, **SEES[given.device]}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in (scheduler, worker, worker):
            started.append(subprocess.Popen(command, env=sees))
        subprocess.run([DECAF, "run", "demo.yaml"], cwd=given.folder, check=True)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=list(KIND), default="cpu")
    main(parser.parse_args())
