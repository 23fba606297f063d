"""A flow without a Prefect server is a call of functions: no import of Prefect, no connection."""

import json
import os

import pytest
from ended_commands import run_code, succeeded

from decaf.errors import BadInput
from flows.launch import launch
from tasks.prefect.artifacts import write_artifacts
from tasks.step import catch_error, step

WITHOUT_PREFECT = """
import json, sys
from pathlib import Path
from flows.audit import audit
from flows.reaudit import reaudit
from flows.launch import launch
from tasks.step import step

def made_up(number):
    return step(lambda value: 2 * value, name="double")(number)

launch(made_up, Path("photos.yaml"), 21, conclude=lambda number: print(json.dumps(number)))
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "prefect"]))
"""


def fail():
    raise ValueError("of a step")


def test_without_a_server_prefect_is_not_imported():
    environment = {name: text for name, text in os.environ.items() if name != "PREFECT_API_URL"}
    printed = succeeded(run_code(WITHOUT_PREFECT, env=environment))
    assert [json.loads(line) for line in printed.splitlines()] == [42, []]


def test_the_error_of_a_flow_is_raised_as_it_is(tmp_path, monkeypatch):
    def made_up():
        raise error

    error = BadInput("no pairs")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr("flows.launch.heed_signals", lambda: None)
    with pytest.raises(BadInput) as raised:
        launch(made_up, tmp_path / "photos.yaml")
    assert raised.value is error


def test_a_caller_may_take_the_error_of_a_step():
    assert isinstance(catch_error(step(fail)), ValueError)
    assert catch_error(step(lambda: 1, name="one")) is None


def test_signals_are_no_errors_of_a_step():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catch_error(step(stop))


def test_outside_a_flow_no_artifact_is_left():
    assert write_artifacts(None, "study", None) is None
