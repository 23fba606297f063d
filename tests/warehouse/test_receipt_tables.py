"""Tables of receipts say what the receipts say, whatever was put, replaced or withdrawn since."""

import json
import os
import time

import duckdb
import numpy as np
import pytest

from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.query.receipt_tables import create_tables, find_read_files, update_tables

KINDS = "units", "gone", "compactions", "withdrawals"
AT = "2026-01-01T00:00:{:02d}+00:00"


def receipt(kind, key, second=0, inputs=None, units=()):
    path = layout.table_file("costs", {"study": "s", "model_id": "m"}, key)
    file = CommittedFile("costs", path, 1, 1, "0" * 64)
    files = () if kind == "withdrawals" else (file,)
    return Receipt(kind, "s", key, "m", AT.format(second), files, units, inputs or {}, {})


def put(root, one, moment):
    path = root / layout.receipt(one.kind, one.study, one.key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(one.to_json())
    os.utime(path, (moment, moment))


def rows(connection, root):
    """What the tables say, and what the receipts do, in the same words."""
    update_tables(connection, storage.open(root))
    told = list(receipts.read(root))
    units = {("s", unit, one.key) for one in told if one.kind == "units" for unit in one.units}
    names = {(one.kind, one.key, one.committed_at) for one in told}
    files = [(r.kind, "s", r.key, f.table, f.path) for r in resolve(told).read for f in r.files]
    of_receipts = sorted(units), sorted(names), sorted(files)
    of_tables = (
        sorted(connection.sql("FROM committed_units").fetchall()),
        sorted(connection.sql("SELECT kind, key, committed_at FROM receipt_objects").fetchall()),
        sorted(row[:5] for row in find_read_files(connection)),
    )
    return of_tables, of_receipts


@pytest.mark.parametrize("seed", range(4))
def test_tables_follow_the_receipts(tmp_path, seed):
    """Commits come, go, are made again, folded and withdrawn; some moments are of just now."""
    random = np.random.default_rng(seed)
    commits = {}
    long_ago = time.time() - 3600
    with duckdb.connect() as connection:
        create_tables(connection)
        for step in range(15):
            key, second = f"c{random.integers(6)}", int(random.integers(3))
            some = {
                one.name: one.committed_at if random.random() < 0.9 else AT.format(9)
                for one in commits.values()
                if random.random() < 0.5
            }
            match random.choice(KINDS, p=[0.6, 0.1, 0.2, 0.1]):
                case "gone":
                    (tmp_path / layout.receipt("units", "s", key)).unlink(missing_ok=True)
                    commits.pop(key, None)
                    new = None
                case "units":
                    new = receipt("units", key, second, units=(f"u{key}", f"v{step}"))
                    commits[key] = new
                case kind:
                    new = receipt(kind, f"{kind[0]}{step}", second, inputs=some)
            if new:
                put(tmp_path, new, time.time() if random.random() < 0.2 else long_ago + step)
            of_tables, of_receipts = rows(connection, tmp_path)
            assert of_tables == of_receipts


def test_only_receipts_that_changed_are_read(tmp_path, monkeypatch):
    """Size and moment tell; a moment that is not over yet tells nothing."""
    put(tmp_path, receipt("units", "old", units=("a",)), time.time() - 3600)
    put(tmp_path, receipt("units", "new", units=("b",)), time.time())
    read, parse = [], receipts.parse
    monkeypatch.setattr(receipts, "parse", lambda *of: read.append(of[1][-8:-5]) or parse(*of))
    store = storage.open(tmp_path)
    with duckdb.connect() as connection:
        create_tables(connection)
        assert [update_tables(connection, store) for _ in range(2)] == [2, 1]
    assert sorted(read) == ["new", "new", "old"]


def test_a_damaged_receipt_is_an_error(tmp_path):
    put(tmp_path, receipt("units", "c0"), time.time())
    path = tmp_path / layout.receipt("units", "s", "c0")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"units": 1}))
    with duckdb.connect() as connection:
        create_tables(connection)
        with pytest.raises(receipts.WarehouseError, match="c0.json is not a receipt"):
            update_tables(connection, storage.open(tmp_path))
