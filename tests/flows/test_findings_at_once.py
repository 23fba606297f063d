"""Many findings at once, which an automation tells people: Prefect's server goes on answering."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import yaml
from model_server import serving
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect_server import PrefectServer

AUTOMATION = Path(__file__).parents[2] / "examples" / "deploy" / "prefect-automation.yaml"
FINDINGS = 60
STANDSTILL_SECONDS = 30
"""Half of what SQLite waits for a lock in Prefect's server."""


@pytest.fixture
def server(prefect_home, monkeypatch):
    """A Prefect server with a database of its own."""
    monkeypatch.setenv("PREFECT_HOME", str(prefect_home))
    server = PrefectServer()
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.mark.slow
def test_many_findings_at_once_do_not_stop_the_server(server):
    """A server whose event loop collects garbage stands still for a minute here."""

    def post(path, content):  # on a connection of its own: the server closes it after an error
        url, options = f"{server.url}/{path}", {"trust_env": False}
        return httpx.post(url, json=content, timeout=STANDSTILL_SECONDS, **options)

    with serving(lambda request, number: (200, "", {})) as people:
        post("automations/", announce_while_running(server.url, people.url)).raise_for_status()
        flow = post("flows/", {"name": "beside the findings"}).raise_for_status().json()["id"]
        events = [finding(f"Burst.{number}") for number in range(FINDINGS)]
        post("events", events).raise_for_status()
        while len(people.requests) < FINDINGS:
            run = post("flow_runs/", {"flow_id": flow})
            assert run.is_success or run.status_code == httpx.codes.SERVICE_UNAVAILABLE


def announce_while_running(api, url):
    """The automation of the examples, which posts to an address."""
    with temporary_settings({PREFECT_API_URL: api}):
        block = CustomWebhookNotificationBlock(
            name="people", url=url, json_data={"text": "{{subject}}: {{body}}"}
        ).save("people")
    automation = yaml.safe_load(AUTOMATION.read_text())
    automation["actions"][0]["block_document_id"] = str(block)
    return automation


def finding(entry):
    """The event of an entry that failed, as Prefect's client sends it."""
    names = {"prefect.resource.id": f"decaf.entry.{entry}", "prefect.resource.name": entry}
    moment = datetime.now(UTC).isoformat()
    made = {"id": str(uuid4()), "occurred": moment, "resource": names}
    return {**made, "event": "decaf.entry.failed", "payload": {"problem": "it has no weights"}}
