"""Views as LaTeX tables and as sheets of a workbook."""

import re
import sys
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from io import BytesIO
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from ended_commands import refused, succeeded
from small_warehouse import MODELS, PAIRS

from decaf.errors import BadInput, MissingPackage, QueryError, UnknownName, WriteFailed
from warehouse.query import workbook
from warehouse.query.catalog import Rows, run_query
from warehouse.query.export import export_views
from warehouse.query.formats import write_rows
from warehouse.query.latex import COMMANDS, escape
from warehouse.query.views import views
from warehouse.query.workbook import NAME_CHARACTERS, export_workbook
from warehouse.tables.declarations import TABLES

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def connect_to(monkeypatch):
    """Let the views of an export be one table of the test."""

    def connect_to(table):
        monkeypatch.setattr(workbook, "find_sources", lambda *asked: {"rows": "rows"})
        monkeypatch.setattr(workbook, "_check_size", lambda *asked: None)
        monkeypatch.setattr(workbook, "stream_view", lambda *asked: rows_of(table))

    return connect_to


def rows_of(table):
    return Rows(table.schema, iter(table.to_batches()))


def latex(table):
    sink = BytesIO()
    assert write_rows(rows_of(table), "latex", sink) == table.num_rows
    return sink.getvalue().decode()


def sheets(path):
    """Cells of each sheet: a kind (``n``, ``b``, ``inlineStr``) and a text; NULL is None."""
    with zipfile.ZipFile(path) as book:
        names = [
            sheet.get("name")
            for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{MAIN}sheet")
        ]
        content = {}
        for number, name in enumerate(names, start=1):
            xml = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
            assert not list(xml.iter(f"{MAIN}f")), "no cell is a formula"
            content[name] = [
                {
                    cell.get("r").rstrip("0123456789"): (
                        cell.get("t", "n"),
                        "".join(text.text or "" for text in cell.iter() if len(text) == 0),
                    )
                    for cell in row
                }
                for row in xml.iter(f"{MAIN}row")
            ]
        return content


def test_a_latex_table_has_the_numbers_of_the_view(opened_two, tmp_path):
    export_views(opened_two, tmp_path, ["out_model_profiles"], "latex", "s")
    lines = (tmp_path / "out_model_profiles.tex").read_text().splitlines()
    rows = run_query(opened_two, "FROM out_model_profiles WHERE study = 's'").to_pylist()
    assert lines[1].count("r") + lines[1].count("l") >= len(rows[0])
    assert [line for line in lines if line.startswith("\\") and "rule" in line] == [
        "\\toprule",
        "\\midrule",
        "\\bottomrule",
    ]
    cells = [line.removesuffix(" \\\\").split(" & ") for line in lines if line.startswith("s &")]
    assert len(cells) == len(rows)
    for line, row in zip(cells, rows, strict=True):
        written = dict(zip(row, line, strict=True))
        assert written["model_id"] == escape(row["model_id"])
        assert written["pair_count"] == f"{row['pair_count']:,}"
        assert written["evidence"] in (f"{row['evidence']:.3f}", "0")


def test_latex_writes_each_type_of_value():
    table = pa.table(
        {
            "a_b": pa.array(["50 % & more", None]),
            "float": pa.array([-0.12345, 1e-9]),
            "count": pa.array([1234567, -1000]),
            "is": pa.array([True, False]),
            "list": pa.array([[0.5, None], []]),
            "fixed": pa.array([Decimal("2.50"), Decimal("3.00")]),
        }
    )
    assert latex(table).splitlines() == [
        "% needs \\usepackage{booktabs}",
        "\\begin{tabular}{lrrllr}",
        "\\toprule",
        "a\\_b & float & count & is & list & fixed \\\\",
        "\\midrule",
        "50 \\% \\& more & $-$0.123 & 1,234,567 & true & {[}0.500, --{]} & 2.500 \\\\",
        "-- & \\textless{}0.001 & $-$1,000 & false & {[}{]} & 3 \\\\",
        "\\bottomrule",
        "\\end{tabular}",
    ]


@pytest.mark.parametrize("letter", [chr(code) for code in range(0x20, 0x7F)])
def test_no_printable_character_is_a_command(letter):
    read_as_command = r"\{}$&#_%^~`<>|" + '"[*]'
    assert (escape(letter) != letter) == (letter in read_as_command)


@pytest.mark.parametrize(
    "text", ["\\input{/etc/passwd}", "a\nb\r\n\nc", "\\\\[2cm]", "?`--''", "\x1b[31m", "x}\\end"]
)
def test_hostile_text_becomes_one_plain_cell(text):
    (line,) = [
        line
        for line in latex(pa.table({"x": [text]})).splitlines()
        if line.endswith("\\\\") and not line.startswith("x ")
    ]
    written = line.removesuffix(" \\\\")
    allowed = "|".join(map(re.escape, [*COMMANDS.values(), "{}"]))
    assert not re.search(r"[\\{}$&#_%^~`<>|\"\[\]*]", re.sub(allowed, "", written))
    assert "\n" not in written


def test_a_workbook_has_a_sheet_for_each_view(opened_two, tmp_path):
    target = tmp_path / "book.xlsx"
    written = export_workbook(opened_two, target, ["out_model_profiles", "profiles"], "t")
    count = len(MODELS) * len(PAIRS)
    assert written == [("out_model_profiles", 2), ("profiles", count)]
    content = sheets(target)
    assert [len(rows) for rows in content.values()] == [3, count + 1]
    names, *lines = content["profiles"]
    columns = {text: place for place, (_, text) in names.items()}
    stored = run_query(opened_two, "FROM stg_profiles WHERE study = 't'").to_pylist()
    found = {(line[columns["pair_id"]][1], line[columns["model_id"]][1]): line for line in lines}
    assert len(found) == count
    for row in stored:
        kind, text = found[row["pair_id"], row["model_id"]][columns["evidence"]]
        assert kind == "n"
        assert float(text) == pytest.approx(row["evidence"], rel=1e-15)


def test_two_workbooks_of_one_warehouse_have_the_same_bytes(opened_two, tmp_path):
    first, second = tmp_path / "1.xlsx", tmp_path / "2.xlsx"
    for target in (first, second):
        export_workbook(opened_two, target, ["out_model_profiles"])
    assert first.read_bytes() == second.read_bytes()


def test_a_workbook_computes_no_text(connect_to, tmp_path):
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "https://example.org", "", None]
    table = pa.table(
        {
            "=A1": pa.array(texts),
            "number": pa.array([1.5, float("nan"), float("inf"), 0.1, 1e300, -0.0, None]),
            "whole": pa.array([1, 2**53, 2**53 + 1, -(2**62), 0, 1, 2]),
            "is": pa.array([True, False, None, True, True, True, True]),
            "list": pa.array([[1, 2], [], None, [], [], [], []]),
            "at": pa.array([datetime(2026, 1, 2, 3, tzinfo=UTC)] * 7),
        }
    )
    connect_to(table)
    export_workbook(None, tmp_path / "book.xlsx", ["rows"])
    names, *lines = sheets(tmp_path / "book.xlsx")["rows"]
    assert names["A"] == ("inlineStr", "=A1")
    assert [line.get("A", (None, None)) for line in lines] == [
        *(("inlineStr", text) for text in texts[:-1]),
        (None, None),
    ]
    assert [line["B"] for line in lines[:4]] == [
        ("n", "1.5"),
        ("inlineStr", "nan"),
        ("inlineStr", "inf"),
        ("n", "0.1"),
    ]
    assert "B" not in lines[6]
    assert lines[1]["C"] == ("n", str(2**53))
    assert [lines[2]["C"], lines[3]["C"]] == [
        ("inlineStr", str(2**53 + 1)),
        ("inlineStr", str(-(2**62))),
    ]
    assert (lines[0]["D"], "D" in lines[2]) == (("b", "1"), False)
    assert lines[0]["E"] == ("inlineStr", "[1, 2]")
    assert lines[0]["F"] == ("inlineStr", "2026-01-02T03:00:00+00:00")


def test_a_text_that_no_cell_holds_is_refused(connect_to, tmp_path):
    connect_to(pa.table({"x": ["a" * 32_767, "a" * 32_768]}))
    with pytest.raises(BadInput, match=r"column x, data row 2: found 32,768 .* 32,767"):
        export_workbook(None, tmp_path / "book.xlsx", ["rows"])
    assert not list(tmp_path.iterdir())


def test_more_rows_than_a_sheet_has_are_refused(opened_two, tmp_path, monkeypatch):
    count = 2 * len(MODELS) * len(PAIRS)
    assert workbook.MOST_ROWS == 1_048_576
    monkeypatch.setattr(workbook, "MOST_ROWS", count)
    with pytest.raises(BadInput, match=f"has {count:,} rows"):
        export_workbook(opened_two, tmp_path / "book.xlsx", ["profiles"])
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(workbook, "MOST_ROWS", count + 1)
    export_workbook(opened_two, tmp_path / "book.xlsx", ["profiles"])


def test_a_full_disk_leaves_no_workbook(connect_to, small_disk):
    texts = [f"{number:x}" * 40 for number in range(200_000, 230_000)]
    connect_to(pa.table({"x": texts}))
    with pytest.raises(WriteFailed, match="could not be written"):
        export_workbook(None, small_disk / "book.xlsx", ["rows"])
    assert not list(small_disk.iterdir())


def test_names_of_sheets_differ():
    names = [*TABLES, *(view.name for view in views())]
    assert len({name[:NAME_CHARACTERS] for name in names}) == len(set(names))


def test_an_unknown_view_is_refused(opened_two, tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'profiles'"):
        export_workbook(opened_two, tmp_path / "book.xlsx", ["profile"])


def test_the_extra_is_named_where_it_is_missing(opened_two, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingPackage, match=r"xlsxwriter .* pip install .*\[xlsx\]'?"):
        export_workbook(opened_two, tmp_path / "book.xlsx", ["profiles"])


def test_two_columns_of_one_name_are_no_fault_of_latex():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "a & a \\\\" in latex(table)
    with pytest.raises(QueryError):
        write_rows(rows_of(table), "parquet", BytesIO())


def test_the_command_writes_and_refuses(two_studies, decaf, tmp_path):
    def export(*words):
        return decaf("export", *words, DECAF_WAREHOUSE=str(two_studies))

    printed = succeeded(export("book.xlsx", "out_model_profiles", "out_runs"))
    assert "2 sheets in book.xlsx" in printed
    assert list(sheets(tmp_path / "book.xlsx")) == ["out_model_profiles", "out_runs"]
    succeeded(export("tables", "out_runs", "--format", "latex"))
    assert (tmp_path / "tables" / "out_runs.tex").is_file()
    refused(export("book.xlsx"), "out_model_profiles")
    refused(export("tables", "--format", "latex"), "out_model_profiles")
    refused(export("tables", "out_runs", "--format", "xlsx"), ".xlsx")
    refused(export("book.xlsx", "out_runs", "--format", "csv"), "book.xlsx")
    query = ("sql", "FROM out_runs", "--output", "runs.tex")
    succeeded(decaf(*query, DECAF_WAREHOUSE=str(two_studies)))
    assert (tmp_path / "runs.tex").read_text() == (tmp_path / "tables/out_runs.tex").read_text()
