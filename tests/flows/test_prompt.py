"""The prompt through a real terminal, and its parts by hand."""

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from ended_commands import refused, succeeded

from decaf.errors import BadInput, UnknownName
from flows.commands.prompt import Completion, Turns, is_complete
from warehouse.commits.writer import commit, open_root
from warehouse.query.catalog import connect_empty
from warehouse.query.descriptions import OWN_RELATION, described
from warehouse.query.views import views
from warehouse.tables.declarations import TABLES

DECAF = Path(sys.executable).parent / "decaf"
SECONDS = 90


class Terminal:
    """A process at a pseudo-terminal: type to it, and wait for what it shows."""

    def __init__(self, command, environment):
        self._side, inner = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "200", **environment},
            start_new_session=True,
            # A suite in the background may ignore Ctrl-C, and would hand that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(inner)
        self._shown = b""

    def type(self, text):
        os.write(self._side, text.encode())

    def shows(self, text):
        """Wait for a text; what came before it is not looked at again."""
        while text.encode() not in self._shown:
            ready, _, _ = select.select([self._side], [], [], SECONDS)
            assert ready, f"{text!r} did not come; last: {self._shown[-2000:]!r}"
            self._shown += os.read(self._side, 65536)
        before, _, self._shown = self._shown.partition(text.encode())
        return before.decode(errors="replace")

    def ask(self, text, *shown):
        """Type a text, wait for what it shows, one after the other, and for the prompt."""
        self.type(text)
        for words in (*shown, "decaf> "):
            self.shows(words)

    def interrupt_until_it_shows(self, text):
        """Press Ctrl-C again until it is heeded: a prompt that is just being drawn does not."""
        stop = time.monotonic() + SECONDS
        while text.encode() not in self._shown:
            assert time.monotonic() < stop, f"{text!r} did not come"
            self.process.send_signal(signal.SIGINT)
            if select.select([self._side], [], [], 2.0)[0]:
                self._shown += os.read(self._side, 65536)
        self.shows(text)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._side)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def started():
        root = open_root(tmp_path / "warehouse")
        environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
        opened.append(Terminal([DECAF, "sql", "-w", str(root)], environment))
        opened[-1].shows("decaf> ")
        return opened[-1]

    yield started
    for each in opened:
        each.close()


def test_a_conversation(terminal, tmp_path):
    at = terminal()
    at.type("FROM out_mean\t")
    at.shows("out_mean_trajectories")
    at.ask(";\n", "0 rows")
    at.type("SELECT rows_sav\t")
    at.shows("rows_saved_frac")
    at.type(" FROM out_costs\n")
    at.shows("... ")
    at.ask("LIMIT 3;\n", "0 rows")
    at.type("SELECT 'a;'\n")
    at.shows("... ")
    at.ask("|| 'b' AS x;\n", "a;b")
    at.ask("SELEC 1;\n", "syntax error")
    at.ask("COPY (SELECT 1) TO 'x.csv';\n", "writes nothing")
    at.ask(".views\n", "epsilon_sweep")
    at.ask(".desc\t out_costs\n", "peak_memory_bytes")
    at.ask(".describe out_cost\n", "did you mean 'out_costs'")
    at.ask(".quti\n", "did you mean '.quit'")
    at.type(".quit\n")
    assert at.process.wait(SECONDS) == 0

    # What was asked is there again the next time: up, and up past .quit.
    again = terminal()
    assert "rows_saved_frac" in (tmp_path / "state" / "decaf" / "sql_history").read_text()
    again.ask("\x10\x10\n", "unknown command '.quti'")
    again.type("\x04")
    assert again.process.wait(SECONDS) == 0


def test_ctrl_c_at_no_moment_ends_the_conversation():
    told = []

    def press():
        for _ in range(400):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1e-4)

    def wrong_turn():
        raise BadInput("no such view")

    before = signal.getsignal(signal.SIGINT)
    with Turns(told.append) as turns:
        pressing = threading.Thread(target=press)
        pressing.start()
        while pressing.is_alive():
            turns.take(wrong_turn)
            turns.take(lambda: sum(range(100)))
    assert signal.getsignal(signal.SIGINT) is before
    assert set(told) == {"error: no such view", "\ncancelled"}


def test_ctrl_c_ends_the_query_and_not_the_prompt(terminal):
    at = terminal()
    at.type("SELECT count(*) FROM range(1000000000) a, range(1000000000) b;\n")
    at.shows("b;")
    at.interrupt_until_it_shows("cancelled")
    at.shows("decaf> ")
    at.ask("SELECT 6 * 7 AS n;\n", "42")
    at.type("SELECT (\n")
    at.shows("... ")
    at.interrupt_until_it_shows("cancelled")
    at.shows("decaf> ")
    at.ask("SELECT 5 + 6 AS n;\n", "11")
    at.ask("SELECT list_sort(x) FROM (SELECT range(3000000000) AS x);\n", "needs more memory")
    at.ask("SELECT 6 + 6 AS n;\n", "12")
    at.type("\x04")
    assert at.process.wait(SECONDS) == 0


def test_reload_sees_what_was_committed_since(terminal, tmp_path):
    root = tmp_path / "warehouse"
    at = terminal()
    counted = "SELECT 100 + count(*) AS n FROM stg_runs;\n"
    at.ask(counted, "100")
    started = datetime(2026, 3, 1, tzinfo=UTC)
    run = {"run_id": "r", "started_at": started, "epsilon": 0.02, "pairs_digest": "p"}
    run |= {"unit_count": 0, "score": "{}", "config": "{}", "software": "{}"}
    commit(root, "runs", "s", "r", {"runs": pa.Table.from_pylist([run], TABLES["runs"].schema)})
    at.ask(counted, "100")
    at.ask(".rel\t\n", "commits: 1, +1 since")
    at.ask(counted, "101")

    # A warehouse that cannot be opened leaves the prompt with what it has.
    version = root / "warehouse.json"
    kept = version.read_text()
    version.write_text('{"schema_version": 99}')
    at.ask(".reload\n", "99")
    at.ask(counted, "101")
    version.write_text(kept)
    at.ask(".reload\n", "+0 since")
    at.type(".quit\n")
    assert at.process.wait(SECONDS) == 0


def test_options_of_one_query_need_one(terminal, tmp_path):
    root = open_root(tmp_path / "warehouse")
    at = Terminal([DECAF, "sql", "-w", str(root), "--format", "csv"], {})
    try:
        at.shows("need a query")
        assert at.process.wait(SECONDS) == 2
    finally:
        at.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; ", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT 'it''s;';", True),
        ('SELECT 1 AS ";";', True),
        ('SELECT 1 AS ";', False),
        ("SELECT 1 -- no;", False),
        ("SELECT 1 -- don't\n;", True),
        ("SELECT 1 /* ; ", False),
        ("SELECT 1; -- done", True),
    ],
)
def test_a_query_ends_at_its_semicolon(text, expected):
    assert is_complete(text) is expected


def test_completion_by_hand():
    complete = Completion({"out_costs": ["study", "rows"], "core_pairs": ["study"]}, ["sweep"])
    assert complete.candidates("s") == ["study", "sweep"]
    assert complete.candidates("OUT") == ["out_costs"]
    assert complete.candidates("out_costs.") == ["out_costs.study", "out_costs.rows"]
    assert complete.candidates("out_costs.r") == ["out_costs.rows"]
    assert complete.candidates("nowhere.r") == []
    assert complete.candidates(".q") == [".quit"]
    assert [complete("s", position) for position in range(3)] == ["study", "sweep", None]


@pytest.mark.slow
def test_every_view_is_described_and_its_example_runs():
    with connect_empty() as connection:
        complete = Completion.over(connection)
        assert complete.candidates("epsilon_sw") == ["epsilon_sweep"]
        for view in views():
            found = described(connection, view.name)
            assert found.columns or found.signatures, view.name
            if found.example and OWN_RELATION not in found.example:
                rows = connection.sql(found.example)
                assert set(rows.columns) <= {name for name, _ in found.columns}
        scores = dict(described(connection, "core_trajectories").columns)
        assert (scores["q_plus"], scores["pair_id"]) == ("DOUBLE[]", "VARCHAR")
        calls = described(connection, "epsilon_sweep")
        assert calls.signatures == ("epsilon_sweep(epsilons)",)
        with pytest.raises(UnknownName, match="did you mean 'out_costs'"):
            described(connection, "out_cost")


def test_views_are_described_without_a_warehouse(decaf):
    assert "out_rank_transfer" in succeeded(decaf("views"))
    one = succeeded(decaf("views", "epsilon_sweep"))
    for words in ("one row per study", "epsilon_sweep(epsilons)", "DOUBLE", "FROM epsilon_sweep(["):
        assert words in one
    refused(decaf("views", "out_cost"), "did you mean 'out_costs'")
