"""Hostile queries: ways out of the sandbox, what takes all memory, what never ends."""

import signal
import time

import pytest
from ended_commands import refused, succeeded
from psutil import STATUS_ZOMBIE, Process
from running_command import wait_for

from decaf.errors import QueryError
from warehouse.query.catalog import run_query

SECONDS_TO_END = 10
READ_ONLY, NO_FILES = "expected one SELECT that writes nothing", "file system operations"
UNKNOWN = "does not exist"
MOST_DEPTH = "Max expression depth"
ENDLESS = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b"
STOPPED = "stopped; give the same command again\n"


def nested(begin, middle, end, depth=10_000):
    return f"SELECT {begin * depth}{middle}{end * depth}"


def subqueries(depth):
    return "SELECT * FROM (" * depth + "SELECT 1 AS n" + ")" * depth


REFUSED = [
    ("COPY (SELECT 1) TO 'stolen.csv'", READ_ONLY),
    ("COPY receipts FROM '/etc/passwd'", READ_ONLY),
    ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'stolen.csv'", READ_ONLY),
    ("EXPORT DATABASE 'stolen'", READ_ONLY),
    ("ATTACH 'stolen.duckdb' AS x", READ_ONLY),
    ("INSTALL httpfs", READ_ONLY),
    ("LOAD httpfs", READ_ONLY),
    ("SET enable_external_access = true", READ_ONLY),
    ("RESET lock_configuration", READ_ONLY),
    ("PRAGMA memory_limit='100GB'", READ_ONLY),
    ("CREATE SECRET s (TYPE s3)", READ_ONLY),
    ("CREATE MACRO f(a) AS a", READ_ONLY),
    ("DROP TABLE receipts", READ_ONLY),
    ("INSERT INTO receipts SELECT * FROM receipts", READ_ONLY),
    ("WITH x AS (DELETE FROM receipts RETURNING *) FROM x", READ_ONLY),
    ("SELECT 1; DROP TABLE receipts", READ_ONLY),
    ("PREPARE p AS SELECT 1", READ_ONLY),
    ("CALL pragma_version()", READ_ONLY),
    ("CHECKPOINT", READ_ONLY),
    ("USE warehouse", READ_ONLY),
    ("BEGIN", READ_ONLY),
    ("FROM query('DROP TABLE receipts')", "Expected a single SELECT"),
    ("FROM query('COPY (SELECT 1) TO ''stolen.csv''')", "Expected a single SELECT"),
    ("WITH a AS (COPY (SELECT 1) TO 'stolen.csv') FROM a", READ_ONLY),
    ("FROM read_csv('/etc/passwd')", NO_FILES),
    ("FROM read_text('/proc/self/environ')", NO_FILES),
    ("FROM glob('/*')", NO_FILES),
    ("FROM parquet_metadata('../../etc/passwd')", NO_FILES),
    ("FROM read_parquet('http://127.0.0.1:1/x.parquet')", NO_FILES),
    ("FROM 's3://bucket/x.parquet'", NO_FILES),
    ("FROM duckdb_secrets()", NO_FILES),
    ("FROM '/etc/passwd'", UNKNOWN),
    ("SELECT getenv('HOME')", UNKNOWN),
    ("FROM connection", UNKNOWN),
    ("FROM sqlite_scan('x.db', 't')", "not in the catalog"),
    ("/* open", "unterminated"),
    (nested("(", "1", ")"), MOST_DEPTH),
    (nested("[", "1", "]"), MOST_DEPTH),
    (nested("NOT ", "true", ""), MOST_DEPTH),
    (subqueries(1_010), MOST_DEPTH),
    ("SELECT '" + "x" * 100_000, "unterminated"),
    ("SELECT error('late') FROM range(3)", "late"),
]
TOO_LARGE = [
    "SELECT length(repeat('x', 4000000000))",
    "SELECT len(list(i)) FROM range(3000000000) AS t(i)",
]
ANSWERED = [
    (subqueries(900), 1),
    ("FROM query('SELECT 42 AS n')", 42),
    ("SELECT 1 AS n WHERE " + " AND ".join(["1 = 1"] * 900), 1),
]


@pytest.mark.parametrize(("query", "words"), REFUSED, ids=lambda text: text[:48])
def test_a_hostile_query_is_refused(opened_empty, query, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError) as refusal:
        run_query(opened_empty, query)
    assert words in str(refusal.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("query", "value"), ANSWERED, ids=str)
def test_a_harmless_query_is_answered(opened_empty, query, value):
    assert run_query(opened_empty, query).to_pylist() == [{"n": value}]


@pytest.mark.parametrize("query", TOO_LARGE)
def test_a_query_that_would_take_all_memory_ends(empty, decaf, query):
    refused(decaf("sql", "-w", empty, "--memory", 1, query))


def test_a_refusal_of_the_command_has_its_exit_code(empty, decaf, tmp_path):
    refused(decaf("sql", "-w", empty, "COPY (SELECT 1) TO 'stolen.csv'"))
    assert not list(tmp_path.glob("stolen*"))


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"SELECT length('" + b"x" * 1_000_000 + b"') AS n", 0, '{"n": 1000000}'),
        (b"SELECT '\xff'", 2, "query.sql"),
        (b"SELECT 'a\0b' AS x", 0, r"a\u0000b"),
        (b"SELECT 1\0; DROP TABLE receipts", 2, ""),
    ],
    ids=["a megabyte", "no UTF-8", "NUL", "NUL between"],
)
def test_a_query_of_odd_bytes(empty, decaf, tmp_path, content, code, words):
    (tmp_path / "query.sql").write_bytes(content)
    done = decaf("sql", "-w", empty, "--format", "jsonl", "-f", "query.sql")
    assert words in (refused(done) if code else succeeded(done))


def test_an_odd_bound_is_refused(empty, decaf):
    refused(decaf("sql", "-w", empty, "SELECT 1", "--memory", "nan"), "--memory")


@pytest.mark.parametrize(
    ("query", "is_at_terminal"),
    [(ENDLESS, True), ("SELECT length(repeat('x', 2000000000))", False)],
)
def test_ctrl_c_ends_any_query_and_leaves_nothing(
    empty, query, is_at_terminal, start_decaf, tmp_path
):
    asked, process = _asked(empty, query, start_decaf, tmp_path)
    for each in (process, asked) if is_at_terminal else (asked,):
        each.send_signal(signal.SIGINT)
    done = asked.completed(timeout=SECONDS_TO_END)
    assert (done.returncode, done.stderr) == (130, STOPPED)
    assert not process.is_running()
    assert not list(tmp_path.glob("rows.csv*"))
    assert not list((tmp_path / "scratch").iterdir())


def test_a_query_does_not_outlive_its_command(empty, start_decaf, tmp_path):
    asked, process = _asked(empty, ENDLESS, start_decaf, tmp_path)
    asked.send_signal(signal.SIGKILL)
    asked.wait()
    stop = time.monotonic() + SECONDS_TO_END
    while process.is_running() and process.status() != STATUS_ZOMBIE:
        assert time.monotonic() < stop, "the query goes on"
        time.sleep(0.05)


def _asked(empty, query, start_decaf, folder):
    """A command whose query is under way, and the process that computes it."""
    (folder / "scratch").mkdir()
    asked = start_decaf("sql", "-w", empty, query, "-o", "rows.csv", TMPDIR=str(folder / "scratch"))
    command = Process(asked.pid)
    wait_for(command.children, asked)
    (process,) = command.children()
    wait_for(lambda: process.cpu_times().user > 0.5, asked)
    return asked, process
