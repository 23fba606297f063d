"""The same warehouse on object stores: obstore's in memory, and a real S3-compatible server."""

import multiprocessing
import pickle
import re
import shutil
import urllib.request
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import duckdb
import pytest
import warehouse_answers
from faults import every_change
from s3_server import BUCKET, CREDENTIALS, Gate
from small_warehouse import PAIRS, commit_block, renamed, small_warehouse
from warehouse_answers import queried_counts, row_counts

from decaf.errors import OutOfReach, QueryError, WarehouseError, WriteFailed
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.lock import held_studies
from warehouse.commits.stored import read_unit
from warehouse.commits.writer import commit, open_root, remove_temporary_files
from warehouse.query.catalog import connect, run_query
from warehouse.query.checks import run_checks
from warehouse.query.damage import connect_whole, query_readable_files
from warehouse.storage import cache, lease
from warehouse.storage.cache import cache_folder
from warehouse.storage.objects import Objects
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import GRACE, delete_garbage, find_garbage

pytestmark = pytest.mark.usefixtures("no_copies")
TRAJECTORIES = layout.table_file("trajectories", {"study": "s", "model_id": "m"}, "m-scores")
STAMPED = {"stg_files", "stg_costs"}
"""Views whose rows say when or where something was done."""
COUNTED = ("trajectories", "predictions", "profiles")


@pytest.fixture(params=["memory", "s3"])
def url(request):
    """Address of a warehouse that is not there yet."""
    name = uuid4().hex
    if request.param == "memory":
        return f"memory://{name}/warehouse"
    return request.getfixturevalue("s3").url(f"{name}/warehouse")


@pytest.fixture
def memory():
    return small_warehouse(f"memory://{uuid4().hex}/warehouse")


def answers(store):
    return warehouse_answers.answers(store, but=STAMPED)


def counts(store):
    return queried_counts(store, *COUNTED)


def counts_and_offences(store):
    with connect(store, threads=1) as connection:
        found = {r.name: r.examples for r in run_checks(connection) if r.offending_count}
    return counts(store), found


def one_more(store):
    """Rows of one more unit, as those of another one."""
    rows = read_unit(store, "s", "m-scores", "m-blend", "trajectories")
    return {"trajectories": renamed(rows, "late")}


@pytest.fixture(scope="module")
def before(small):
    """What the small warehouse answers, wherever it is."""
    return answers(small)


def test_a_warehouse_says_the_same_wherever_it_is(url, before):
    store = small_warehouse(url)
    assert store.address == url
    assert answers(store) == before
    assert counts_and_offences(store) == ((6, 12, 6), {})
    # Opening it again writes nothing.
    entries = store.entries("", ("",))
    open_root(url)
    assert store.entries("", ("",)) == entries


def test_a_pickled_store_is_its_address_without_credentials(url):
    store = small_warehouse(url)
    content = pickle.dumps(store)
    assert not [name for name, secret in CREDENTIALS.items() if secret.encode() in content]
    assert pickle.loads(content).read(TRAJECTORIES) == store.read(TRAJECTORIES)  # noqa: S301


def test_keys_and_content_are_those_of_a_folder(url, small):
    remote, local = small_warehouse(url), storage.open(small)
    keys = [entry.key for entry in remote.entries("", ("",))]
    assert keys == [e.key for e in local.entries("", ("",)) if not e.key.startswith("locks")]
    data = [key for key in keys if key.endswith(".parquet")]
    assert len(data) > 10
    assert list(remote.read_many(data)) == list(local.read_many(data))
    assert [e.byte_count for e in remote.entries("tables", (".parquet",))] == [
        e.byte_count for e in local.entries("tables", (".parquet",))
    ]
    age = datetime.now(UTC) - remote.entries("", ("warehouse.json",))[0].modified_at
    assert timedelta(minutes=-1) < age < timedelta(minutes=5)


@pytest.mark.slow
def test_compaction_and_collection(url):
    store = small_warehouse(url)
    commit_block(store, "s", "m", 0.3)
    before = answers(store)
    done = compact(store, "s")
    assert done.after.file_count < done.before.file_count
    assert answers(store) == before
    assert find_garbage(store) == []
    deleted = delete_garbage(store, -GRACE)
    assert TRAJECTORIES in {garbage.path for garbage in deleted}
    assert not store.exists(TRAJECTORIES)
    assert answers(store) == before
    assert read_unit(store, "s", "m-scores", "m-blend", "trajectories").num_rows == len(PAIRS)
    assert compact(store, "s").before == done.after


@pytest.mark.slow
def test_a_lost_and_a_damaged_object_are_left_out_and_reported(url):
    store = small_warehouse(url)
    content = store.read(TRAJECTORIES)
    for damaged in (None, content[:-9]):
        store.delete(TRAJECTORIES) if damaged is None else store.put(TRAJECTORIES, damaged)
        rows, offences = counts_and_offences(store)
        assert rows == (len(PAIRS), 12, 6)
        (offence,) = offences["check_rows_match_receipts"]
        assert (offence.key, offence.found) == (TRAJECTORIES, "missing or damaged")
    # The size does not tell, so a reader finds out when it reads.
    store.put(TRAJECTORIES, content[:40] + bytes([content[40] ^ 1]) + content[41:])
    with pytest.raises(WarehouseError, match=re.escape(TRAJECTORIES)):
        counts(store)
    with (
        pytest.raises(WarehouseError, match=rf"1 file (.*\n)*.*{TRAJECTORIES}"),
        connect_whole(store, "s") as connection,
    ):
        connection.execute("FROM stg_trajectories").fetchall()
    told = []
    question = "SELECT count(*) FROM stg_trajectories"
    assert query_readable_files(store, lambda it: it.sql(question).fetchall(), told.append) == [
        (3,)
    ]
    assert TRAJECTORIES in told[0]
    store.put(TRAJECTORIES, content)
    assert counts_and_offences(store) == ((6, 12, 6), {})


def test_data_without_a_receipt_is_not_there(url, before):
    store = small_warehouse(url)
    stray = TRAJECTORIES.replace("m-scores", "stray")
    store.put(stray, b"PAR1")
    assert answers(store) == before
    assert find_garbage(store) == []
    assert [garbage.path for garbage in find_garbage(store, -GRACE)] == [stray]


def test_objects_that_stand_for_folders_are_passed_over(s3, before):
    store = small_warehouse(s3.url(uuid4().hex))
    place = f"http://127.0.0.1:{s3.port}/{store.place('').removeprefix('s3://')}"
    for folder in ("receipts/units/s", "receipts/units/empty", "tables", "locks"):
        request = urllib.request.Request(f"{place}/{folder}/", b"", method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
    assert receipts.studies(store) == ["s"]
    assert held_studies(store) == []
    assert answers(store) == before


def every_request(monkeypatch, store, act):
    """Call ``act(root)`` with each of its changes to the store the last before its death."""
    changes = tuple((Objects, name) for name in ("put", "put_new", "delete"))
    return every_change(monkeypatch, lambda _: store, act, changes)


def test_a_writer_killed_at_any_request_is_repaired_by_the_next(monkeypatch):
    store = storage.open(f"memory://{uuid4().hex}/w")
    # Each time a bit farther, over what the one before left.
    assert len(list(every_request(monkeypatch, store.address, small_warehouse))) > 20
    assert counts_and_offences(store) == ((6, 12, 6), {})
    tables, kills = one_more(store), 0

    def act(store):
        commit(store, "units", "s", "late", tables, model_id="m", units=("late",))

    for _ in every_request(monkeypatch, store, act):
        assert "late" not in receipts.keys(store, "units", "s")
        assert counts(store) == (6, 12, 6)
        kills += 1
    assert kills == 2
    assert "late" in receipts.keys(store, "units", "s")
    assert counts(store) == (9, 12, 6)


def test_a_compaction_killed_at_any_request_changes_no_row(monkeypatch, memory):
    # The lease that a dead process leaves is another test's matter.
    monkeypatch.setattr(lease, "is_gone", lambda content: True)
    commit_block(memory, "s", "m", 0.3)
    before = answers(memory)
    for act in (lambda store: compact(store, "s"), lambda store: delete_garbage(store, -GRACE)):
        for _ in every_request(monkeypatch, memory, act):
            assert row_counts(memory, *COUNTED) == (6, 12, 9)
        assert answers(memory) == before
    assert not memory.exists(TRAJECTORIES)


@pytest.mark.slow
def test_a_server_that_goes_away_in_a_commit(s3, before, monkeypatch):
    with Gate(s3.port) as gate:
        store = small_warehouse(s3.url(uuid4().hex, port=gate.port))
        tables = one_more(store)
        put = Objects.put

        def put_and_close(store, key, content):
            put(store, key, content)
            gate.close()

        with monkeypatch.context() as patch:
            patch.setattr(Objects, "put", put_and_close)
            with pytest.raises(WriteFailed, match="check the address and whether its server runs"):
                commit(store, "units", "s", "late", tables, model_id="m", units=("late",))
        with pytest.raises(OutOfReach, match="check the address and whether its server runs"):
            connect(store)
        gate.open()
        assert answers(store) == before
        commit(store, "units", "s", "late", tables, model_id="m", units=("late",))
        assert counts(store) == (9, 12, 6)


def test_a_server_that_ignores_conditions_is_refused(memory, monkeypatch):
    """Two runs would hold one study there."""
    monkeypatch.setattr(Objects, "put_new", lambda *given: Objects.put(*given) or True)
    with pytest.raises(OutOfReach, match="If-None-Match"):
        open_root(memory.address)


def test_a_fork_of_a_process_that_asked_a_store_is_told(memory):
    """The threads of obstore are not in it: it would wait for ever."""
    fork = multiprocessing.get_context("fork")
    asking, answering = fork.Pipe()

    def ask():
        with pytest.raises(RuntimeError, match="forked"):
            memory.read("warehouse.json")
        answering.send("told")

    process = fork.Process(target=ask)
    process.start()
    process.join()
    assert asking.poll()


def test_a_file_url_is_a_folder(tmp_path):
    store = small_warehouse(f"file://{tmp_path}/warehouse")
    assert store.folder == tmp_path / "warehouse"
    assert (store.folder / TRAJECTORIES).exists()


def test_queries_reach_no_file_but_copies_of_the_warehouse(memory, tmp_path):
    other = small_warehouse(f"memory://{uuid4().hex}/other")
    assert counts(other)
    copied = next(cache_folder().rglob("*.parquet"))
    (tmp_path / "mine.csv").write_text("a\n1\n")
    with connect(memory) as connection:
        own = connection.sql("SELECT file_name FROM receipt_files LIMIT 1").fetchall()[0][0]
        assert run_query(connection, f"FROM read_parquet('{own}')").num_rows
        for file in (copied, tmp_path / "mine.csv", "/etc/hosts", "memory://x/y"):
            with pytest.raises(QueryError, match="disabled by configuration"):
                run_query(connection, f"FROM read_text('{file}')")
        for key in ("warehouse.json", layout.receipt("units", "s", "m-scores"), "../x"):
            assert run_query(connection, f"FROM read_blob('store://{key}')").num_rows == 0
        with pytest.raises(duckdb.Error, match="locked"):
            connection.execute("SET enable_external_access = true")


@pytest.fixture
def asked(monkeypatch):
    """Keys that are read of any store."""
    keys, read = [], Objects.read

    def noted(store, key):
        keys.append(key)
        return read(store, key)

    monkeypatch.setattr(Objects, "read", noted)
    return keys


def test_committed_files_are_read_once_and_kept_as_long_as_they_are_used(
    memory, before, asked, monkeypatch
):
    assert answers(memory) == before
    assert TRAJECTORIES in asked
    asked.clear()
    assert answers(memory) == before
    assert not [key for key in asked if key.startswith("tables/")]
    # A copy that was cut short is got again.
    (copy,) = cache_folder().rglob(TRAJECTORIES)
    copy.write_bytes(copy.read_bytes()[:-9])
    assert answers(memory) == before
    assert TRAJECTORIES in asked
    monkeypatch.setattr(cache, "UNUSED_SECONDS", -timedelta(hours=1).total_seconds())
    memory._is_pruned = False
    memory.find_readable({})
    assert not list(cache_folder().rglob("*.parquet"))


def test_receipts_are_read_again_only_when_they_have_changed(url, asked):
    store = small_warehouse(url)
    asked.clear()
    all_receipts = list(receipts.read(store))
    assert len(asked) == len(all_receipts)
    asked.clear()
    assert list(receipts.read(store)) == all_receipts
    assert asked == []
    # Within the same second, and of the same size.
    commit_block(store, "s", "m", 0.02)
    changed = [new for new in receipts.read(store) if new not in all_receipts]
    assert sorted(new.key for new in changed) == ["m-at-0.02", "m-scores"]
    assert sorted(asked) == [
        layout.receipt("units", "s", "m-at-0.02"),
        layout.receipt("units", "s", "m-scores"),
    ]


def test_copies_that_cannot_be_kept(memory):
    folder = cache_folder() / "warehouses"
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("a file where the folder should be")
    with pytest.raises(WarehouseError, match="set DECAF_CACHE to another folder"):
        connect(memory)


def test_there_is_nothing_to_sweep(memory):
    assert remove_temporary_files(memory, "s") == 0
    shutil.rmtree(cache_folder() / "warehouses", ignore_errors=True)
    assert counts(memory) == (6, 12, 6)


def test_the_bucket_is_named_in_no_key(s3):
    store = small_warehouse(s3.url(f"{uuid4().hex}/{BUCKET}"))
    assert all(not e.key.startswith(BUCKET) for e in store.entries("", ("",)))
