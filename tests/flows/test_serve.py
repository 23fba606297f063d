"""A registry, re-audited by `decaf serve` on a short cron, with a kill of each process between.

The server asks for credentials, as one should that other machines can reach.
"""

import base64
import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest
from ended_commands import refused
from mlflow_server import mlflow_python, mlflow_server
from registry_folder import put
from running_command import PATIENCE_SECONDS, wait_for
from s3_server import free_port
from warehouse_answers import fetched
from warm_command import DECAF
from webhooks import BODY, SECRET, asked, signed

from flows.scheduling import listening as hearing
from flows.scheduling import processes
from flows.scheduling.schedules import CREDENTIALS, Schedules
from flows.scheduling.service import ADDRESS
from flows.scheduling.serving import SERVER_CREDENTIALS
from warehouse.query.catalog import connect

until = partial(wait_for, seconds=0.5)
"""Every look costs the server, or opens a warehouse."""
ENDED = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]
PAGE = Path(__file__).parents[2] / "docs" / "schedules.md"
TELLING = {
    "MLFLOW_WEBHOOK_ALLOWED_SCHEMES": "http,https",
    "MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS": "true",
    "MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY": base64.urlsafe_b64encode(bytes(32)).decode(),
    "MLFLOW_WEBHOOK_CACHE_TTL": "1",
}
"""What an MLflow server needs to post to this machine, and soon after it is told where."""


USER, PASSWORD = "auditor", "not the default"


@pytest.fixture
def served(prefect_home, decaf, tmp_path, monkeypatch):
    """Environment of one service, its address, and a way to start it."""
    port = free_port()
    environment = {
        **os.environ,
        "PREFECT_HOME": str(prefect_home),
        "PREFECT_SERVER_UI_ENABLED": "false",  # a thousand files to copy
        "NO_PROXY": "127.0.0.1",
        "COLUMNS": "200",
    }
    environment.pop("PREFECT_API_URL", None)
    monkeypatch.setenv(CREDENTIALS, f"{USER}:{PASSWORD}")  # for the asking of this test
    allowed = {CREDENTIALS: f"{USER}:{PASSWORD}"}
    served_to = {SERVER_CREDENTIALS: f"{USER}:{PASSWORD}"}

    class Served:
        server = Schedules(f"http://127.0.0.1:{port}/api")
        address = f"http://127.0.0.1:{port}/api"
        variables = environment

        @contextmanager
        def __call__(self, *words, credentials=served_to, **options):
            command = [DECAF, "serve", "--port", str(port), *words]
            given = environment | credentials
            with subprocess.Popen(command, cwd=tmp_path, env=given, **options) as service:
                try:
                    until(self.server.is_up, service)
                    yield service
                finally:
                    service.send_signal(signal.SIGTERM)

        def decaf(self, *words, **variables):
            return decaf("schedule", *words, **environment | allowed | variables)

        def at(self, host):
            """Variables of a command that asks the service at another address."""
            return {ADDRESS: f"http://{host}:{port}/api", "NO_PROXY": host}

        def left(self):
            """Processes of the service that are there."""
            return [p for p in psutil.process_iter() if processes._is_marked(p, self.mark)]

        mark = {processes.SERVE: str(prefect_home)}

    made = Served()
    with made.server:
        yield made
    processes.end(made.mark)


@pytest.fixture
def heard_at(served, monkeypatch):
    """Where `decaf serve --listen` listens, with a secret."""
    monkeypatch.setitem(served.variables, hearing.SECRET, SECRET)
    return f"127.0.0.1:{free_port()}"


def child(service, word):
    """The process of a service with this word in its command, once it is there."""

    def found():
        for process in psutil.Process(service.pid).children(recursive=True):
            try:
                if word in process.cmdline():
                    return process
            except psutil.NoSuchProcess:
                continue
        return None

    return until(found, service)


@pytest.mark.slow
def test_a_registry_on_a_schedule_with_kills(served, heard_at, study, write, tmp_path):
    """Changed entries are audited in spite of killed processes, and no process remains."""
    zoo = tmp_path / "zoo"
    put(zoo / "net" / "1", seed=0)
    settings = {**study, "models": [], "paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
    settings["registry"] = {"kind": "folder", "root": str(zoo), "trusted": ["leaning"]}
    settings["gates"] = {"evidence": {"increase": 0.02, "pair_type": "wall_hue"}}
    settings["gates"]["endpoint_magnitude"] = {
        "at_most": 0.95
    }  # which applies to a first version, too
    refused(served.decaf("list"), "decaf serve is not running")

    with served("--listen", heard_at) as service:
        refused(served.decaf("list", **{CREDENTIALS: f"{USER}:guessed"}), "refuses (401)")
        for host in outside():
            refused(served.decaf("list", **served.at(host)), "no Prefect server at")
        add = ("add", write(settings), "--cron", "0 3 * * *", "--on-change")
        until(lambda: served.decaf(*add).returncode == 0, service)  # once its pool is made
        (schedule,) = served.server.all()
        assert (schedule.name, schedule.folder) == ("small", tmp_path)
        assert served.decaf("run", "small").returncode == 0
        refused(served.decaf("run", "small"), "already in progress")
        until(lambda: states(served) == ["Completed"], service)
        first = scored(settings)
        assert len(first) == 1

        # The worker is killed while a run that a change has begun is scoring.
        put(zoo / "net" / "2", seed=0, lean=1.5)
        until(lambda: len(scored(settings)) == 2, service)
        flow, worker = child(service, "prefect.engine"), child(service, "worker")
        worker.kill()
        until(lambda: not flow.is_running(), service)
        until(lambda: states(served) == ["Completed", "NeedsAttention"], service)
        after = scored(settings)
        assert first.items() <= after.items()
        assert len(set(after.values())) == 1
        assert served.server.last_run(schedule.id).parameters["entries"] == ["net"]

        # The server is killed; once it is back, a signed event of the registry is heard.
        child(service, "flows.scheduling.server").kill()
        assert served.decaf("pause", "small").returncode == 2
        until(lambda: child(service, "worker") != worker and served.server.is_up(), service)
        moment, port = int(time.time()), int(heard_at.rpartition(":")[2])
        assert asked(port, BODY, signed(BODY, moment=moment, secret="guessed")) == 401
        assert asked(port, BODY, signed(BODY, moment=moment, secret=SECRET)) == 200

        until(lambda: served.decaf("run", "small").returncode == 0, service)
        until(served.server.under_way, service)
        (shown,) = json.loads(served.decaf("list", "--json").stdout)
        assert (shown["name"], shown["last_run"]["ended"]) == ("small", None)
        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE_SECONDS) == 0
    assert served.left() == []
    assert scored(settings) == after


def outside():
    """Addresses of this machine on its networks: they stand for another machine's way to it."""
    return [
        address.address
        for network in psutil.net_if_addrs().values()
        for address in network
        if address.family == socket.AF_INET and not address.address.startswith("127.")
    ]


@pytest.mark.mlflow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_tells_of_a_version_and_that_entry_alone_is_audited(
    served, heard_at, study, write, tmp_path
):
    """The recipe of the page as it stands, but for addresses and the secret."""
    (recipe,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    recipe = recipe.replace("https://audits.example", f"http://{heard_at}")
    recipe = recipe.replace("the same secret", SECRET)
    python = mlflow_python()
    with mlflow_server(tmp_path, python, "-m", "mlflow", **TELLING) as registered:
        for seed, name in enumerate(["net", "other"]):
            registered.add(name, put(tmp_path / name / "1", seed))
        settings = {**study, "models": [], "paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
        settings["registry"] = {"kind": "mlflow", "uri": registered.uri, "trusted": ["leaning"]}
        settings["registry"]["follow"] = ["latest", "champion"]
        config = write(settings)
        with served("--listen", heard_at) as service:
            add = ("add", config, "--cron", "0 3 * * *", "--on-change")
            until(lambda: served.decaf(*add).returncode == 0, service)  # once its pool is made
            (schedule,) = served.server.all()

            known = [None]

            def audited():
                """Entries of the next run, once it has ended well."""

                def ended():
                    run = served.server.last_run(schedule.id)
                    return run if run and run.end_time and run.id != known[-1] else None

                run = until(ended, service)
                known.append(run.id)
                assert run.state_name == "Completed", run.state.message
                return run.parameters.get("entries")

            assert served.decaf("run", "small").returncode == 0
            assert audited() is None
            registered.add("other", put(tmp_path / "other" / "2", seed=2))  # nobody is told
            here = os.environ | {"MLFLOW_TRACKING_URI": registered.uri}
            here.pop("PYTHONPATH", None)
            subprocess.run([python, "-W", "ignore", "-c", recipe], env=here, check=True)
            registered.add("net", put(tmp_path / "net" / "2", seed=3))
            assert audited() == ["net"]
            registered.alias("net", "champion", "1")
            assert audited() == ["net"]
    query = "SELECT DISTINCT entry, version, change FROM stg_registry_entries ORDER BY ALL"
    assert fetched(settings["warehouse"], query) == [
        ("net", "1", "new"),
        ("net", "2", "none"),
        ("net", "2", "weights"),
        ("net@champion", "1", "new"),
        ("other", "1", "new"),
        ("other", "1", "none"),  # its version 2 is left to the night
    ]


def states(served):
    """How the runs that ended did, first to last; those of schedules that were skipped aside."""
    asked = {"flow_runs": {"state": {"type": {"any_": ENDED}}}, "sort": "START_TIME_ASC"}
    try:
        url = f"{served.address}/flow_runs/filter"
        runs = httpx.post(url, json=asked, auth=(USER, PASSWORD), trust_env=False).json()
    except httpx.TransportError:  # the server is away
        return []
    return [run["state_name"] for run in runs]


def scored(settings):
    """Models that were scored, and in how many commits."""
    if not (Path(settings["warehouse"]) / "warehouse.json").exists():
        return {}
    with connect(settings["warehouse"]) as connection:
        query = "SELECT model_id, count(*) FROM stg_costs GROUP BY ALL"
        return dict(connection.sql(query).fetchall())
