"""Damaged warehouses: what each command says of them, and how they are got back."""

import json
import os
from datetime import timedelta

import pytest
from ended_commands import refused, succeeded
from small_warehouse import small_warehouse
from warehouse_answers import failed_checks, row_counts, rows_by_table, rows_of

from decaf.errors import WarehouseError
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.query.damage import find_damage
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import delete_garbage
from warehouse.upkeep.repair import repair

OF_M = {"study": "s", "model_id": "m"}
SCORES = layout.table_file("trajectories", OF_M, "m-scores")
RECEIPT = layout.receipt("units", "s", "m-scores")
REMEDY = "decaf check --repair"
READ = ("stg_trajectories", "core_profiles", "stg_predictions", "stg_costs")
COMMANDS = {
    "check": ("check",),
    "quick": ("check", "--quick"),
    "status": ("status",),
    "sql": ("sql", "SELECT sum(q_plus[3]) AS total FROM core_trajectories"),
    "compact": ("compact",),
    "gc": ("gc",),
}


def emptied(file):
    file.write_bytes(b"")


def cut_short(file):
    file.write_bytes(file.read_bytes()[:-40])


def longer(file):
    file.write_bytes(file.read_bytes() + b"\0")


def zeroed(file):
    file.write_bytes(bytes(file.stat().st_size))


def flipped(file):
    """Another bit of a value in the middle: a file that opens and has other rows."""
    content = bytearray(file.read_bytes())
    content[60] ^= 1
    file.write_bytes(content)


def another(file):
    """The rows of another model, in the place of these."""
    other = layout.table_file("trajectories", {"study": "s", "model_id": "007"}, "007-scores")
    file.write_bytes((file.parents[4] / other).read_bytes())


def missing(file):
    file.unlink()


def folder(file):
    file.unlink()
    file.mkdir()


def pipe(file):
    file.unlink()
    os.mkfifo(file)


DAMAGES = [emptied, cut_short, longer, zeroed, flipped, another, missing, folder, pipe]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_found(root, store, damage):
    assert find_damage(store) == []
    damage(root / SCORES)
    assert [one.key for one in find_damage(store)] == [SCORES]
    is_seen_by_size = damage not in (flipped, zeroed)
    assert [one.key for one in find_damage(store, is_quick=True)] == [SCORES] * is_seen_by_size


@pytest.mark.parametrize(
    ("damage", "command", "code"),
    [
        (missing, "check", 1),
        (missing, "quick", 1),
        (missing, "status", 0),  # readers go on without the file, and say so
        (zeroed, "sql", 2),  # DuckDB stumbles over it in the middle of an answer
    ],
)
def test_a_damaged_file_is_named(root, decaf, damage, command, code):
    damage(root / SCORES)
    done = decaf(*COMMANDS[command], "-w", root)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert SCORES in done.stderr
    assert REMEDY in done.stderr


@pytest.mark.parametrize("command", ["quick", "sql"])
def test_another_bit_shows_in_the_digest_alone(root, decaf, command):
    flipped(root / SCORES)
    done = decaf(*COMMANDS[command], "-w", root)
    assert succeeded(done)
    assert done.stderr == ""


def edited(**changes):
    """A receipt with other fields."""
    return lambda content: json.dumps(json.loads(content) | changes).encode()


def of_file(**changes):
    """A receipt whose first file has other fields."""

    def edit(content):
        receipt = json.loads(content)
        receipt["files"][0] |= changes
        return json.dumps(receipt).encode()

    return edit


def without(field):
    def edit(content):
        receipt = json.loads(content)
        del receipt[field]
        return json.dumps(receipt).encode()

    return edit


RECEIPTS = [
    ("empty", lambda _: b""),
    ("one byte", lambda _: b"{"),
    ("binary", lambda _: bytes(range(256))),
    ("cut short", lambda content: content[:-9]),
    ("a list", lambda _: b"[]"),
    ("null", lambda _: b"null"),
    ("a text", lambda _: b'"units"'),
    ("twice", lambda content: content * 2),
    ("no files", without("files")),
    ("no units", without("units")),
    ("no software", without("software")),
    ("a field too many", edited(more=1)),
    ("files is text", edited(files="trajectories")),
    ("files of lists", edited(files=[[]])),
    ("files of nothing", edited(files=[{}])),
    ("units is text", edited(units="m-clean")),
    ("units of numbers", edited(units=[1, 2])),
    ("units of halves of letters", edited(units=["\ud800"])),
    ("inputs is a list", edited(inputs=[])),
    ("inputs of numbers", edited(inputs={"a": 1})),
    ("software is text", edited(software="decaf")),
    ("model is a number", edited(model_id=7)),
    ("model is a list", edited(model_id=["m"])),
    ("another model", edited(model_id="007")),
    ("another kind", edited(kind="pairs")),
    ("another study", edited(study="t")),
    ("a study above", edited(study="..")),
    ("another key", edited(key="007-scores")),
    ("key is a number", edited(key=5)),
    ("moment is a word", edited(committed_at="yesterday")),
    ("moment is a number", edited(committed_at=5)),
    ("moment without a zone", edited(committed_at="2026-01-01T00:00:00")),
    ("an unknown table", of_file(table="nothing")),
    ("another table", of_file(table="profiles")),
    ("table is a list", of_file(table=[])),
    ("path is a number", of_file(path=5)),
    ("path is nothing", of_file(path=None)),
    ("path above", of_file(path="../../../etc/passwd")),
    ("path from the root", of_file(path="/etc/passwd")),
    ("path of another commit", of_file(path=SCORES.replace("/m-scores", "/other"))),
    ("rows are true", of_file(row_count=True)),
    ("rows are text", of_file(row_count="3")),
    ("rows below nothing", of_file(row_count=-1)),
    ("rows are NaN", of_file(row_count=float("nan"))),
    ("bytes are infinite", of_file(byte_count=float("inf"))),
    ("digest is short", of_file(sha256="abc")),
    ("digest is nothing", of_file(sha256=None)),
]


@pytest.mark.parametrize("edit", [pytest.param(edit, id=name) for name, edit in RECEIPTS])
def test_a_damaged_receipt_is_named(root, store, edit):
    receipt = root / RECEIPT
    content = receipt.read_bytes()
    receipt.write_bytes(edit(content))
    assert receipt.read_bytes() != content
    with pytest.raises(WarehouseError) as refusal:
        list(receipts.read(store))
    assert str(receipt) in str(refusal.value)
    assert REMEDY in str(refusal.value)


@pytest.mark.parametrize("command", ["sql", "gc"])
def test_commands_name_a_damaged_receipt(root, decaf, command):
    (root / RECEIPT).write_bytes(b"{")
    refused(decaf(*COMMANDS[command], "-w", root), str(root / RECEIPT), REMEDY)


def test_damaged_receipts_are_put_aside(root, store):
    pairs = layout.receipt("pairs", "s", "pairs")
    (root / RECEIPT).write_bytes(b"{")
    (root / pairs).write_bytes(b"[]")
    (repaired,) = repair(store)
    assert {*repaired.receipts} == {RECEIPT, pairs}
    assert (root / f"{RECEIPT}.damaged").read_bytes() == b"{"
    assert repair(store) == []
    assert "check_units_complete" in failed_checks(store)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_withdrawn_and_the_rest_stays(root, store, damage):
    before = rows_by_table(store)
    damage(root / SCORES)
    (repaired,) = repair(store)
    assert (repaired.study, repaired.commits) == ("s", ("units/m-scores",))
    # The files of a commit go together; those of the other model, and the profiles, are there.
    gone = dict.fromkeys(("trajectories", "predictions", "costs"), 2)
    assert rows_by_table(store) == {t: n // gone.get(t, 1) for t, n in before.items()}
    assert not receipts.exists(store, "units", "s", "m-scores")
    assert repair(store) == []


def test_the_command_prints_what_it_gives_up(root, decaf):
    missing(root / SCORES)
    (root / layout.receipt("pairs", "s", "pairs")).write_bytes(b"{")
    printed = succeeded(decaf("check", "--repair", "-w", root))
    assert "units/m-scores" in printed
    assert layout.receipt("pairs", "s", "pairs") in printed


@pytest.mark.parametrize("kind", ["pairs", "runs", "outcomes"])
def test_manifests_are_withdrawn_too(root, store, kind):
    (receipt,) = receipts.read_kind(store, kind, "s")
    zeroed(root / receipt.files[0].path)
    assert [one.key for one in find_damage(store)] == [receipt.files[0].path]
    (repaired,) = repair(store)
    assert receipt.name in repaired.commits
    assert not list(receipts.read_kind(store, kind, "s"))


def compacted(store, *, is_cleared):
    """A compaction of each of two models; their small files are gone where that ``is_cleared``."""
    small_warehouse(store.folder, run_id="second", epsilon=0.05, day=2)
    compact(store, "s")
    if is_cleared:
        delete_garbage(store, timedelta(0))
    return {one.model_id: one for one in receipts.read_kind(store, "compactions", "s")}


@pytest.mark.parametrize("damage", [zeroed, missing])
def test_a_damaged_compaction_gives_way_to_its_small_files(root, store, damage):
    compaction = compacted(store, is_cleared=False)["m"]
    rows = rows_of(store, READ)
    damage(root / compaction.files[0].path)
    (repaired,) = repair(store)
    assert repaired.commits == (compaction.name,)
    assert rows_of(store, READ) == rows


@pytest.mark.parametrize("damage", [flipped, missing])
def test_what_only_a_damaged_compaction_holds_is_withdrawn(root, store, damage):
    compaction = compacted(store, is_cleared=True)["m"]
    damage(root / compaction.files[0].path)
    (repaired,) = repair(store)
    assert {*repaired.commits} >= {compaction.name, "units/m-scores", "units/m-at-0.02"}
    assert row_counts(store, "trajectories", "profiles") == (3, 6)
    assert repair(store) == []


def test_a_damaged_small_file_of_a_compaction_is_nobodys_loss(root, store):
    compacted(store, is_cleared=False)
    zeroed(root / SCORES)
    assert find_damage(store) == []
    assert repair(store) == []


def test_a_damaged_file_is_not_folded(root, decaf):
    flipped(root / SCORES)
    small_warehouse(root, run_id="second", epsilon=0.05, day=2)
    flipped(root / SCORES)
    refused(decaf("compact", "-w", root), SCORES, "decaf check")


@pytest.mark.parametrize(
    ("file", "content", "words", "command"),
    [
        ("warehouse.json", b"", "warehouse", "check"),
        ("warehouse.json", b'{"schema_version": 1e999}', "warehouse", "sql"),
        ("warehouse.json", None, "warehouse", "compact"),
    ],
)
def test_a_damaged_frame_is_named(root, decaf, file, content, words, command):
    (root / file).unlink() if content is None else (root / file).write_bytes(content)
    refused(decaf(*COMMANDS[command], "-w", root), words)


def test_a_repair_of_an_unknown_study(root, decaf):
    refused(decaf("check", "--repair", "--study", "t", "-w", root), "unknown study 't'")


@pytest.mark.slow
def test_a_run_names_what_is_damaged_and_computes_it_again(
    study, write, decaf, prefect_server, tmp_path
):
    study["models"], root = study["models"][:1], tmp_path / "warehouse"
    study["report"] = str(tmp_path / "report.html")
    run = ("run", write(study))
    first = succeeded(decaf(*run, **prefect_server))
    before = rows_by_table(storage.open(root))
    file, other, *_ = sorted(root.glob("tables/profiles/*/*/*.parquet"))
    zeroed(file)
    for command in (run, ("report", run[1])):
        refused(decaf(*command, **prefect_server), file.name, REMEDY)
    assert file.name in decaf("sql", "-w", root, "SELECT count(*) FROM stg_profiles").stderr
    assert "finished" in succeeded(decaf("status", "-w", root))
    missing(other)
    refused(decaf(*run, **prefect_server), other.name, REMEDY)
    repaired = succeeded(decaf("check", "--repair", "-w", root))
    assert repaired.count("is withdrawn") == 2
    done = decaf(*run, **prefect_server)
    # All of it but what the progress says, and how long it took.
    assert succeeded(done) == first
    assert rows_by_table(storage.open(root)) == before
    assert "pass" in succeeded(decaf("check", "-w", root))


@pytest.mark.slow
def test_an_object_store_is_repaired_too(s3, decaf):
    store = small_warehouse(s3.url("hostile"))
    root = store.address
    content = store.read(SCORES)
    store.put(SCORES, bytes(len(content)))
    store.put(layout.receipt("outcomes", "s", "r"), b"{")
    refused(decaf("status", "-w", root), "outcomes/s/r.json", REMEDY)
    repaired = succeeded(decaf("check", "--repair", "-w", root))
    assert "receipts/outcomes/s/r.json is set aside" in repaired
    assert "units/m-scores is withdrawn" in repaired
    assert row_counts(store, "trajectories", "profiles") == (3, 6)
