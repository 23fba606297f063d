"""A small study with untrained networks, the real command line, and one Prefect server."""

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from importlib.metadata import version
from uuid import uuid4

import pytest
import torch
import yaml
from prefect_server import PrefectServer
from registry_folder import NETWORKS
from small_studies import untrained
from warm_command import COMMAND_SECONDS, DECAF, WIDE, WarmCommand

from decaf.models.checkpoint import save
from decaf.plan.cluster import LocalWorkers
from tasks.cluster.workers import connect
from warehouse.storage.cache import cache_folder

UNUSED_DATABASE = cache_folder() / "test_prefect" / f"{version('prefect')}.db"
"""Database of a server that has run nothing: to make its tables takes seconds of a core."""


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory):
    """Environment with a real server on loopback, which keeps the runs of all flows."""
    home = tmp_path_factory.mktemp("prefect")
    environment = {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        if UNUSED_DATABASE.exists():
            copy_database(UNUSED_DATABASE, home / "prefect.db")
        server = PrefectServer()
    try:
        server.wait()
        keep_unused_database(home / "prefect.db")
        yield {**environment, "PREFECT_API_URL": server.url}
    finally:
        server.stop()


def keep_unused_database(database):
    """Keep a database with its tables for later servers, unless there is one."""
    if not UNUSED_DATABASE.exists():
        UNUSED_DATABASE.parent.mkdir(parents=True, exist_ok=True)
        unfinished = UNUSED_DATABASE.with_suffix(f".{uuid4().hex}")
        copy_database(database, unfinished)
        unfinished.replace(UNUSED_DATABASE)


@pytest.fixture
def prefect_home(prefect_server, tmp_path):
    """A folder for another server, whose database has its tables."""
    home = tmp_path / "prefect"
    home.mkdir()
    copy_database(UNUSED_DATABASE, home / "prefect.db")
    return home


def copy_database(source, target):
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


@pytest.fixture(scope="session")
def workers():
    """Settings of a cluster of one worker that is there already, so that no run waits for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")  # servers of tests are on loopback
        with connect(LocalWorkers(workers=1)) as client:
            yield {"kind": "address", "address": client.scheduler.address}


def use_workers(study, workers):
    """Have the file of a study use workers that are there, so that none are started for it."""
    lines = study.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("cluster:")]
    study.write_text("\n".join([f"cluster: {json.dumps(workers)}", *kept, ""]))


@pytest.fixture
def study(tmp_path, workers):
    """Settings of a study of two untrained networks on eight scenes; write it with `write`."""
    own = {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}
    models = []
    for seed, name in enumerate(["small_cnn", "small_vit"]):
        own |= {"family": name, "architecture": f"factory:decaf.models.networks.{name}:build"}
        models.append(untrained(tmp_path, name, seed, **own))
    return {
        "study": "small",
        "data": {"adapter": "shapes3d", "sources": 8, "seed": 1},
        "models": models,
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {
            "blend": {"kind": "blend", "sigma": 1.15},
            "patch": {"kind": "patches", "sigma": 1.15},
        },
        "epsilon": 0.001,
        "sources_per_block": 2,
        "cluster": workers,
        "workspace": str(tmp_path / "workspace"),
        "warehouse": str(tmp_path / "warehouse"),
        "report": False,
        "python_path": [str(NETWORKS)],
    }


@pytest.fixture
def photo_study(study, photo_root, tmp_path):
    """The small study over nine made-up photos and a nine-way network."""
    (tmp_path / "map.json").write_text(json.dumps({str(i): i for i in range(9)}))
    torch.manual_seed(0)
    layers = torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 9)
    save(torch.nn.Sequential(*layers), tmp_path / "pool.safetensors", {})
    model = {
        **study["models"][0],
        "id": "pool",
        "architecture": "factory:pool:build",
        "weights": str(tmp_path / "pool.safetensors"),
        "input_size": 224,
    }
    return {
        **study,
        "data": {"adapter": "imagenet9", "root": str(photo_root)},
        "models": [model],
        "score": {"kind": "superclass_probability", "class_map": str(tmp_path / "map.json")},
    }


@pytest.fixture
def write(tmp_path):
    """Write settings to a YAML file and give its path."""

    def written(settings, name="study.yaml"):
        path = tmp_path / name
        path.write_text(yaml.safe_dump(settings, sort_keys=False))
        return path

    return written


@pytest.fixture(scope="session")
def warm_command():
    """Process from which all commands of a session are forked."""
    started = WarmCommand()
    yield started
    started.close()


@pytest.fixture
def start_decaf(tmp_path, warm_command):
    """Begin a command in an empty folder: start_decaf(*arguments, **environment)."""
    started = []

    def command(*arguments, **environment):
        started.append(warm_command.start(arguments, tmp_path, environment))
        return started[-1]

    yield command
    for each in started:
        if each.poll() is None:
            each.send_signal(signal.SIGKILL)
            each.wait()


@pytest.fixture
def decaf(start_decaf):
    """Run the command line in an empty folder: decaf(*arguments, **environment)."""
    return lambda *arguments, **environment: start_decaf(*arguments, **environment).completed()


@pytest.fixture
def fresh_decaf(tmp_path):
    """Run the command line as `decaf` does, in a fresh interpreter."""

    def command(*arguments, **environment):
        return subprocess.run(
            [DECAF, *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | WIDE | environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    return command
