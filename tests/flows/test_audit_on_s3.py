"""The whole audit with its warehouse on a real S3-compatible server."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from s3_server import CREDENTIALS, free_port, running

from warehouse.commits import receipts
from warehouse.commits.lock import study_lock
from warehouse.query.catalog import connect

pytestmark = pytest.mark.slow

DECAF = Path(sys.executable).parent / "decaf"
PATIENCE_SECONDS = 600
TABLES = {
    "core_trajectories": "model_id, pair_id, path, repetition",
    "core_profiles": "model_id, pair_id, path, repetition",
    "core_predictions": "model_id, image_id",
    "core_blocks": "model_id, block",
    "out_model_profiles": "model_id, pair_type, path",
}


@pytest.fixture(scope="module")
def server():
    with running() as server:
        server.make_bucket()
        yield server


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """What reaches the server, here and in the command line."""
    variables = {**CREDENTIALS, "DECAF_CACHE": str(tmp_path / "cache")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def succeeded(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_audit_on_s3_is_the_audit_in_a_folder(
    study, write, decaf, prefect_server, server, environment, tmp_path
):
    url = server.url("audit")
    study = {**study, "models": study["models"][:1]}
    # Workers get the credentials from the environment of the run that starts them.
    remote = {**study, "warehouse": url, "cluster": {"kind": "local", "workers": 1}}
    config = write(remote, "remote.yaml")
    everywhere = {**prefect_server, **environment}

    # A run that is killed as soon as something is committed holds nothing up.
    with subprocess.Popen(
        [DECAF, "run", str(config)], cwd=tmp_path, env={**os.environ, **everywhere}
    ) as flow:
        stop = time.monotonic() + PATIENCE_SECONDS
        while not receipts.keys(url, "units", "small"):
            assert time.monotonic() < stop, "the run did not get so far"
            assert flow.poll() is None, "the run ended too soon"
            time.sleep(0.02)
        flow.send_signal(signal.SIGKILL)
    printed = succeeded(decaf("run", config, **everywhere))
    assert "small_cnn" in printed
    assert f"decaf sql -w '{url}'" in printed

    again = succeeded(decaf("run", config, **environment, PREFECT_API_URL="http://127.0.0.1:9"))
    assert "nothing to do: all 20 units" in again
    local = write({**study, "warehouse": str(tmp_path / "local")}, "local.yaml")
    succeeded(decaf("run", local, **prefect_server))
    with connect(tmp_path / "local") as one, connect(url) as other:
        for table, order in TABLES.items():
            query = f"FROM {table} ORDER BY {order}"
            rows = one.sql(query).fetchall()
            assert rows
            assert rows == other.sql(query).fetchall(), table

    ask = ("-w", url)
    assert "finished" in succeeded(decaf("status", *ask, **environment))
    assert "pass" in succeeded(decaf("check", *ask, **environment))
    assert "before" in succeeded(decaf("compact", *ask, **environment))
    assert "delete" in succeeded(decaf("gc", "--older-than", 0, "--delete", *ask, **environment))
    counted = decaf("sql", "SELECT count(*) FROM core_profiles", *ask, **environment)
    assert "32" in succeeded(counted)
    assert "profiles.parquet" in succeeded(
        decaf("export", tmp_path / "copies", "profiles", *ask, **environment)
    )
    assert "nothing to explain" in succeeded(decaf("plan", config, "--explain", **environment))
    with study_lock(url, "small"):
        done = decaf("run", write({**remote, "epsilon": 0.2}), **everywhere)
        assert done.returncode == 2
        assert "is already being audited" in done.stderr


def test_a_warehouse_that_cannot_be_reached(study, write, decaf, server, environment):
    away = server.url("x", port=free_port())
    no_bucket = server.url("x", bucket="another-bucket")
    for words, command, url in (
        ("whether its server runs", "run", away),
        ("no such bucket; make", "plan", no_bucket),
        ("unknown protocol 's4'", "run", "s4://bucket/x"),
        ("whether its server runs", "status", away),
    ):
        given = ("-w", url) if command == "status" else (write({**study, "warehouse": url}),)
        done = decaf(command, *given, **environment)
        assert done.returncode == 2, done.stdout + done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("error: ") == 1
