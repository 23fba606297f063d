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
from pathlib import Path

import httpx
import psutil
import pytest
from ended_commands import refused
from mlflow_server import mlflow_python, mlflow_server
from registry_folder import put
from s3_server import free_port
from warehouse_answers import fetched
from warm_command import DECAF
from webhooks import BODY, SECRET, asked, signed

from flows.scheduling import listening as hearing
from flows.scheduling import processes
from flows.scheduling.schedules import CREDENTIALS, UNDER_WAY, Schedules
from flows.scheduling.service import ADDRESS
from flows.scheduling.serving import SERVER_CREDENTIALS
from warehouse.query.catalog import connect

PATIENCE_SECONDS = 600
ENDED = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]
OFTEN = "* * * * * */5"
"""Every five seconds: the sixth field is seconds."""
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
    yield made
    made.server.close()
    processes.end(made.mark)


def until(condition, service):
    stop = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < stop, "it did not get so far"
        assert service.poll() is None, "decaf serve ended"
        time.sleep(0.5)  # every look costs the server, or opens a warehouse
    return found


def is_listening(port):
    """Whether the runner, which begins after the server, is there to be told."""
    with socket.socket() as told:
        return told.connect_ex(("127.0.0.1", port)) == 0


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
def test_a_registry_on_a_schedule_with_kills(served, study, write, tmp_path):
    with mlflow_server(tmp_path) as registered:
        registered.add("net", put(tmp_path / "made" / "1", seed=0))
        settings = {**study, "models": [], "paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
        settings["registry"] = {"kind": "mlflow", "uri": registered.uri, "trusted": ["leaning"]}
        settings["gates"] = {"evidence": {"increase": 0.02, "pair_type": "wall_hue"}}
        config = write(settings)
        absent = served.decaf("list")
        assert (absent.returncode, "decaf serve is not running" in absent.stderr) == (2, True)

        with served() as service:
            stranger = served.decaf("list", **{CREDENTIALS: f"{USER}:guessed"})
            assert stranger.returncode == 2
            assert "refuses (401); expected its user:password in" in stranger.stderr
            for host in outside():
                refused(served.decaf("list", **served.at(host)), "no Prefect server at")
            added = served.decaf("add", config, "--cron", OFTEN, "--timezone", "Europe/Berlin")
            assert added.returncode == 0, added.stderr
            (schedule,) = served.server.all()
            assert (schedule.name, schedule.folder) == ("small", tmp_path)
            until(lambda: "Completed" in states(served.address), service)
            first = scored(settings)
            assert len(first) == 1

            child(service, "flows.scheduling.server").kill()
            registered.add("net", put(tmp_path / "made" / "2", seed=0, lean=1.5))
            # The runner is killed while a run is scoring the new version.
            until(lambda: len(scored(settings)) == 2, service)
            before = child(service, "execute")
            child(service, "flows.scheduling.runner").kill()
            until(lambda: not before.is_running(), service)
            until(lambda: "NeedsAttention" in states(served.address), service)
            after = scored(settings)
            assert first.items() <= after.items()
            assert len(set(after.values())) == 1

            # Nothing changes, and the verdict stands.
            until(lambda: states(served.address).count("NeedsAttention") > 1, service)
            assert served.decaf("pause", "small").returncode == 0
            (shown,) = json.loads(served.decaf("list", "--json").stdout)
            assert (shown["paused"], shown["next_run"]) == (True, None)
            until(lambda: not served.server.under_way(), service)
            assert unfinished(served.address) == []
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


@pytest.mark.slow
def test_other_machines_reach_it_where_it_is_told_to_be_reached(served, study, write, tmp_path):
    if not outside():
        pytest.skip("this machine has no address but loopback")
    there = served.at(outside()[0])
    config = write(study)
    with (
        (tmp_path / "said").open("w") as said,
        served("--host", "0.0.0.0", credentials={}, stderr=said),
    ):
        added = served.decaf("add", config, "--cron", "0 3 * * *", **there)
        assert added.returncode == 0, added.stderr
        (shown,) = json.loads(served.decaf("list", "--json", **there).stdout)
        assert (shown["name"], shown["cron"]) == ("small", "0 3 * * *")
    assert "warning: whoever reaches 0.0.0.0" in (tmp_path / "said").read_text()


@pytest.fixture
def heard_at(served, monkeypatch):
    """Where `decaf serve --listen` listens, with a secret."""
    monkeypatch.setitem(served.variables, hearing.SECRET, SECRET)
    return f"127.0.0.1:{free_port()}"


@pytest.mark.slow
def test_a_signed_event_begins_a_run_and_a_stranger_s_does_not(served, heard_at, study, write):
    registry = {"kind": "mlflow", "uri": "http://127.0.0.1:9"}
    config = write({**study, "models": [], "registry": registry})
    with served("--listen", heard_at) as service:
        added = served.decaf("add", config, "--cron", "0 3 * * *", "--on-change")
        assert added.returncode == 0, added.stderr
        (schedule,) = served.server.all()
        moment, port = int(time.time()), int(heard_at.rpartition(":")[2])
        forged = signed(BODY, moment=moment, secret="guessed")
        until(lambda: is_listening(port), service)
        assert asked(port, BODY, forged) == 401
        assert asked(port, BODY, signed(BODY, moment=moment, secret=SECRET)) == 200
        run = until(lambda: served.server.last_run(schedule.id), service)
        assert run.entries == ("net",)
        service.send_signal(signal.SIGINT)
        assert service.wait(PATIENCE_SECONDS) == 0
    assert served.left() == []


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
            added = served.decaf("add", config, "--cron", "0 3 * * *", "--on-change")
            assert added.returncode == 0, added.stderr
            (schedule,) = served.server.all()

            known = [None]

            def audited():
                """Entries of the next run, once it has ended well."""

                def ended():
                    run = served.server.last_run(schedule.id)
                    return run if run and run.ended and run.id != known[-1] else None

                run = until(ended, service)
                known.append(run.id)
                assert run.state_name == "Completed", run.message
                return run.entries

            assert served.decaf("run", "small").returncode == 0
            assert audited() == ()
            registered.add("other", put(tmp_path / "other" / "2", seed=2))  # nobody is told
            here = os.environ | {"MLFLOW_TRACKING_URI": registered.uri}
            here.pop("PYTHONPATH", None)
            subprocess.run([python, "-W", "ignore", "-c", recipe], env=here, check=True)
            registered.add("net", put(tmp_path / "net" / "2", seed=3))
            assert audited() == ("net",)
            registered.alias("net", "champion", "1")
            assert audited() == ("net",)
    query = "SELECT DISTINCT entry, version, change FROM stg_registry_entries ORDER BY ALL"
    assert fetched(settings["warehouse"], query) == [
        ("net", "1", "new"),
        ("net", "2", "none"),
        ("net", "2", "weights"),
        ("net@champion", "1", "new"),
        ("other", "1", "new"),
        ("other", "1", "none"),  # its version 2 is left to the night
    ]


def states(address):
    """How the runs that ended did, first to last."""
    return [run["state_name"] for run in runs(address, ENDED)]


def scored(settings):
    """Models that were scored, and in how many commits."""
    if not (Path(settings["warehouse"]) / "warehouse.json").exists():
        return {}
    with connect(settings["warehouse"]) as connection:
        query = "SELECT model_id, count(*) FROM stg_costs GROUP BY ALL"
        return dict(connection.sql(query).fetchall())


def unfinished(address):
    """Names of runs of any flow that the server believes to be under way."""
    return [run["name"] for run in runs(address, UNDER_WAY)]


def runs(address, types):
    """Runs of any flow in states of these types, by their start; none while the server is away."""
    asked = {"flow_runs": {"state": {"type": {"any_": types}}}, "sort": "START_TIME_ASC"}
    try:
        url, allowed = f"{address}/flow_runs/filter", (USER, PASSWORD)
        return httpx.post(url, json=asked, auth=allowed, trust_env=False).json()
    except httpx.TransportError:
        return []
