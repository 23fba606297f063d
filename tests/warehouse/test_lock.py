import signal
import subprocess
import sys

import pytest

from decaf.errors import AlreadyRunning
from warehouse.commits.lock import is_held, study_lock

HOLD = """
import sys, time
from pathlib import Path
from warehouse.commits.lock import study_lock
with study_lock(Path(sys.argv[1]), "s"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_run_of_the_study_is_refused_and_told_who_holds_it(tmp_path, holder):
    assert is_held(tmp_path, "s")
    with (
        pytest.raises(AlreadyRunning, match=f"process {holder.pid} on"),
        study_lock(tmp_path, "s"),
    ):
        pass


def test_another_study_is_free(tmp_path, holder):
    with study_lock(tmp_path, "other"):
        assert is_held(tmp_path, "other")
    assert not is_held(tmp_path, "other")


def test_the_lock_ends_with_a_killed_process(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert not is_held(tmp_path, "s")
    with study_lock(tmp_path, "s"):
        pass
