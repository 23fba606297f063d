"""Links in a warehouse and a workspace: nothing is written, locked or deleted behind one."""

import os
import shutil
import time
from datetime import timedelta

import pytest
from ended_commands import refused, succeeded

from decaf.data.input_store import store_inputs
from decaf.errors import BadInput
from decaf.studies.scenes.adapters import Shapes3D
from warehouse.commits import receipts
from warehouse.query.damage import find_damage
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import delete_garbage

MONTH = 30 * 24 * 3600


@pytest.fixture
def outside(tmp_path):
    """A folder of somebody else's with files that are named as garbage of a warehouse is."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("old.parquet", "old.parquet.1.tmp", "old.json.1.tmp", "notes.txt"):
        (folder / name).write_text("precious")
        os.utime(folder / name, (time.time() - MONTH,) * 2)
    return folder


def untouched(outside):
    return {path.name: path.read_text() for path in outside.iterdir()} == dict.fromkeys(
        ("old.parquet", "old.parquet.1.tmp", "old.json.1.tmp", "notes.txt"), "precious"
    )


def study_of(root):
    return next((root / "receipts" / "units").iterdir()).name


def moved(path, outside):
    """Move a folder away and leave a link to it."""
    shutil.move(path, outside.parent / "moved")
    path.symlink_to(outside.parent / "moved")


PLACES = {
    "a model's folder": lambda root, out: (
        root / f"tables/profiles/study={study_of(root)}/model_id=x"
    ).symlink_to(out),
    "a study's folder": lambda root, out: moved(root / f"tables/costs/study={study_of(root)}", out),
    "a table's folder": lambda root, out: moved(root / "tables/profiles", out),
    "the tables": lambda root, out: moved(root / "tables", out),
    "the receipts": lambda root, out: moved(root / "receipts", out),
    "receipts of a kind": lambda root, out: moved(root / "receipts" / "units", out),
    "a folder in itself": lambda root, out: (
        root / f"tables/profiles/study={study_of(root)}/again"
    ).symlink_to("..", target_is_directory=True),
    "a temporary file": lambda root, out: (
        root / f"tables/profiles/study={study_of(root)}/a.parquet.1.tmp"
    ).symlink_to(out / "old.parquet"),
    "a link to nothing": lambda root, out: (
        root / f"tables/profiles/study={study_of(root)}/none.parquet"
    ).symlink_to("nowhere"),
}


@pytest.mark.parametrize("place", PLACES)
def test_gc_and_compact_follow_no_link(place, root, store, outside):
    PLACES[place](root, outside)
    for act in (lambda: delete_garbage(store, timedelta(0)), lambda: compact(store, "s")):
        with pytest.raises(BadInput) as refusal:
            act()
        assert str(root) in str(refusal.value)
        assert "is a link" in str(refusal.value)
    assert untouched(outside)
    if (moved_to := outside.parent / "moved").exists():
        assert list(moved_to.rglob("*.parquet")) or list(moved_to.rglob("*.json"))


@pytest.mark.parametrize("place", ["the receipts", "receipts of a kind"])
def test_receipts_behind_a_link_are_no_empty_warehouse(place, root, store, outside, decaf):
    PLACES[place](root, outside)
    with pytest.raises(BadInput) as refusal:
        list(receipts.read(store))
    assert "is a link" in str(refusal.value)
    refused(decaf("status", "-w", root), "is a link")


def test_a_lock_that_is_a_link_empties_no_file(root, outside, decaf):
    locks = root / "locks"
    locks.mkdir(exist_ok=True)
    lock = locks / f"{study_of(root)}.lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(outside / "notes.txt")
    for command in (["gc", "--delete"], ["compact"]):
        refused(decaf(*command, "-w", root), str(lock), "is a link")
    assert untouched(outside)


def link_data_file(root, target):
    """Put a link in the place of a data file; returns the file's name."""
    data = min((root / "tables" / "profiles").rglob("*.parquet"))
    data.unlink()
    data.symlink_to(target)
    return data.name


@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/zero", "nowhere"])
def test_a_data_file_that_is_a_link_to_something_else(target, root, store):
    name = link_data_file(root, target)
    with pytest.raises(BadInput) as refusal:
        find_damage(store)
    assert name in str(refusal.value)


def test_commands_open_no_pipe_behind_a_data_file(root, decaf, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    name = link_data_file(root, tmp_path / "fifo")
    refused(decaf("check", "-w", root), name, "is a link")
    succeeded(decaf("status", "-w", root))


def test_a_link_to_a_whole_warehouse_is_the_warehouse(root, decaf, tmp_path):
    (tmp_path / "linked").symlink_to(root)
    for command in (["check"], ["gc", "--delete", "--older-than", "0"], ["compact"]):
        succeeded(decaf(*command, "-w", tmp_path / "linked"))


def test_a_workspace_with_links(tmp_path):
    """A link to the workspace is followed; one in the place of inputs is replaced."""
    (tmp_path / "disk").mkdir()
    workspace = tmp_path / "workspace"
    workspace.symlink_to(tmp_path / "disk")
    data = Shapes3D(adapter="shapes3d", sources=2)
    inputs = data.pair_set().input_set
    stored = store_inputs(workspace, inputs, data.read_input)
    content = stored.read_bytes()
    stored.unlink()
    stored.symlink_to(tmp_path / "elsewhere")
    assert store_inputs(workspace, inputs, data.read_input) == stored
    assert not (tmp_path / "elsewhere").exists()
    assert not stored.is_symlink()
    assert stored.read_bytes() == content
