import os
import pty
import subprocess
import sys
import threading

from ended_commands import run_code, succeeded

from tasks import progress as told
from tasks.progress import announce_while_running, duration_text, progress_of

SHOW = """
from tasks.progress import progress_of
with progress_of(3, "blocks") as progress:
    for _ in range(3):
        progress.advance("resnet", 100)
"""


def test_plain_lines_where_there_is_no_terminal():
    done = run_code(SHOW)
    assert succeeded(done) == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("resnet: 3 of 3 blocks")
    assert last.endswith("0:00:00 left")
    assert "rows/s" in last


def test_what_shows_nothing_says_that_it_is_under_way(monkeypatch):
    said = threading.Event()
    lines = []

    def heard(text):
        lines.append(text)
        said.set()

    monkeypatch.setattr(told, "SILENT_SECONDS", 0.01)
    monkeypatch.setattr(told, "announce", heard)
    with announce_while_running("the step 'judge'"):
        assert said.wait(60)
    assert "'judge'" in lines[0]


def test_a_bar_where_there_is_one():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", SHOW], stderr=theirs, env=environment) as process:
        process.wait(60)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "3/3" in shown
    assert "━" in shown
    assert "rows/s" in shown


def test_lines_are_few(capsys, monkeypatch):
    times = iter(range(0, 10_000))
    monkeypatch.setattr("tasks.progress.time.monotonic", lambda: next(times) * 0.1)
    with progress_of(100, "blocks") as progress:
        for _ in range(100):
            progress.advance("resnet", 10)
    lines = capsys.readouterr().err.splitlines()
    assert 1 < len(lines) <= 4


def test_durations():
    texts = ["0:00:00", "0:01:00", "1:00:00"]
    assert [duration_text(seconds) for seconds in (0, 59.6, 3600)] == texts
