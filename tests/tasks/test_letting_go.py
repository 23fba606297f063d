"""Workers that are slow to end fail no audit; what fails an audit is told."""

import pytest

from tasks.cluster.workers import let_go


class Slow:
    def close(self):
        raise TimeoutError("timed out")


class Stuck:
    def close(self):
        raise OSError("not a matter of time")


def test_what_does_not_close_in_time_is_no_failure(capsys):
    with let_go(Slow()) as opened:
        assert isinstance(opened, Slow)
    assert "slow to end" in capsys.readouterr().err


def test_a_failure_of_the_audit_is_not_hidden_behind_a_slow_end(capsys):
    with pytest.raises(ZeroDivisionError), let_go(Slow()):
        raise ZeroDivisionError
    assert "slow to end" in capsys.readouterr().err


def test_what_fails_to_close_for_another_reason_is_a_failure():
    with pytest.raises(OSError, match="not a matter of time"), let_go(Stuck()):
        pass
