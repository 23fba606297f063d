"""A small study with untrained networks, the real command line, and one Prefect server."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import torch
import yaml

from decaf import architectures
from decaf.models.checkpoint import save

DECAF = Path(sys.executable).parent / "decaf"
NETWORKS = Path(__file__).parent / "networks"
SERVER_SECONDS = 120


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory):
    """Environment with a real server on loopback, so that flows need not start their own."""
    home = tmp_path_factory.mktemp("prefect")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    command = [
        Path(sys.executable).parent / "prefect",
        *("server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"),
    ]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(f"http://127.0.0.1:{port}/api/health", server)
        yield {**environment, "PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait(url, server):
    stop = time.monotonic() + SERVER_SECONDS
    while time.monotonic() < stop:
        assert server.poll() is None, "the Prefect server ended"
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"no Prefect server at {url} after {SERVER_SECONDS} s")


@pytest.fixture
def study(tmp_path):
    """Settings of a study of two untrained networks on eight scenes; write it with `write`."""
    models = []
    for seed, name in enumerate(["small_cnn", "small_vit"]):
        architecture = f"factory:decaf.networks.{name}:build"
        torch.manual_seed(seed)
        network = architectures.build(architecture, {})
        weights = tmp_path / f"{name}.safetensors"
        save(network, weights, {})
        models.append(
            {
                "id": name,
                "family": name,
                "architecture": architecture,
                "weights": str(weights),
                "input_size": 32,
                "mean": [0.5, 0.5, 0.5],
                "std": [0.5, 0.5, 0.5],
            }
        )
    return {
        "study": "small",
        "data": {"adapter": "scenes", "sources": 8, "seed": 1},
        "models": models,
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {
            "blend": {"kind": "blend", "sigma": 1.15},
            "patch": {"kind": "patches", "sigma": 1.15},
        },
        "epsilon": 0.001,
        "sources_per_shard": 2,
        "cluster": {"kind": "local", "workers": 1},
        "workspace": str(tmp_path / "workspace"),
        "warehouse": str(tmp_path / "warehouse"),
        "report": str(tmp_path / "report.html"),
        "python_path": [str(NETWORKS)],
    }


@pytest.fixture
def write(tmp_path):
    """Write settings to a YAML file and give its path."""

    def written(settings, name="study.yaml"):
        path = tmp_path / name
        path.write_text(yaml.safe_dump(settings, sort_keys=False))
        return path

    return written


@pytest.fixture
def decaf(tmp_path):
    """Run the command line in an empty folder: decaf(*arguments, **environment)."""

    def command(*arguments, **environment):
        return subprocess.run(
            [DECAF, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return command
