import hashlib
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from decaf.errors import AlreadyRunning, WarehouseError
from decaf.foundation.files import replace_file
from flows.commands.app import app
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.lock import study_lock
from warehouse.commits.migrations import (
    MIGRATIONS,
    Migration,
    check_version,
    store_version,
    stored_version,
    upgrade,
)
from warehouse.commits.writer import open_root
from warehouse.query.catalog import connect, run_query
from warehouse.query.checks import run_checks
from warehouse.tables.columns import SCHEMA_VERSION

STORED = Path(__file__).parent / "stored_v1"
"""Written by ``make_stored_v1.py`` with the writer of its version."""


@pytest.fixture
def stored(tmp_path):
    return storage.open(shutil.copytree(STORED, tmp_path / "warehouse"))


def test_compacting_says_what_it_brought_up_to_date(stored):
    def told():
        done = CliRunner().invoke(app, ["compact", "--warehouse", stored.address])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "wrote the missing files of tables repeats, pair_groups, " in told()
    assert "wrote" not in told()
    (stored.folder / layout.seed("trajectories")).unlink()
    assert "wrote the missing file of table trajectories" in told()


def test_the_steps_lead_from_the_first_version_to_this_one():
    assert [step.from_version for step in MIGRATIONS] == list(range(1, SCHEMA_VERSION))


def test_a_stored_warehouse_is_read_with_all_its_numbers(stored):
    assert stored_version(stored) == 1
    open_root(stored.folder)
    assert stored_version(stored) == SCHEMA_VERSION
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


def rename_receipts(store):
    """A step to try the mechanism with: every receipt of a run says what it was called."""
    for path in sorted((store.folder / "receipts" / "runs").glob("*/*.json")):
        fields = json.loads(path.read_text())
        fields["inputs"] = {"version": "2"}
        replace_file(path, lambda target, fields=fields: target.write_text(json.dumps(fields)))


STEPS = (
    Migration(1, "runs say their version", rename_receipts),
    Migration(2, "nothing changes", lambda store: None),
)


def test_steps_are_applied_in_order_and_once(stored):
    assert upgrade(stored, STEPS) == list(STEPS)
    assert stored_version(stored) == 3
    assert json.loads((stored.folder / "receipts/runs/s/r.json").read_text())["inputs"] == {
        "version": "2"
    }
    assert upgrade(stored, STEPS) == []


def test_an_upgrade_that_is_stopped_goes_on_where_it_was(stored):
    def stop(store):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade(stored, (STEPS[0], Migration(2, "stopped", stop)))
    assert stored_version(stored) == 2
    assert upgrade(stored, STEPS) == [STEPS[1]]


def test_an_older_warehouse_is_not_read_before_its_upgrade(stored):
    with pytest.raises(WarehouseError, match="version 1; this decaf reads 2: decaf compact"):
        check_version(stored, readable=2)
    upgrade(stored, STEPS[:1])
    check_version(stored, readable=2)


def test_a_running_study_is_not_upgraded_under_its_feet(stored):
    with study_lock(stored, "s"), pytest.raises(AlreadyRunning, match="but s is being audited"):
        upgrade(stored, STEPS)
    assert stored_version(stored) == 1


def test_one_process_upgrades_at_a_time(stored):
    def apply(store):
        with pytest.raises(AlreadyRunning, match="is being upgraded"):
            upgrade(stored, STEPS)

    upgrade(stored, (Migration(1, "while another waits", apply),))


@pytest.mark.parametrize(("version", "message"), [(0, "version 0"), (9, "reads up to 3")])
def test_a_version_that_no_step_leads_on_from(stored, version, message):
    store_version(stored, version)
    with pytest.raises(WarehouseError, match=message):
        upgrade(stored, STEPS)


def test_a_stored_warehouse_is_as_it_was_written():
    assert (STORED / layout.FORMAT).read_text() == '{"schema_version": 1}\n'
    files = [file for receipt in receipts.read(storage.open(STORED)) for file in receipt.files]
    assert files
    for file in files:
        assert hashlib.sha256((STORED / file.path).read_bytes()).hexdigest() == file.sha256
