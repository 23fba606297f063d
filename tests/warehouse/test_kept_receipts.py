"""Receipts are read once as long as nothing changes them, and never missed once something does."""

import json
import os
import time
from pathlib import Path

import pytest
from small_warehouse import commit_profiles
from warehouse_answers import answers

from warehouse.commits import layout, receipts
from warehouse.query import kept_receipts
from warehouse.query.catalog import connect
from warehouse.storage.cache import cache_folder


@pytest.fixture
def settled(root, no_copies, monkeypatch):
    """A small warehouse whose receipts changed long ago, all of which are worth keeping."""
    monkeypatch.setattr(kept_receipts, "MANY", 1)
    settle(root)
    return root


def settle(root, *, are_receipts=False):
    before = time.time() - 3600
    for folder, _, names in os.walk(root / "receipts", topdown=False):
        for path in (folder, *(Path(folder, name) for name in names if are_receipts)):
            os.utime(path, (before, before))


def kept():
    return sorted((cache_folder() / "receipts").glob("*/*"))


def committed(connection):
    return {key for (key,) in connection.sql("SELECT unit_key FROM committed_units").fetchall()}


def units(root):
    with connect(root) as connection:
        return connection.sql("SELECT count(*) FROM committed_units").fetchall()[0][0]


def test_receipts_are_read_once(settled, monkeypatch):
    before = answers(settled)
    assert len(kept()) == 1
    monkeypatch.setattr(receipts, "parse", lambda *_: pytest.fail("read again"))
    assert answers(settled) == before
    with connect(settled) as connection, pytest.raises(Exception, match="read-only"):
        connection.execute("DELETE FROM committed_units")


@pytest.mark.parametrize("is_gone", [False, True])
def test_what_changed_is_seen_at_once(settled, is_gone):
    before = units(settled)
    if is_gone:
        (settled / layout.receipt("units", "s", "m-at-0.02")).unlink()
    else:
        commit_profiles(settled, "s", "m", 0.5)
    assert units(settled) == before + (-1 if is_gone else 1)
    settle(settled)  # its moment is another, however long ago that was
    assert units(settled) == before + (-1 if is_gone else 1)
    assert len(kept()) == 1, "what no longer holds is deleted"


def test_only_what_is_new_is_read(settled, monkeypatch):
    before = units(settled)
    settle(settled, are_receipts=True)
    assert units(settled) == before  # the moments of the receipts are known now
    commit_profiles(settled, "s", "m", 0.5)
    read, parse = [], receipts.parse
    monkeypatch.setattr(receipts, "parse", lambda *of: read.append(of[1]) or parse(*of))
    assert units(settled) == before + 1
    assert read == [layout.receipt("units", "s", "m-at-0.5")]


def test_what_changed_a_moment_ago_is_read_again(root, no_copies, monkeypatch):
    monkeypatch.setattr(kept_receipts, "MANY", 1)
    path = root / layout.receipt("units", "s", "m-at-0.02")
    path.parent.touch()
    path.touch()  # the warehouse is copied with its moments, which may be long past
    status, content = path.stat(), path.read_text()
    unit = json.loads(content)["units"][0]
    with connect(root) as connection:
        assert unit in committed(connection)
    path.write_text(content.replace(unit, unit[::-1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with connect(root) as connection:
        assert unit[::-1] in committed(connection)


def test_what_is_damaged_or_cannot_be_kept_is_read_again(settled, monkeypatch):
    before = units(settled)
    kept()[0].write_bytes(b"damaged")
    assert units(settled) == before
    monkeypatch.setattr(kept_receipts, "_keep", lambda *_: (_ for _ in ()).throw(OSError))
    settle(settled)
    assert units(settled) == before
