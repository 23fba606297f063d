"""A query of a warehouse on an object store gets the parts of files that it reads."""

import threading
from collections import Counter
from pathlib import Path
from uuid import uuid4

import numpy as np
import planned_units
import pytest
import warehouse_answers
from s3_server import Gate
from small_warehouse import GRID, small_warehouse
from warehouse_answers import query_rows

from decaf.errors import StoreAway, WarehouseError
from warehouse.commits import layout
from warehouse.query.catalog import connect, run_query
from warehouse.query.damage import connect_whole
from warehouse.storage import stored_files
from warehouse.storage.cache import cache_folder
from warehouse.storage.objects import Objects

pytestmark = pytest.mark.usefixtures("no_copies")
STAMPED = {"stg_files", "stg_costs"}
"""Views whose rows say when or where something was done."""
ROWS = 60_000
LARGE = layout.table_file("profiles", {"study": "s", "model_id": "m"}, "m-large-at-0.02")
OPEN = Path("/proc/self/fd")
ONE_COLUMN = "SELECT round(sum(evidence), 6) AS found FROM stg_profiles WHERE model_id = 'm'"


@pytest.fixture
def asked(monkeypatch):
    """Bytes that are got of data files, by key, and how many requests for parts there are."""
    got, requests = Counter(), Counter()
    read, read_part = Objects.read, Objects.read_part

    def whole(store, key):
        content = read(store, key)
        if key.startswith(layout.DATA):
            got[key] += len(content)
        return content

    def part(store, key, start, byte_count):
        got[key] += byte_count
        requests[key] += 1
        return read_part(store, key, start, byte_count)

    monkeypatch.setattr(Objects, "read", whole)
    monkeypatch.setattr(Objects, "read_part", part)
    got.requests = requests
    return got


def with_a_large_file(root):
    """The small warehouse and one file of many profiles."""
    store = small_warehouse(root)
    q = np.random.default_rng(0).random((2, ROWS, len(GRID)))
    keys = [
        {"unit_key": "m-large", "pair_id": f"p{number}", "path": "blend", "repetition": 0}
        for number in range(ROWS)
    ]
    planned_units.commit_profiles(store, "s", "m-large-at-0.02", "m", keys, GRID, q, 0.02)
    return store


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The same in a folder."""
    return with_a_large_file(tmp_path_factory.mktemp("large") / "warehouse")


def test_a_query_gets_the_columns_that_it_reads(s3, large, asked):
    store = with_a_large_file(s3.url(uuid4().hex))
    size = len(store.read(LARGE))
    assert size > 2 * stored_files.SMALL_BYTES
    asked.clear()
    assert query_rows(store, ONE_COLUMN) == query_rows(large, ONE_COLUMN)
    assert 0 < asked[LARGE] < size / 4
    assert {table_of(key) for key in asked} == {"profiles"}
    # Small files are kept, so the next command gets parts of the large one alone.
    asked.clear()
    question = "SELECT bit_xor(hash(COLUMNS(*))) FROM stg_profiles"
    assert query_rows(store, question) == query_rows(large, question)
    assert LARGE in asked
    assert not list(cache_folder().rglob(f"**/{LARGE}"))
    asked.clear()
    assert query_rows(store, question) == query_rows(large, question)
    assert set(asked) == {LARGE}


def table_of(key):
    """Table of a data file."""
    return key.split("/")[1]


def test_to_open_a_warehouse_gets_no_data(asked):
    store = small_warehouse(f"memory://{uuid4().hex}/w")
    asked.clear()
    with connect(store) as connection:
        assert run_query(connection, "SELECT 1 AS one").to_pylist() == [{"one": 1}]
    assert not asked


def test_every_view_is_the_same_in_parts(small, asked, monkeypatch):
    before = warehouse_answers.answers(small, but=STAMPED)
    store = small_warehouse(f"memory://{uuid4().hex}/w")
    monkeypatch.setattr(stored_files, "SMALL_BYTES", 0)
    asked.clear()
    assert warehouse_answers.answers(store, but=STAMPED) == before
    assert warehouse_answers.failed_checks(store) == []
    assert min(asked.requests.values()) > 0
    data = store.entries(layout.DATA, ("",))
    assert set(asked.requests) == {entry.key for entry in data}


def test_a_store_that_goes_away_in_a_query_is_told(s3):
    with Gate(s3.port) as gate:
        store = small_warehouse(s3.url(uuid4().hex, port=gate.port))
        with connect(store) as connection:
            gate.close()
            with pytest.raises(StoreAway, match="^warehouse s3://.*server runs$") as told:
                run_query(connection, "FROM stg_trajectories")
            assert "Traceback" not in str(told.value)
            gate.open()
            assert run_query(connection, "FROM stg_trajectories").num_rows == 6
        with (
            pytest.raises(StoreAway, match="server runs$"),
            connect_whole(store, "s") as connection,
        ):
            asked_without(gate, connection)
        gate.open()
        assert query_rows(store, "SELECT count(*) AS n FROM stg_trajectories") == [{"n": 6}]


def asked_without(gate, connection):
    """Ask for what is not kept, once the server is away."""
    gate.close()
    connection.execute("FROM stg_predictions").fetchall()


def test_an_object_that_is_deleted_meanwhile_is_told(monkeypatch):
    monkeypatch.setattr(stored_files, "SMALL_BYTES", 0)
    store = small_warehouse(f"memory://{uuid4().hex}/w")
    key = layout.table_file("trajectories", {"study": "s", "model_id": "m"}, "m-scores")
    with connect(store) as connection:
        store.delete(key)
        with pytest.raises(WarehouseError, match=f"^{key} is missing$"):
            run_query(connection, "FROM stg_trajectories")


@pytest.mark.parametrize("small_bytes", [0, 2**20])
def test_no_file_stays_open(small_bytes, monkeypatch):
    """DuckDB closes none."""
    monkeypatch.setattr(stored_files, "SMALL_BYTES", small_bytes)
    store = small_warehouse(f"memory://{uuid4().hex}/w")
    with connect(store) as connection:
        run_query(connection, "FROM stg_trajectories")
        before = len(list(OPEN.iterdir()))
        for _ in range(10):
            run_query(connection, "FROM stg_trajectories")
        assert len(list(OPEN.iterdir())) == before


def test_threads_that_share_a_file_have_places_of_their_own():
    """DuckDB seeks and reads from several threads at once."""
    content = bytes(range(100))
    together = threading.Barrier(2)

    file = stored_files.OpenedFile(lambda start, count: content[start : start + count])
    found = {}
    assert file.tell() == 0

    def read(place):
        file.seek(place)
        together.wait()
        found[place] = file.read(5) + file.read(5), file.tell()

    threads = [threading.Thread(target=read, args=(place,)) for place in (10, 50)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {place: (content[place : place + 10], place + 10) for place in (10, 50)}
