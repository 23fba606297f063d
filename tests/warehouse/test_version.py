import hashlib
import shutil
from pathlib import Path

import pytest

from decaf.errors import WarehouseError
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.version import write_version
from warehouse.commits.writer import open_root
from warehouse.query.catalog import connect, run_query
from warehouse.query.checks import run_checks
from warehouse.tables.columns import SCHEMA_VERSION

STORED = Path(__file__).parent / "stored_v1"
"""Written by ``make_stored_v1.py`` with the writer of its version."""


@pytest.fixture
def stored(tmp_path):
    return storage.open(shutil.copytree(STORED, tmp_path / "warehouse"))


def test_a_stored_warehouse_is_read_with_all_its_numbers(stored):
    with connect(stored) as connection:
        assert [result for result in run_checks(connection) if result.offending_count] == []
        for folder in (STORED / "tables").iterdir():
            assert run_query(connection, f"FROM stg_{folder.name}").num_rows > 0, folder.name
        profiles = connection.sql(
            "SELECT model_id, pair_count, round(evidence, 6), round(contradiction, 6), "
            "round(fragility, 6), round(abs_response, 6) FROM out_model_profiles ORDER BY ALL"
        ).fetchall()
        scores = connection.sql(
            "SELECT t, q_plus, q_minus FROM core_trajectories "
            "WHERE model_id = 'm' AND pair_id = 'p1'"
        ).fetchall()
    assert profiles == [
        ("007", 3, 0.128434, 0.112258, 0.0, 0.240692),
        ("m", 3, 0.157614, 0.091011, 0.022551, 0.271176),
    ]
    assert scores == [
        (
            [0.0, 0.25, 1.0],
            [0.016527635528529094, 0.8132702392002724, 0.9127555772777217],
            [0.016527635528529094, 0.033585575305464355, 0.7296554464299441],
        )
    ]


def test_another_version_is_neither_read_nor_written(stored):
    write_version(stored, SCHEMA_VERSION + 1)
    for refuse in (open_root, connect):
        with pytest.raises(WarehouseError, match=f"this decaf reads {SCHEMA_VERSION}"):
            refuse(stored.folder)


def test_a_stored_warehouse_is_as_it_was_written():
    assert (STORED / layout.FORMAT).read_text() == '{"schema_version": 1}\n'
    files = [file for receipt in receipts.read(storage.open(STORED)) for file in receipt.files]
    assert files
    for file in files:
        assert hashlib.sha256((STORED / file.path).read_bytes()).hexdigest() == file.sha256
