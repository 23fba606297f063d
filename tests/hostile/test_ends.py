"""How commands end: one last line and one code, at whatever moment, on whatever streams."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

import psutil
import pytest
from ended_commands import run_code, succeeded
from running_command import DECAF, receipts
from small_studies import slow_network
from warm_command import COMMAND_SECONDS, WIDE

from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root

PATIENCE_SECONDS = 120
STOPPED = "stopped; give the same command again\n"
NOISE = ("Traceback", "nanobind", "leaked", "EventsWorker", "KeyboardInterrupt", "a bug of decaf")

AT_IMPORT = """
import importlib.abc, os, signal, sys
moment = sys.argv.pop(1)
class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == moment:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Press())
from flows.commands.cli import main
main()
"""


@pytest.mark.parametrize(
    ("moment", "arguments"),
    [
        ("typer", ["views"]),
        ("duckdb", ["sql", "SELECT 1"]),
        ("tasks.cluster.fork_server", ["run", "study.yaml"]),
    ],
)
def test_ctrl_c_while_a_module_is_imported(moment, arguments, tmp_path):
    done = run_code(AT_IMPORT, moment, *arguments, cwd=tmp_path, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (130, STOPPED)
    assert done.stdout == ""


IN_A_QUERY = """
import os, signal, sys, threading, types
import duckdb
from flows.commands import cli
def app(standalone_mode):
    connection = duckdb.connect()
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    connection.sql("SELECT count(*) FROM range(100000000) a, range(1000000) b").fetchall()
sys.modules["flows.commands.app"] = types.SimpleNamespace(app=app)
cli.main()
"""


def test_ctrl_c_that_a_library_makes_another_error_of():
    """DuckDB raises RuntimeError; an open connection leaves nothing to be printed at the end."""
    done = run_code(IN_A_QUERY, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (130, STOPPED)


IN_A_QUERY_OF_A_FLOW = """
import os, signal, sys, threading, types
from pathlib import Path
import duckdb
from flows import stopping
from flows.commands import cli
from flows.launch import launch
stopping.FLOW_PATIENCE_SECONDS = 2.0  # DuckDB may lose the signal, and has all cores until then
def terminate():
    os.write(1, b"now")
    os.kill(os.getpid(), signal.SIGTERM)
def made_up():
    connection = duckdb.connect()
    threading.Timer(0.3, terminate).start()
    connection.sql("SELECT count(*) FROM range(100000000) a, range(1000000) b").fetchall()
def app(standalone_mode):
    launch(made_up, Path("study.yaml"))
sys.modules["flows.commands.app"] = types.SimpleNamespace(app=app)
cli.main()
"""


@pytest.mark.slow
def test_sigterm_in_a_flow_that_a_library_makes_another_error_of(prefect_server, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", IN_A_QUERY_OF_A_FLOW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | prefect_server,
    ) as flow:
        try:
            # A busy Prefect server may take a minute to begin the flow.
            assert select.select([flow.stdout], [], [], COMMAND_SECONDS)[0], "it did not begin"
            said = flow.communicate(timeout=PATIENCE_SECONDS)[1]
        finally:
            flow.kill()
    assert (flow.returncode, f"{last_line(said)}\n") == (143, STOPPED)
    assert not [word for word in NOISE if word in said]


class AtTerminal:
    """A command at a terminal of its own; what it has shown so far."""

    def __init__(self, *arguments, **environment):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(WIDE | environment, TERM="xterm")
            os.execv(DECAF, ["decaf", *map(str, arguments)])
        self.shown, self.code = "", None

    def press(self, keys):
        os.write(self._terminal, keys)

    def hang_up(self):
        os.close(self._terminal)
        self._terminal = None

    def wait_until(self, condition):
        stop = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < stop, self.shown
            assert self._read(), self.shown

    def wait(self):
        """Exit code; everything it has shown until then is read."""
        while self._terminal and self._read():
            """There may be more."""
        _, status = os.waitpid(self.pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _read(self):
        if select.select([self._terminal], [], [], 0.1)[0]:
            try:
                part = os.read(self._terminal, 1 << 16)
            except OSError:
                return False
            self.shown += part.decode(errors="replace")
        return True


@pytest.fixture
def slow_run(study, write, tmp_path):
    """Begin a run of a slow model at a terminal: slow_run(**changed settings and environment)."""
    settings = study | {"models": [slow_network(tmp_path)], "sources_per_block": 1}
    started = []

    def begun(cluster, **environment):
        config = write(settings | {"cluster": cluster})
        own = {"SLOW_SECONDS": "0.6"} | environment
        started.append(AtTerminal("run", config, **own))
        started[-1].wait_until(
            lambda: receipts(tmp_path / "warehouse") and "left" in started[-1].shown
        )
        return started[-1]

    yield begun
    for command in started:
        command.close()


def last_line(shown):
    return shown.replace("\r", "").rstrip("\n").rsplit("\n", 1)[-1]


@pytest.mark.slow
def test_ctrl_c_ends_a_run_with_all_it_has_started(slow_run):
    command = slow_run({"kind": "local", "workers": 1})
    started = psutil.Process(command.pid).children(recursive=True)
    assert started
    command.press(b"\x03")
    assert command.wait() == 130
    assert last_line(command.shown).startswith("stopped; ")
    assert not [word for word in NOISE if word in command.shown]
    _, alive = psutil.wait_procs(started, timeout=PATIENCE_SECONDS)
    assert not alive


@pytest.mark.slow
@pytest.mark.parametrize("how", ["twice", "the terminal is closed"])
def test_who_cannot_wait(how, slow_run, workers, prefect_server):
    command = slow_run(workers, **prefect_server)
    if how == "twice":
        command.press(b"\x03")
        command.press(b"\x03")
        assert command.wait() == 130
        assert "stopped; " in command.shown
        assert not [word for word in NOISE if word in command.shown]
    else:
        command.hang_up()
        assert command.wait() == 129


def at(*arguments, **streams):
    """Run the command itself, in a shell that sets its streams; exit code and what it said."""
    words = " ".join(f"'{word}'" for word in (DECAF, *arguments))
    script = f"{words} {streams.pop('shell', '')}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        **streams,
    )


LONG = "FROM range(20000)"


@pytest.mark.parametrize(
    ("arguments", "shell", "code", "words"),
    [
        (["sql", LONG, "--format", "csv"], "| true", 141, ""),
        (["views"], ">&-", 0, ""),
        (["views", "nonsense"], "2>&-", 2, ""),
        (["sql"], "<&-", 2, "no query"),
        (["sql", LONG, "--format", "csv"], ">/dev/full", 3, "No space left"),
        (["views", "nonsense"], "2>/dev/full", 2, ""),
    ],
)
def test_streams_that_are_closed(arguments, shell, code, words, empty):
    place = {"DECAF_WAREHOUSE": str(empty)}
    done = at(*arguments, shell=shell, env=os.environ | place)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert not [word for word in NOISE if word in done.stderr]
    assert words or not done.stderr


EVIL = "\x1b]0;title\x07\x1b[2J\u202e[red]:smile:\x9b31m\u2028é"
SHOWN = "[red]:smile:\\x9b31m\\u2028é"


@pytest.mark.parametrize(
    "arguments",
    [
        ("views", EVIL),
        ("run", EVIL),
        ("sql", f"SELECT 1 AS a FROM {EVIL}"),
        (EVIL,),
    ],
)
def test_escape_sequences_in_what_is_given(arguments, decaf, empty):
    done = decaf(*arguments, DECAF_WAREHOUSE=str(empty))
    assert done.returncode in (0, 1, 2)
    harmless(done.stdout + done.stderr)


def harmless(told):
    assert not set(told) & set("\x1b\x07\x9b\u202e\u2028")


def test_escape_sequences_in_results(decaf, empty):
    query = f"SELECT '{EVIL}' AS \"{EVIL}\""
    place = {"DECAF_WAREHOUSE": str(empty)}
    told = succeeded(decaf("sql", query, "--format", "table", **place))
    harmless(told)
    assert told.count(SHOWN) == 2


def test_a_run_that_has_committed_nothing_yet_is_starting(decaf, tmp_path):
    store = open_root(tmp_path / "warehouse")
    root = store.folder
    with study_lock(store, "night"):
        assert "night: starting" in succeeded(decaf("status", "-w", root))
        assert "night" not in succeeded(decaf("status", "-w", root, "--study", "day"))


@pytest.mark.slow
def test_plan_run_and_status_estimate_alike(decaf, write, study, prefect_server):
    first = {**study, "models": study["models"][:1], "paths": {"blend": {"kind": "blend"}}}
    config = write(first)
    assert ", estimated from " in succeeded(decaf("plan", config))
    succeeded(decaf("run", config, **prefect_server))
    assert "time:" not in succeeded(decaf("plan", config))
    other = write({**first, "models": study["models"]})  # what it took of any model
    assert ", estimated from " in succeeded(decaf("plan", other))
    assert "small: finished" in succeeded(decaf("status", "-w", study["warehouse"]))
