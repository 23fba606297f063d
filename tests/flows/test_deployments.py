"""Our flows as deployments of a Prefect server: a real worker of a process pool runs them."""

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import prefect
import psutil
import pytest
import yaml
from ended_commands import succeeded
from model_server import serving
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.blocks.system import Secret
from prefect.cli.deploy._models import PrefectYamlModel
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.utilities.schema_tools.validation import validate
from prefect.utilities.templating import apply_values
from registry_folder import NETWORKS, put
from running_command import PATIENCE_SECONDS, receipts, wait_for
from small_studies import of_scenes, slow_network

from decaf.errors import ChecksFailed
from flows import launch

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "examples" / "deploy" / "kubernetes-reaudit.yaml"
AUTOMATION = ROOT / "examples" / "deploy" / "prefect-automation.yaml"
NO_BLOCK = "00000000-0000-0000-0000-000000000000"
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
KINDS = ("process", "docker", "kubernetes")
SECRET = "kept by Prefect"
TEMPLATES = {
    kind: worker["default_base_job_configuration"]
    for workers in json.loads(
        (
            Path(prefect.__file__).parent
            / "server/api/collections_data/views/aggregate-worker-metadata.json"
        ).read_text()
    ).values()
    for kind, worker in workers.items()
}
"""What a work pool of each kind is made with."""


class Organisation:
    """A server, pools, a worker of one of them, our deployments, and somebody who is notified."""

    def __init__(self, api, folder, told):
        self.api, self.folder, self.told = api, folder, told
        self.deployments = {}

    def ask(self, method, path, **content):
        url, sent = f"{self.api}/{path}", {"json": content or None, "timeout": 60}
        answer = wait_for(lambda: is_free(httpx.request(method, url, trust_env=False, **sent)))
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def start(self, deployment, parameters, **variables):
        """Have the worker run a deployment; the id of the run."""
        made = self.ask(
            "POST",
            f"deployments/{self.deployments[deployment]}/create_flow_run",
            parameters=parameters,
            job_variables={"env": variables},
        )
        return made["id"]

    def state(self, run):
        return self.ask("GET", f"flow_runs/{run}")["state"]

    def ended(self, run):
        """The state that a run has ended in."""
        wait_for(lambda: self.state(run)["type"] in ENDED)
        return self.state(run)

    def log(self, run):
        wanted = {"flow_run_id": {"any_": [run]}}
        return [line["message"] for line in self.ask("POST", "logs/filter", logs=wanted, limit=200)]


def is_free(answer):
    """The answer, unless the database was locked; nothing has happened then."""
    return None if answer.status_code == 503 else answer


def in_prefect(*words, folder, **environment):
    """Begin a command of Prefect in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "prefect", "--no-prompt", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PWD": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def done(command):
    said, _ = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == 0, said


@pytest.fixture(scope="module")
def organisation(prefect_server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("organisation")
    api = prefect_server["PREFECT_API_URL"]
    # Ours are the defaults of a command that has a server of its own; an organisation has others.
    environment = {"PREFECT_LOGGING_TO_API_ENABLED": "true", "PREFECT_LOGGING_LEVEL": "INFO"}
    environment |= {**prefect_server, "NO_PROXY": "127.0.0.1", "PREFECT_HOME": str(folder / "home")}
    with serving(lambda request, number: (200, "", {})) as told:
        made = Organisation(api, folder, told)
        for kind in KINDS:
            template = json.loads(json.dumps(TEMPLATES[kind]))
            if kind == "process":
                secret = {"DECAF_WEBHOOK_SECRET": "{{ prefect.blocks.secret.decaf-webhook }}"}
                template["variables"]["properties"]["env"]["default"] = secret
            pool = {"name": f"decaf-{kind}", "type": kind, "base_job_template": template}
            made.ask("POST", "work_pools/", **pool)
        worker = in_prefect(
            *("worker", "start", "--pool", "decaf-process"),
            folder=folder,
            **environment,
            PREFECT_WORKER_QUERY_SECONDS="1",
            PREFECT_WORKER_CANCELLATION_POLL_SECONDS="1",
        )
        try:
            deploying = in_prefect(
                *("deploy", "--all", "--prefect-file", ROOT / "prefect.yaml"),
                folder=folder,
                **environment,
            )
            with temporary_settings({PREFECT_API_URL: api}):
                Secret(value=SECRET).save("decaf-webhook")
                block = CustomWebhookNotificationBlock(
                    name="people", url=told.url, json_data={"text": "{{subject}}: {{body}}"}
                ).save("people")
            notifying = folder / "automation.yaml"
            notifying.write_text(AUTOMATION.read_text().replace(NO_BLOCK, str(block)))
            automating = in_prefect(
                *("automation", "create", "--from-file", notifying), folder=folder, **environment
            )
            done(deploying)
            done(automating)
            found = made.ask("POST", "deployments/filter")
            made.deployments = {one["name"]: one["id"] for one in found}
            yield made
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.communicate(timeout=PATIENCE_SECONDS)
            for one in made.ask("POST", "automations/filter"):  # other tests use that server, too
                made.ask("DELETE", f"automations/{one['id']}")


def of_registry(folder, workers):
    """Settings of a registry of one model, which leans on what its gate forbids."""
    put(folder / "zoo" / "net", seed=0, lean=1.5)
    return of_scenes(
        folder,
        study="Nightly",
        registry={"kind": "folder", "root": str(folder / "zoo"), "trusted": ["leaning"]},
        python_path=[str(NETWORKS)],
        report=str(folder / "nightly.html"),
        sources=5,
        cluster=workers,
    )


def of_slow_model(folder):
    """A file with ten blocks of a model that is slow where ``SLOW_SECONDS`` says so."""
    settings = of_scenes(
        folder,
        [slow_network(folder)],
        study="slow",
        sources=10,
        sources_per_block=1,
        python_path=[str(NETWORKS)],
        cluster={"kind": "local", "workers": 1},
    )
    (folder / "slow.yaml").write_text(yaml.safe_dump(settings))
    return settings


def test_the_file_fits_prefects_schema_and_its_pools():
    read = PrefectYamlModel.model_validate(yaml.safe_load((ROOT / "prefect.yaml").read_text()))
    flows = {(one.entrypoint, one.work_pool.name) for one in read.deployments}
    assert flows == {
        (f"flows.deployed.{flow}", f"decaf-{kind}")
        for flow in ("audit", "reaudit")
        for kind in KINDS
    }
    for one in read.deployments:
        schema = TEMPLATES[one.name.partition("-")[2]]["variables"]
        given = one.work_pool.job_variables
        assert given.keys() <= schema["properties"].keys()
        assert validate(given, schema, raise_on_error=True, preprocess=False) == []


def rendered(kind):
    """Our job variables of a pool, and the job that a worker of it makes of them."""
    read = PrefectYamlModel.model_validate(yaml.safe_load((ROOT / "prefect.yaml").read_text()))
    (given,) = (
        one.work_pool.job_variables for one in read.deployments if one.name == f"audit-{kind}"
    )
    schema = TEMPLATES[kind]["variables"]["properties"]
    defaults = {name: one["default"] for name, one in schema.items() if one.get("default")}
    return given, apply_values(TEMPLATES[kind]["job_configuration"], defaults | given)


def test_a_container_of_docker_is_as_we_say():
    given, job = rendered("docker")
    assert given.items() <= job.items()
    assert "{{" not in json.dumps(job)


def test_a_job_of_kubernetes_is_that_of_our_manifest():
    given, job = rendered("kubernetes")
    assert "{{" not in json.dumps(job)
    (manifest,) = yaml.safe_load_all(MANIFEST.read_text())
    (ours,) = manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    spec = job["job_manifest"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert container["image"] == ours["image"]
    assert container["resources"]["requests"] == ours["resources"]["requests"]
    assert container["resources"]["limits"] == {"memory": given["memory_limit"]}
    in_ours = {(variable["name"], variable["value"]) for variable in ours["env"]}
    assert set(container["env"].items()) <= in_ours
    assert spec["ttlSecondsAfterFinished"] == given["finished_job_ttl"]


def test_the_command_line_ends_a_flow_as_deployments_do(prefect_server, monkeypatch):
    def faulty():
        raise ChecksFailed("2 rows do not add up")

    api = prefect_server["PREFECT_API_URL"]
    monkeypatch.setenv("PREFECT_API_URL", api)
    with temporary_settings({PREFECT_API_URL: api}), pytest.raises(ChecksFailed, match="2 rows"):
        launch.launch(faulty, Path("study.yaml"))
    asked = {"flows": {"name": {"any_": ["faulty"]}}}
    (run,) = httpx.post(f"{api}/flow_runs/filter", json=asked, trust_env=False).json()
    state = [run["state"][name] for name in ("type", "name", "message")]
    assert state == ["FAILED", "NeedsAttention", "exit code 1: 2 rows do not add up"]


@pytest.mark.slow
def test_pages_ask_for_the_parameters(organisation):
    asked = organisation.ask("GET", f"deployments/{organisation.deployments['audit-process']}")
    schema = asked["parameter_openapi_schema"]
    assert schema["required"] == ["config"]
    types = {
        name: {part.get("type") for part in field["anyOf"]}
        for name, field in schema["properties"].items()
    }
    assert types == {
        "config": {"string", "object"},
        "overrides": {"array", "object", "null"},
        "force": {"array", "null"},
    }
    assert all(field["description"] for field in schema["properties"].values())


@pytest.mark.slow
def test_runs_of_the_worker(organisation, workers, decaf):
    """Three at once, one of which is cancelled; then what it has left is done."""
    folder = organisation.folder
    nightly, slow = of_registry(folder / "nightly", workers), of_slow_model(folder)
    warehouse = Path(slow["warehouse"])
    cancelled = organisation.start("audit-process", {"config": "slow.yaml"}, SLOW_SECONDS="0.5")
    overrides = {"gates.evidence.at_most": 0.0, "alerts.webhook.url": organisation.told.url}
    judged = organisation.start("reaudit-process", {"config": nightly, "overrides": overrides})
    wrong = {"config": "slow.yaml", "overrides": ["epsilonn=0.1"]}
    refused = organisation.start("audit-process", wrong)

    wait_for(
        lambda: len(receipts(warehouse)) >= 2 or organisation.state(cancelled)["type"] in ENDED
    )
    assert organisation.state(cancelled)["type"] == "RUNNING", organisation.state(cancelled)
    state = {"type": "CANCELLING"}
    organisation.ask("POST", f"flow_runs/{cancelled}/set_state", state=state)
    assert organisation.ended(cancelled)["type"] == "CANCELLED"
    wait_for(lambda: not processes_of(cancelled))
    kept = receipts(warehouse)
    assert 2 <= len(kept) < 10
    assert "it takes its time" in "\n".join(organisation.log(cancelled))  # said by Dask's worker

    check_refused(organisation, refused)
    check_judged(organisation, judged)

    resumed = organisation.start("audit-process", {"config": "slow.yaml"})
    assert organisation.ended(resumed)["type"] == "COMPLETED"
    after = receipts(warehouse)
    assert len(after) == 10
    assert kept.items() <= after.items()
    log = "\n".join(organisation.log(resumed))
    assert "auditing slow" in log
    left = 3 * (10 - len(kept))  # units in a commit: predict, score and route
    # Lines of a log arrive in batches, the last ones after the run has ended.
    wait_for(lambda: f"{left} of {left} units of work" in "\n".join(organisation.log(resumed)))
    succeeded(decaf("check", "-w", slow["warehouse"]))


def processes_of(run):
    """Processes that a run has started and that are there."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("PREFECT__FLOW_RUN_ID") == run:
                found.append(process.cmdline())
        except psutil.Error:
            continue
    return found


def check_refused(organisation, run):
    """One message of ours, and no traceback."""
    state = organisation.ended(run)
    assert (state["type"], state["name"]) == ("FAILED", "Failed")
    said = "override epsilonn:1: unknown key 'epsilonn'; did you mean 'epsilon'?"
    assert state["message"].startswith(f"exit code 2: {said}")
    log = "\n".join(organisation.log(run))
    assert said in log
    assert "Traceback" not in log, log


def check_judged(organisation, run):
    """The gate fails the run by name; artifacts, events and the notification say so."""
    state = organisation.ended(run)
    assert (state["type"], state["name"]) == ("FAILED", "NeedsAttention"), state
    assert "net" in state["message"]
    assert "evidence, " in state["message"]

    of_run = {"flow_run_id": {"any_": [run]}}
    artifacts = organisation.ask("POST", "artifacts/filter", artifacts=of_run)
    found = {artifact["key"]: artifact for artifact in artifacts}
    names = ("costs", "profiles", "report", "verdicts")
    assert sorted(found) == [f"decaf-nightly-{name}" for name in names]
    assert "nightly.html" in found["decaf-nightly-report"]["data"]
    verdicts = json.loads(found["decaf-nightly-verdicts"]["data"])
    assert "fail" in {row["verdict"] for row in verdicts}
    (cost,) = json.loads(found["decaf-nightly-costs"]["data"])
    assert cost["forward_rows"] > 0

    events = wait_for(lambda: emitted(organisation))
    assert events == {
        ("decaf.gate.failed", "decaf.entry.Nightly.net"),
        ("decaf.reaudit.finished", "decaf.study.Nightly"),
        ("decaf.version.new", "decaf.entry.Nightly.net"),
    }
    wait_for(lambda: len(organisation.told.requests) >= 2)
    (signed,) = [r for r in organisation.told.requests if "X-Decaf-Signature" in r.headers]
    texts = [json.loads(r.body)["text"] for r in organisation.told.requests if r is not signed]
    assert any(text.startswith("decaf.gate.failed: Nightly net: ") for text in texts), texts
    content = signed.headers["X-Decaf-Timestamp"].encode() + b"." + signed.body
    digest = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
    assert signed.headers["X-Decaf-Signature"] == f"sha256={digest}"


def emitted(organisation):
    """Our events of this study and their resources, once all are stored."""
    asked = {"event": {"prefix": ["decaf."]}}
    events = organisation.ask("POST", "events/filter", filter=asked)["events"]
    found = {(event["event"], event["resource"]["prefect.resource.id"]) for event in events}
    found = {(event, resource) for event, resource in found if "Nightly" in resource}
    return found if len(found) >= 3 else None
