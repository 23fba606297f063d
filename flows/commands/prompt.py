"""The prompt of ``decaf sql`` at a terminal: history, completion, queries of several lines.

A query ends with ``;``. Tab completes views, tables, macros and columns, after ``view.`` the
columns of that view alone. An error does not end the prompt, and Ctrl-C ends a query.
"""

import os
import re
import readline
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import duckdb
from rich.console import Console
from rich.text import Text

from decaf.errors import BadInput, suggestion
from flows.commands.answers import ROWS_SHOWN, print_rows
from flows.commands.terminal import warn
from flows.commands.views import describe, list_views
from warehouse.query.catalog import stream_query
from warehouse.query.query_process import QueryProcess
from warehouse.storage import Root

READY, GOING_ON = "decaf> ", "   ... "
COMMANDS = {
    ".views": "the views with what they are for",
    ".describe NAME": "columns of a view, with an example",
    ".reload": "see what was committed since",
    ".help": "this list",
    ".quit": "leave, as Ctrl-D does",
}
MOST_REMEMBERED = 1000
BREAKS = " \t\n\"'`()[]{}<>=!+-*/%,;|^&~"
CLOSED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Texts, quoted names and comments that are complete: a semicolon in them ends nothing."""


class Completion:
    """Candidates for the word at the cursor, as GNU readline asks for them: one after another."""

    def __init__(self, columns: dict[str, list[str]], macros: list[str]) -> None:
        self._columns = columns
        everything = {name for own in columns.values() for name in own}
        self._words = sorted(everything | columns.keys() | set(macros))
        self._commands = [command.split()[0] for command in COMMANDS]
        self._found: list[str] = []

    @classmethod
    def over(cls, connection: duckdb.DuckDBPyConnection) -> "Completion":
        """Complete what a connection knows."""
        columns: dict[str, list[str]] = {}
        for view, column in connection.sql(
            "SELECT table_name, column_name FROM information_schema.columns "
            "ORDER BY table_name, ordinal_position"
        ).fetchall():
            columns.setdefault(view, []).append(column)
        macros = connection.sql(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal"
        ).fetchall()
        return cls(columns, [name for (name,) in macros])

    def __call__(self, word: str, position: int) -> str | None:
        """Candidate at a position, none after the last."""
        if position == 0:
            self._found = self.candidates(word)
        return self._found[position] if position < len(self._found) else None

    def candidates(self, word: str) -> list[str]:
        """All words that go on from this one, whatever its case."""
        if word.startswith("."):
            return [command for command in self._commands if command.startswith(word)]
        view, dot, begun = word.rpartition(".")
        names = self._columns.get(view, []) if dot else self._words
        return [f"{view}{dot}{name}" for name in names if name.startswith(begun.lower())]


def is_complete(text: str) -> bool:
    """Whether a query has come to its semicolon, outside texts and comments."""
    rest = CLOSED.sub(" ", text)
    return rest.rstrip().endswith(";") and not re.search(r"['\"]|/\*", rest)


def converse(
    console: Console,
    complain: Callable[[str], None],
    root: Root,
    limit: int | None,
    memory_gb: int,
) -> None:
    """Answer queries until ``.quit`` or Ctrl-D.

    A connection sees the commits of the moment it was opened; ``.reload`` opens another, and so
    does the query after one that was cancelled.
    """
    shown = ROWS_SHOWN if limit is None else limit
    is_over = False

    def answer(connection: duckdb.DuckDBPyConnection, text: str | None) -> tuple | None:
        if text is None:
            return Completion.over(connection), _count_commits(connection)
        return _answer(console, connection, text, shown)

    def one_turn() -> None:
        nonlocal process, commits, is_over
        text = _read()
        if text in (None, ".quit"):
            is_over = True
        elif text == ".reload":
            # The old one goes on where the warehouse cannot be opened again.
            opened = QueryProcess(root, answer, memory_gb, warn)
            before, (_, commits) = commits, opened.ask()
            process.close()
            process = opened
            console.print(Text(f"commits: {commits:,}, {commits - before:+,} since"))
        else:
            process.ask(text)

    process = QueryProcess(root, answer, memory_gb, warn)
    completion, commits = process.ask()
    try:
        _prepare(completion)
        console.print(Text(f"{root}: a query ends with ;  Tab completes, .help lists commands"))
        with Turns(complain) as turns:
            while not is_over:
                turns.take(one_turn)
    finally:
        process.close()
        _remember()


class Turns:
    """Turns of a conversation, which nothing that goes wrong in one of them ends.

    Ctrl-C ends a turn, once. Between turns, and while one that ended is told of, it does nothing:
    an exception that a handler raises there would end the prompt.
    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._is_heeding = False

    def __enter__(self) -> "Turns":
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def take(self, turn: Callable[[], None]) -> None:
        """Take a turn, and say whatever is wrong with it."""
        try:
            try:
                self._is_heeding = True
                turn()
                self._is_heeding = False
            except BadInput as error:
                self._is_heeding = False
                self._complain(f"error: {error}")
            except KeyboardInterrupt:
                self._is_heeding = False
                self._complain("\ncancelled")
        except KeyboardInterrupt:
            # Pressed before the turn's end was noted: the handler heeds nothing more.
            self._complain("\ncancelled")

    def _interrupted(self, *_: object) -> None:
        if self._is_heeding:
            self._is_heeding = False
            raise KeyboardInterrupt


def _answer(console: Console, connection: duckdb.DuckDBPyConnection, text: str, limit: int) -> None:
    if text.startswith("."):
        _command(console, connection, text)
    elif text.strip(" ;\n\t"):
        print_rows(console, stream_query(connection, text), limit)


def _count_commits(connection: duckdb.DuckDBPyConnection) -> int:
    return connection.sql("SELECT count(*) FROM receipts").fetchall()[0][0]


def _command(console: Console, connection: duckdb.DuckDBPyConnection, text: str) -> None:
    name, _, argument = text.partition(" ")
    if name == ".views":
        list_views(console)
    elif name == ".describe":
        describe(console, connection, argument.strip(" ;"))
    elif name == ".help":
        for command, meaning in COMMANDS.items():
            console.print(Text(f"{command:16}{meaning}"))
    else:
        commands = [command.split()[0] for command in COMMANDS]
        raise BadInput(f"unknown command {name!r}{suggestion(name, commands)}")


def _read() -> str | None:
    """One command, or the lines up to a semicolon; nothing when the input ends."""
    lines: list[str] = []
    while True:
        try:
            lines.append(input(GOING_ON if lines else READY))
        except EOFError:
            return None
        text = "\n".join(lines)
        if text.startswith(".") or not text.strip() or is_complete(text):
            if text.strip():
                readline.add_history(text if "--" in text else " ".join(text.split("\n")))
            return text.strip()


def _prepare(completion: Completion) -> None:
    readline.set_completer(completion)
    readline.set_completer_delims(BREAKS)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    readline.set_auto_history(False)
    readline.set_history_length(MOST_REMEMBERED)
    with suppress(OSError):
        readline.read_history_file(_history_file())


def _remember() -> None:
    """Keep the history for the next time, where that can be written."""
    with suppress(OSError):
        _history_file().parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(_history_file())


def _history_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "decaf" / "sql_history"
