"""Questions in SQL: where they come from, what they may do, where the rows go."""

import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ended_commands import refused, succeeded
from rich.console import Console

from decaf.errors import BadInput, QueryError, WriteFailed
from flows.commands.answers import print_rows
from flows.commands.sql import answer, chosen_format, parameters, read_query
from warehouse.query.catalog import Rows, stream_query
from warehouse.query.formats import FORMATS, write_file, write_rows

DECAF = Path(sys.executable).parent / "decaf"
ODD = (
    "SELECT 7 AS n, NULL AS gap, '' AS empty, 'a,\"b' AS text, [0.5, NULL] AS list, "
    "{x: 1} AS entry, 'nan'::DOUBLE AS nan, 1.50 AS decimal, DATE '2026-03-01' AS day, "
    "INTERVAL 1 DAY AS span"
)


def written(opened, query, file_format):
    sink = io.BytesIO()
    count = write_rows(stream_query(opened, query), file_format, sink)
    return count, sink.getvalue()


def printed(rows, width, limit=100):
    """Output of a terminal of this width."""
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=True, color_system=None)
    print_rows(console, rows, limit)
    return text.getvalue()


def made(columns):
    table = pa.table(columns)
    return Rows(table.schema, iter(table.to_batches(max_chunksize=2)))


def test_csv_tells_null_from_empty_text(opened_empty):
    count, content = written(opened_empty, ODD, "csv")
    header, row = content.decode().splitlines()
    assert count == 1
    assert header.startswith('"n","gap","empty"')
    assert row.startswith('7,,"",')
    values = next(csv.DictReader(io.StringIO(content.decode())))
    assert values["text"] == 'a,"b'
    assert json.loads(values["list"]) == [0.5, None]
    assert json.loads(values["entry"]) == {"x": 1}
    assert values["decimal"] == "1.50"
    assert values["day"] == "2026-03-01"


def test_json_is_read_by_any_reader(opened_empty):
    def refuse(constant):
        raise ValueError(constant)

    expected = {"n": 7, "gap": None, "empty": "", "text": 'a,"b', "list": [0.5, None]}
    expected |= {"entry": {"x": 1}, "nan": "nan", "decimal": 1.5, "day": "2026-03-01"}
    for file_format in ("json", "jsonl"):
        _, content = written(opened_empty, ODD, file_format)
        found = json.loads(content, parse_constant=refuse)
        row = found[0] if file_format == "json" else found
        assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ("INTERVAL 1 DAY", "1 day"),
        ("INTERVAL '14 months 3 days 4 hours 5.5 seconds'", "1 year 2 months 3 days 04:00:05.5"),
        ("-INTERVAL 90 MINUTE", "-01:30:00"),
        ("INTERVAL '-1 month -2 days 3 hours'", "-1 month -2 days 03:00:00"),
        ("INTERVAL '-25 months 100 hours 0.000001 seconds'", "-2 years -1 month 100:00:00.000001"),
        ("INTERVAL 0 DAY", "00:00:00"),
    ],
)
def test_spans_are_written_as_duckdb_does(opened_empty, span, text):
    query = f"SELECT {span} AS span, ({span})::VARCHAR AS text, [{span}] AS list"
    assert text in printed(stream_query(opened_empty, query), 200)
    assert "[0, " not in printed(stream_query(opened_empty, query), 200)
    row = json.loads(written(opened_empty, query, "jsonl")[1])
    assert row == {"span": text, "text": text, "list": [text]}
    (values,) = csv.DictReader(io.StringIO(written(opened_empty, query, "csv")[1].decode()))
    assert (values["span"], values["text"]) == (text, text)
    assert json.loads(values["list"]) == [text]


def test_doubles_come_back_bit_by_bit(opened_empty):
    query = "SELECT sin(range) AS x FROM range(25000) ORDER BY x"
    expected = stream_query(opened_empty, query)
    values = [value for batch in expected.batches for value in batch["x"].to_pylist()]
    assert len(values) == 25_000
    assert (
        pq.read_table(io.BytesIO(written(opened_empty, query, "parquet")[1]))["x"].to_pylist()
        == values
    )
    lines = written(opened_empty, query, "csv")[1].decode().splitlines()[1:]
    assert [float(line) for line in lines] == values
    assert [row["x"] for row in json.loads(written(opened_empty, query, "json")[1])] == values


@pytest.mark.parametrize("file_format", FORMATS)
def test_no_rows_are_a_valid_file(opened_empty, file_format):
    count, content = written(opened_empty, "SELECT 1 AS n WHERE false", file_format)
    assert count == 0
    if file_format == "parquet":
        assert pq.read_table(io.BytesIO(content)).schema.names == ["n"]
    elif file_format == "latex":
        assert content.endswith(b"n \\\\\n\\midrule\n\\bottomrule\n\\end{tabular}\n")
    else:
        empty = {"csv": b'"n"\n', "spreadsheet": b'"n"\n', "json": b"[]\n", "jsonl": b""}
        assert content == empty[file_format]


@pytest.mark.parametrize("file_format", ["json", "jsonl", "parquet"])
def test_two_columns_of_one_name_are_refused(opened_empty, file_format):
    with pytest.raises(QueryError, match="named x"):
        written(opened_empty, "SELECT 1 AS x, 2 AS x", file_format)
    assert written(opened_empty, "SELECT 1 AS x, 2 AS x", "csv")[1] == b'"x","x"\n1,2\n'


def test_an_error_on_a_late_row_is_a_query_error(opened_empty):
    late = "SELECT CASE WHEN range = 90000 THEN error('late') ELSE range END FROM range(100000)"
    with pytest.raises(QueryError, match="late"):
        written(opened_empty, late, "csv")
    assert written(opened_empty, "SELECT 1 AS n", "csv")[0] == 1


def test_parameters_are_typed_as_they_look():
    given = ["a=0.5", "b=007", 'c="7"', "$d=[1, 2]", "e=null", "f=true", "g=x=y", "h=NaN", "i="]
    assert parameters(given) == {
        **{"a": 0.5, "b": "007", "c": "7", "d": [1, 2], "e": None, "f": True},
        **{"g": "x=y", "h": "NaN", "i": ""},
    }
    for slip in (["a"], ["=1"], ["a b=1"], ["a=1", "a=2"]):
        with pytest.raises(QueryError, match="--param"):
            parameters(slip)


def test_a_parameter_is_a_value_never_sql(opened_empty):
    values = {"x": "1; DROP VIEW core_pairs", "y": None, "z": [0.1, 0.2]}
    batch = next(stream_query(opened_empty, "SELECT $x AS x, $y AS y, $z AS z", values).batches)
    assert batch.to_pylist() == [values]
    with pytest.raises(QueryError, match=r"\$x"):
        stream_query(opened_empty, "SELECT $x")
    with pytest.raises(QueryError, match=r"\$x"):
        stream_query(opened_empty, "SELECT 1", {"x": 1})


def test_a_table_says_null_and_how_many_more(opened_empty):
    rows = stream_query(opened_empty, "SELECT NULL AS gap, range AS n FROM range(12000)")
    lines = printed(rows, 80, limit=3).splitlines()
    assert [line.split()[1::2] for line in lines[3:6]] == [["NULL", str(n)] for n in range(3)]
    assert lines[-1].startswith("3 of 12,000 rows, 11,997 more: --limit 0")
    everything = printed(made({"n": [1, 2, 3]}), 80, limit=0)
    assert everything.endswith("3 rows\n")
    assert "│ 3 │" in everything


def test_a_stored_value_moves_no_cursor_and_is_no_markup():
    text = printed(made({"name\x1b[2J": ["\x1b[31mred\r\n", "[bold]x[/bold]", "\u202eabc"]}), 80)
    assert "\x1b[2J" not in text
    assert "\x1b[31m" not in text
    assert r"\x1b[31mred\r\n" in text
    assert "[bold]x[/bold]" in text
    assert r"\u202eabc" in text


def test_a_wide_table_cuts_texts_and_never_numbers():
    number, word = -1234.56, "w" * 200
    columns = {f"n{i}": [number] for i in range(4)} | {"word": [word]}
    narrow = printed(made(columns), 80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.count("-1234.56") == 4
    assert "ww…" in narrow
    assert word in printed(made(columns), 300)


def test_a_table_too_wide_for_its_numbers_becomes_records():
    columns = {f"number_{i}": [i + 0.25, None] for i in range(12)}
    text = printed(made(columns), 60)
    assert "row 2" in text
    assert "number_11  11.25\n" in text
    assert "number_11  NULL\n" in text


def test_format_follows_the_file_and_the_reader(monkeypatch):
    for ending in ("csv", "json", "jsonl", "parquet"):
        assert chosen_format(None, Path(f"rows.{ending}")) == ending
    assert chosen_format(None, Path("rows.tex")) == "latex"
    assert chosen_format("csv", Path("rows.txt")) == "csv"
    for output, words in ((Path("rows.xlsx"), "ends in csv"), (Path("rows"), "ends in csv")):
        with pytest.raises(QueryError, match=words):
            chosen_format(None, output)
    with pytest.raises(QueryError, match="rows.csv"):
        chosen_format("table", Path("rows.csv"))
    for is_terminal, expected in ((True, "table"), (False, "csv")):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=is_terminal: answer)
        assert chosen_format(None, None) == expected


def test_a_file_is_written_whole_or_not_at_all(tmp_path, small_disk):
    target = tmp_path / "rows.csv"
    target.write_text("before")

    def half(sink):
        sink.write(b"half")
        raise QueryError("late")

    with pytest.raises(QueryError):
        write_file(target, half)
    assert target.read_text() == "before"
    with pytest.raises(WriteFailed, match="could not be written"):
        write_file(small_disk / "rows.csv", lambda sink: sink.write(bytes(10**6)))
    assert list(small_disk.iterdir()) == []
    with pytest.raises(BadInput, match="is a folder"):
        write_file(tmp_path, lambda sink: sink.write(b""))
    with pytest.raises(BadInput, match="choose another"):
        write_file(target / "rows.csv", lambda sink: sink.write(b""))
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.glob("rows*")] == ["rows.csv"]


def test_the_command(empty, decaf, tmp_path):
    ask = ("sql", "-w", empty)
    piped = decaf(*ask, "SELECT $x AS x, NULL AS gap", "--param", "x=0.5")
    assert (piped.returncode, piped.stdout) == (0, '"x","gap"\n0.5,\n')
    (tmp_path / "q.sql").write_text("SELECT 1 AS n -- one")
    to_file = decaf(*ask, "--file", "q.sql", "--output", "out/rows.parquet")
    assert succeeded(to_file) == "1 row: out/rows.parquet\n"
    assert pq.read_table(tmp_path / "out" / "rows.parquet").to_pylist() == [{"n": 1}]
    assert "2 of 9 rows" in decaf(*ask, "FROM range(9)", "--format", "table", "--limit", 2).stdout


def test_a_slip_is_explained(empty):
    for query, file in (("SELECT 1", "q.sql"), (None, "nowhere.sql")):
        with pytest.raises(QueryError, match=file):
            read_query(query, Path(file))
    with pytest.raises(QueryError, match="LIMIT 3"):
        answer(Console(), empty, "SELECT 1", {}, "csv", None, limit=3, memory_gb=1)


def test_queries_are_piped_in_and_rows_out(empty):
    def through(query, *arguments):
        command = [DECAF, "sql", "-w", str(empty), *arguments]
        return subprocess.run(
            command, input=query, capture_output=True, text=True, timeout=60, check=False
        )

    assert through("SELECT 1 AS n", "--format", "jsonl").stdout == '{"n": 1}\n'
    refused(through("  \n"), "no query")
    cut = f"echo 'FROM range(3000000)' | {DECAF} sql -w '{empty}' | head -n 1"
    done = subprocess.run(cut, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ('"range"\n', "")


def test_a_terminal_without_a_query_is_refused(empty):
    side, inner = pty.openpty()
    command = [DECAF, "sql", "-w", str(empty)]
    done = subprocess.run(
        command, stdin=inner, capture_output=True, text=True, timeout=60, check=False
    )
    os.close(inner)
    os.close(side)
    refused(done, "decaf export results.duckdb", "duckdb results.duckdb")


def test_export_from_the_command_line(empty, decaf, tmp_path):
    done = decaf("export", "copies", "profiles", "out_costs", "--format", "csv", "-w", empty)
    assert "manifest.json" in succeeded(done)
    names = sorted(path.name for path in (tmp_path / "copies").iterdir())
    assert names == ["manifest.json", "out_costs.csv", "profiles.csv"]
    refused(decaf("export", "copies", "profile", "-w", empty), "did you mean 'profiles'")


def test_the_query_of_a_table_of_a_study_is_written_as_csv(empty, decaf, tmp_path, monkeypatch):
    """docs/plugins.md: the file has a header of comments and the parameter ``study``."""
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
    (command,) = re.findall(r"^    decaf (sql --file results/skies.sql .*)$", page, re.M)
    (query,) = re.findall(r"```sql\n(-- purpose.*?)```", page, re.S)
    Path("results").mkdir()
    Path("results/skies.sql").write_text(query)
    succeeded(decaf(*shlex.split(command), "-w", empty))
    columns = ["judge", "path", "birds", "abs_response", "evidence"]
    with Path("skies.csv").open(newline="") as file:
        assert [*csv.reader(file)] == [columns]
