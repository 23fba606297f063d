"""Workers that are slow to end fail no audit; what fails an audit is told."""

import logging

import pytest

from decaf.plan.cluster import SchedulerAddress
from tasks.cluster.workers import close_at_end, connect
from tasks.progress import LOG


class Slow:
    def close(self):
        raise TimeoutError("timed out")


class Stuck:
    def close(self):
        raise OSError("not a matter of time")


def test_what_does_not_close_in_time_is_no_failure(capsys):
    with close_at_end(Slow()) as opened:
        assert isinstance(opened, Slow)
    assert "end slowly" in capsys.readouterr().err


def test_a_failure_of_the_audit_is_not_hidden_behind_a_slow_end(capsys):
    with pytest.raises(ZeroDivisionError), close_at_end(Slow()):
        raise ZeroDivisionError
    assert "end slowly" in capsys.readouterr().err


def test_what_fails_to_close_for_another_reason_is_a_failure():
    with pytest.raises(OSError, match="matter of time"), close_at_end(Stuck()):
        pass


def test_two_flows_of_one_scheduler_hear_its_workers_and_end(workers, monkeypatch):
    monkeypatch.setattr(LOG, "handlers", [logging.NullHandler()])  # somebody keeps what is told
    at = SchedulerAddress(**workers)
    with connect(at) as one, connect(at) as other:
        assert one.scheduler.address == other.scheduler.address
