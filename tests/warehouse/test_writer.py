import os
import resource
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ended_commands import run_code
from faults import every_step

from decaf.errors import WarehouseError, WriteFailed
from warehouse.commits import layout, receipts
from warehouse.commits.writer import commit, open_root, remove_temporary_files
from warehouse.tables import declarations
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

ROW = {"unit_key": "key", "pair_id": "pair", "path": "blend", "repetition": 0}
ROW |= {"t": [0.0, 1.0], "q_plus": [0.5, 0.9], "q_minus": [0.5, 0.1]}


def trajectories(count=3, **changed):
    rows = [{**ROW, "pair_id": f"pair-{i}", **changed} for i in range(count)]
    return {"trajectories": pa.Table.from_pylist(rows, TABLES["trajectories"].schema)}


def files(store):
    paths = [path for path in store.folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(store.folder)) for path in paths)


@pytest.fixture
def store(tmp_path):
    return open_root(tmp_path / "warehouse")


def test_every_line_about_columns_is_part_of_a_table():
    lines = (Path(declarations.__file__).parent / "columns.csv").read_text().splitlines()[1:]
    named = [line for line in lines if not line.startswith(",")]
    assert len(named) == sum(len(table.columns) for table in TABLES.values())
    for table in TABLES.values():
        names = {column.name for column in table.columns}
        assert set(table.key) <= names | set(table.partition), table.name


def test_a_commit_is_its_files_and_then_its_receipt(store):
    keys = ("key", "another")
    receipt = commit(store, "units", "s", "commit", trajectories(), model_id="m", units=keys)
    (file,) = receipt.files
    assert file.path == "tables/trajectories/study=s/model_id=m/commit.parquet"
    assert file.row_count == 3
    assert (
        pq.read_schema(store.folder / file.path).metadata[b"decaf.schema_version"]
        == str(SCHEMA_VERSION).encode()
    )
    assert receipt.units == keys
    assert receipts.keys(store, "units", "s") == {"commit"}
    assert list(receipts.read(store)) == [receipt]


def test_floats_have_no_dictionary_and_texts_do(store):
    receipt = commit(store, "units", "s", "commit", trajectories(), model_id="m")
    rows = pq.read_metadata(store.folder / receipt.files[0].path).row_group(0)
    columns = [rows.column(number) for number in range(rows.num_columns)]
    with_dictionary = {c.path_in_schema for c in columns if c.has_dictionary_page}
    assert with_dictionary == {"unit_key", "pair_id", "path", "repetition"}


def test_the_same_commit_twice_is_one_set_of_files(store):
    commit(store, "units", "s", "key", trajectories(), model_id="m")
    before = files(store)
    commit(store, "units", "s", "key", trajectories(), model_id="m")
    assert files(store) == before


def test_a_table_may_come_in_parts(store):
    whole = trajectories()["trajectories"]
    parts = (whole.slice(row, 1) for row in range(3))
    receipt = commit(store, "units", "s", "parts", {"trajectories": parts}, model_id="m")
    (file,) = receipt.files
    assert file.row_count == 3
    assert pq.read_table(store.folder / file.path, partitioning=None).equals(whole)
    assert commit(store, "units", "s", "none", {"trajectories": iter([])}).files == ()


def test_some_receipts_are_read_and_no_other(store):
    for key in "abc":
        commit(store, "units", "s", key, {})
    (store.folder / "receipts" / "units" / "s" / "b.json").write_text("damaged")
    assert [one.key for one in receipts.read_some(store, "units", "s", {"a", "c", "z"})] == [
        "a",
        "c",
    ]


def test_a_table_without_rows_leaves_no_file(store):
    assert commit(store, "units", "s", "key", trajectories(0), model_id="m").files == ()


def test_opening_again_changes_nothing(store):
    before = {name: (store.folder / name).stat().st_mtime_ns for name in files(store)}
    open_root(store.folder)
    assert {name: (store.folder / name).stat().st_mtime_ns for name in files(store)} == before


def test_a_commit_interrupted_at_any_step_is_whole_or_not_there(tmp_path, monkeypatch):
    def act(store):
        commit(store, "units", "s", "key", trajectories(), model_id="m")

    seen = set()
    for store, step in every_step(
        monkeypatch, lambda number: open_root(tmp_path / str(number)), act, is_dead=False
    ):
        seen.add((step, "key" in receipts.keys(store, "units", "s")))
        assert not [name for name in files(store) if name.endswith(".tmp")], step
        act(store)
        assert [len(receipt.files) for receipt in receipts.read(store)] == [1], step
    assert {("within write_to", False), ("before fsync", False), ("before fsync", True)} <= seen
    assert {("before replace", False), ("after replace", False), ("after replace", True)} <= seen


def test_what_killed_writers_left_is_swept_for_one_study(store):
    for study in ("s", "other"):
        commit(store, "units", study, "key", trajectories(), model_id="m")
    whole = files(store)
    stray = [
        store.folder / "tables/trajectories/study=s/model_id=m/next.parquet.7.tmp",
        store.folder / "receipts/units/s/next.json.7.tmp",
        store.folder / "receipts/units/other/next.json.7.tmp",
    ]
    for path in stray:
        path.write_text("half")
    assert remove_temporary_files(store, "s") == 2
    assert files(store) == sorted([*whole, str(stray[2].relative_to(store.folder))])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"q_plus": [0.5, float("nan")]}, "q_plus has"),
        ({"t": [0.0, float("inf")]}, "t has"),
        ({"pair_id": None}, "'pair_id' with null values"),
    ],
)
def test_rows_that_do_not_fit_are_refused(store, changed, message):
    before = files(store)
    rows = pa.Table.from_pylist([{**ROW, **changed}])
    with pytest.raises(WarehouseError, match=message):
        commit(store, "units", "s", "key", {"trajectories": rows}, model_id="m")
    assert files(store) == before


def test_missing_and_unknown_columns_are_named(store):
    rows = trajectories()["trajectories"].rename_columns({"path": "way"})
    with pytest.raises(
        WarehouseError, match=r"missing columns \['path'\], unknown columns \['way'\]"
    ):
        commit(store, "units", "s", "key", {"trajectories": rows}, model_id="m")


@pytest.mark.parametrize("name", ["a/b", "..", "", "ä", "x" * 121])
def test_a_name_that_is_no_folder_is_refused(store, name):
    with pytest.raises(WarehouseError, match="cannot name a folder"):
        commit(store, "units", "s", "key", trajectories(), model_id=name or "?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version": 99}', f"schema version 99; this decaf reads {SCHEMA_VERSION}"),
        ("?", "cannot be read as a warehouse version"),
    ],
)
def test_a_warehouse_of_a_version_that_cannot_be_read_is_refused(store, text, message):
    (store.folder / layout.FORMAT).write_text(text)
    with pytest.raises(WarehouseError, match=message):
        open_root(store.folder)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WarehouseError, match="cannot be written"):
        open_root(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
def test_a_folder_without_rights_is_refused(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    for parent in [tmp_path, *tmp_path.parents]:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o001)
    code = (
        "import os, sys; from pathlib import Path; from warehouse.commits.writer import open_root; "
        "os.setuid(65534); open_root(Path(sys.argv[1]))"
    )
    done = run_code(code, folder)
    assert "WarehouseError" in done.stderr
    assert "Permission denied" in done.stderr


def test_a_full_disk_leaves_nothing_of_the_commit(store):
    """The kernel refuses to grow any file past a few hundred bytes."""
    before = files(store)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(WriteFailed, match="units/s/key"):
            commit(store, "units", "s", "key", trajectories(), model_id="m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(store) == before


def test_a_damaged_receipt_is_named(store):
    commit(store, "units", "s", "key", trajectories(), model_id="m")
    (store.folder / layout.receipt("units", "s", "key")).write_text("{}")
    with pytest.raises(WarehouseError, match=r"key\.json is not a receipt"):
        list(receipts.read(store))
