"""Tables as people have them: one reader, by hand-made files of every format."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from decaf.data.table_files import read_columns, read_table
from decaf.errors import DataError

CSV = 'name,code,share,empty\n"a, b",007,0.5,\nc,8,1e3,\n,9,,x\n'
TEXTS = {
    "name": ["a, b", "c", None],
    "code": ["007", "8", "9"],
    "share": ["0.5", "1e3", None],
    "empty": [None, None, "x"],
}


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_has_texts_as_they_are_written(tmp_path, start, end):
    path = written(tmp_path, "T.CSV", start + CSV.replace("\n", end))
    assert read_table(path) == TEXTS


def test_other_formats_have_types_of_their_own(tmp_path):
    columns = {"name": ["a", None], "code": ["007", "8"], "label": [1, 2], "share": [2.0, 0.5]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    del lines[1]["name"]
    text = "".join(f"{json.dumps(line)}\n\n" for line in lines)
    for path in (
        tmp_path / "t.parquet",
        *(written(tmp_path, f"t.{e}", text) for e in ("jsonl", "ndjson")),
    ):
        assert read_columns(path) == columns
        texts = read_table(path)
        assert (texts["label"], texts["share"]) == (["1", "2"], ["2", "0.5"])
        assert texts["name"] == ["a", None]


def test_rows_of_parquet_come_in_their_order(tmp_path):
    pq.write_table(pa.table({"n": range(10)}), tmp_path / "t.parquet", row_group_size=4)
    assert read_columns(tmp_path / "t.parquet") == {"n": list(range(10))}


WRONG = {
    "no byte": ("t.csv", b"", "no rows"),
    "a header alone": ("t.csv", "a,b\n", "no rows"),
    "another suffix": ("t.xlsx", b"PK", r"'\.xlsx'"),
    "a row too short": ("t.csv", "a,b\n1,2\n3\n", "row 2 has 1 cells"),
    "key twice": ("t.jsonl", '{"a": 1, "b": 2, "a": 3}\n', "row 1 .*'a' more than once"),
    "twice": ("t.csv", "a,b,a\n1,2,3\n", "'a' more than once; expected different names$"),
    "no name": ("t.csv", "a,,b\n1,2,3\n", "column 2"),
    "not UTF-8": ("t.csv", b"a\nb\n\xff\n", "line 3"),
    "NUL": ("t.csv", "a\nb\0\n", "line 2"),
    "open quote": ("t.csv", 'a,b\n"1,2\n3,4\n', r"t\.csv"),
    "long cell": ("t.csv", "a\n" + "x" * 200_000 + "\n", r"t\.csv"),
    "no JSON": ("t.jsonl", '{"a": 1}\n{"a": \n', "row 2"),
    "NaN": ("t.jsonl", '{"a": NaN}\n', "NaN"),
    "a list": ("t.jsonl", "[1]\n", "row 1 is list"),
    "deep": ("t.jsonl", "[" * 100_000 + "\n", "row 1"),
    "no Parquet": ("t.parquet", b"PAR1 and nothing", "Parquet"),
    "empty Parquet": ("t.parquet", b"", "Parquet"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_table_is_refused(name, tmp_path):
    file, content, words = WRONG[name]
    with pytest.raises(DataError, match=words):
        read_table(written(tmp_path, file, content))
