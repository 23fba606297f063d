"""A real MLflow server on loopback, with SQLite and a folder of artefacts, and what fills it."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import httpx
import pytest
from running_command import wait_for
from s3_server import free_port

OWN_VARIABLE = "DECAF_MLFLOW"
"""Names an `mlflow` command of another environment, where there is none beside this Python."""


FULL_VARIABLE = "DECAF_MLFLOW_PYTHON"
"""Names the interpreter of an environment with all of MLflow 3, not with mlflow-skinny."""


def mlflow_command():
    """Path of the command; skips the test, with the reason, if it is missing."""
    beside = Path(sys.executable).parent / "mlflow"
    found = os.environ.get(OWN_VARIABLE) or (str(beside) if beside.exists() else None)
    if not found or not shutil.which(found):
        pytest.skip(f"no mlflow command here; install it, or name one in {OWN_VARIABLE}")
    return found


def mlflow_python():
    """Interpreter of an environment with MLflow's full package, or a skip that says what to do."""
    if found := os.environ.get(FULL_VARIABLE):
        return found
    try:
        version("mlflow")  # not that of mlflow-skinny
    except PackageNotFoundError:
        pytest.skip(f"{FULL_VARIABLE} is not set: no full MLflow 3 here (make test-mlflow)")
    return sys.executable


@contextmanager
def mlflow_server(folder, *command, **variables):
    """Serve until the block ends; yields a :class:`Registered`. Skips where there is no command."""
    command = command or (mlflow_command(),)
    port = free_port()
    arguments = [
        *("server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--artifacts-destination", str(folder / "artefacts")),
        "--gunicorn-opts=--timeout=120",  # of the two ways to serve, the one with fewer packages
    ]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    environment = {**os.environ, **quiet, "DO_NOT_TRACK": "1", **variables}
    environment.pop("PYTHONPATH", None)
    with (folder / "mlflow.log").open("w") as log:
        output = {"stdout": log, "stderr": subprocess.STDOUT, "start_new_session": True}
        command = [*command, *arguments]
        server = subprocess.Popen(command, env=environment, cwd=folder, **output)
    registered = Registered(f"http://127.0.0.1:{port}")
    try:
        wait_for(registered.answers, server)
        yield registered
    finally:
        registered.close()
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


class Registered:
    """Registered models, through the server's own interface."""

    def __init__(self, uri):
        self.uri = uri
        self._client = httpx.Client(base_url=uri, timeout=60, trust_env=False)

    def close(self):
        self._client.close()

    def answers(self):
        with suppress(httpx.HTTPError):
            return self._client.get("/health").status_code == 200
        return False

    def ask(self, path, method="POST", **content):
        answer = self._client.request(method, f"/api/2.0/mlflow/{path}", json=content)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def add(self, name, folder, files=None):
        """Log the files of a folder under a run, and register them as the next version."""
        known = self.ask("registered-models/search", "GET").get("registered_models", [])
        if name not in [model["name"] for model in known]:
            self.ask("registered-models/create", name=name)
        run = self.ask("runs/create", experiment_id="0", start_time=0)["run"]["info"]
        source = f"{run['artifact_uri']}/model"
        path = source.removeprefix("mlflow-artifacts:/")
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            if files is None or file.name in files:
                url = f"/api/2.0/mlflow-artifacts/artifacts/{path}/{file.relative_to(folder)}"
                assert self._client.put(url, content=file.read_bytes()).status_code == 200
        made = self.ask("model-versions/create", name=name, source=source, run_id=run["run_id"])
        return made["model_version"]["version"]

    def alias(self, name, alias, version):
        self.ask("registered-models/alias", name=name, alias=alias, version=version)

    def delete(self, name):
        self.ask("registered-models/delete", "DELETE", name=name)
