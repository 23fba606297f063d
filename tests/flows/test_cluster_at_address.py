"""A study on a scheduler at an address, whose workers come and go; the warehouse is on S3."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from ended_commands import succeeded
from running_command import results, wait_for
from s3_server import free_port
from warehouse_answers import fetched

from warehouse import storage
from warehouse.commits import receipts

pytestmark = pytest.mark.usefixtures("no_copies")

DASK = Path(sys.executable).parent / "dask"
BLOCKS = 10
SLOW = """
import time

def answer(rows):
    time.sleep(0.3)
    return rows.sum(axis=1)
"""


@contextmanager
def started(folder, *words):
    """A process of Dask in a folder of its own, with temporary files there."""
    folder.mkdir()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [DASK, *words, "--no-dashboard"], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def study(tmp_path):
    """One slow function of rows, one row a block."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "slow_rows.py").write_text(SLOW)
    rng = np.random.default_rng(0)
    for name in ("factual", "counterfactual"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(BLOCKS, 3)))
    files = {name: str(tmp_path / f"{name}.npy") for name in ("factual", "counterfactual")}
    model = {"id": "sums", "family": "rule", "source": "function"}
    return {
        "study": "small",
        "data": {"adapter": "arrays", **files},
        "models": [model | {"function": "slow_rows:answer", "output": "value"}],
        "score": {"kind": "regression_value"},
        "paths": {"blend": {"kind": "blend", "sigma": 0}},
        "epsilon": 0.001,
        "sources_per_block": 1,
        "python_path": [str(tmp_path / "code")],
        "workspace": str(tmp_path / "workspace"),
        "report": False,
    }


@pytest.mark.slow
def test_workers_come_and_go_and_the_tables_are_those_of_one_machine(
    study, write, decaf, start_decaf, prefect_server, s3, workers, tmp_path
):
    url, port = s3.url("cluster"), free_port()
    address = f"tcp://127.0.0.1:{port}"
    own = ("worker", address, "--nworkers", "1", "--nthreads", "1", "--memory-limit", "0")
    elsewhere = {**study, "warehouse": url, "cluster": {"kind": "address", "address": address}}

    def done():
        return len(receipts.keys(storage.open(url), "units", "small"))

    head = started(tmp_path / "head", "scheduler", "--host", "127.0.0.1", "--port", str(port))
    with head, started(tmp_path / "first", *own) as first:
        flow = start_decaf("run", write(elsewhere, "elsewhere.yaml"), **prefect_server)
        wait_for(lambda: done() >= 2, flow)
        first.terminate()
        first.wait()
        assert done() < BLOCKS
        with started(tmp_path / "second", *own):
            assert flow.wait() == 0, flow.communicate()

    here = {**study, "warehouse": str(tmp_path / "here"), "cluster": workers}
    succeeded(decaf("run", write(here, "here.yaml"), **prefect_server))
    assert results(tmp_path / "here") == results(url)
    assert len(fetched(url, "SELECT DISTINCT worker FROM stg_costs")) == 2
