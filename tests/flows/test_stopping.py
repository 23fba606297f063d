"""Signals that end a flow: exit codes, terminals that are gone, and that nothing is left."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from decaf.errors import ConfigError, OrchestrationLost
from flows import launch as launching

PATIENCE_SECONDS = 120
SLEEPER = f"""
import signal, sys, time
from flows.stopping import Stopped, heed_signals
for name in ("SIGHUP", "SIGTERM"):  # which whoever started the tests may ignore
    wanted = signal.SIG_IGN if name in sys.argv[1:] else signal.SIG_DFL
    signal.signal(getattr(signal, name), wanted)
heed_signals()
try:
    print("ready", flush=True)
    for _ in range({PATIENCE_SECONDS} * 10):
        time.sleep(0.1)  # Python handles a signal between two calls, so each call is short
except Stopped:
    print("stopped")
    print("stopped", file=sys.stderr, flush=True)
    raise
"""


def sleeper(*ignored, **streams):
    return subprocess.Popen([sys.executable, "-c", SLEEPER, *ignored], **streams)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_with_128_and_its_number(number, code):
    with sleeper(stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "stopped\n"
    assert process.returncode == code


def test_what_nohup_ignores_stays_ignored():
    with sleeper("SIGHUP", stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "stopped\n"
    assert process.returncode == 143


def test_a_terminal_that_is_gone_fails_nothing_on_the_way_out():
    master, slave = pty.openpty()

    def own_terminal():
        os.setsid()
        os.close(os.open(os.ttyname(slave), os.O_RDWR))  # of a new session: its terminal

    with sleeper(stdout=slave, stderr=slave, preexec_fn=own_terminal) as process:
        os.close(slave)
        assert os.read(master, 5) == b"ready"
        os.close(master)  # the kernel sends SIGHUP
        assert process.wait(PATIENCE_SECONDS) == 129


@pytest.fixture
def flow(monkeypatch):
    """Launch a made-up flow as if Prefect, whose server is not there, carried it out."""
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr(launching, "_run_as_flow", lambda name, carry_out, *_: carry_out())

    def launched(body):
        launching.launch(body, Path("study.yaml"), "plan", conclude=found.append)
        return found.pop()

    found = []
    return launched


def test_a_flow_is_given_its_work_and_its_result_is_concluded_from(flow):
    assert flow(lambda plan: f"done: {plan}") == "done: plan"


def test_a_prefect_server_that_is_gone_is_said(flow):
    def body(_):
        raise ConnectionRefusedError

    with pytest.raises(OrchestrationLost, match="http://127.0.0.1:9") as caught:
        flow(body)
    assert caught.value.exit_code == 3


def test_another_server_at_the_address_of_prefect_is_said(flow, monkeypatch):
    monkeypatch.setattr(launching, "_is_reachable", lambda _: True)

    def body(_):
        raise RuntimeError("Failed to reach API at http://127.0.0.1:9/api/")  # Prefect's words

    with pytest.raises(OrchestrationLost, match="Prefect server"):
        flow(body)


def test_an_error_of_the_study_is_not_blamed_on_prefect(flow):
    def body(_):
        raise ConfigError("no such path")

    with pytest.raises(ConfigError, match="no such path"):
        flow(body)


def test_an_error_is_not_blamed_on_a_server_that_answers(flow, monkeypatch):
    monkeypatch.setattr(launching, "_is_reachable", lambda _: True)
    with pytest.raises(ZeroDivisionError):
        flow(lambda _: 1 / 0)
