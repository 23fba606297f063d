"""Prefect's engine without a server: names, states and errors of flows, and no connection."""

import json
import os
import subprocess
import sys

PRELUDE = """
import json, socket, sys
from pathlib import Path

def refuse(event, arguments):
    if event == "socket.connect":
        raise AssertionError(f"{event} {arguments}")

from flows.launch import launch, start_prefect
sys.addaudithook(refuse)
"""
AUDIT = """
with start_prefect():
    from prefect.context import FlowRunContext
    from tasks.prefect.artifacts import leave_artifacts
    from tasks.prefect.step import step

def fail():
    raise ValueError("of a step")

def made_up(number):
    double = step(lambda value: 2 * value, name="double")
    failed = step(fail, name="fail")(return_state=True)
    leave_artifacts(None, "study", None)
    run = FlowRunContext.get().flow_run
    return [run.name, run.state_type.value, double(number), failed.type.value]

launch(made_up, Path("photos.yaml"), 21, conclude=lambda row: print(json.dumps(row)))
print(json.dumps("prefect.server.api.server" in sys.modules))
"""
ERROR = """
from decaf.errors import BadInput

def made_up():
    raise BadInput("no pairs")

try:
    launch(made_up, Path("photos.yaml"))
except BadInput as error:
    print(json.dumps(str(error)))
"""


def lines_of(code, folder):
    """Run code without PREFECT_API_URL and with an empty folder of Prefect; what it prints."""
    environment = {name: text for name, text in os.environ.items() if name != "PREFECT_API_URL"}
    environment |= {"PREFECT_HOME": str(folder)}
    command = [sys.executable, "-c", PRELUDE + code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (folder / "prefect.db").exists()
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_flow_has_names_and_states_and_opens_no_connection(tmp_path):
    row, is_server_imported = lines_of(AUDIT, tmp_path)
    assert row == ["made_up-photos", "RUNNING", 42, "FAILED"]
    assert not is_server_imported


def test_the_error_of_a_flow_is_raised_as_it_is(tmp_path):
    assert lines_of(ERROR, tmp_path) == ["no pairs"]
