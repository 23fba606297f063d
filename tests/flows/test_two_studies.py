"""Two flows write different studies into one warehouse at once."""

import pytest
from running_command import TABLES
from warehouse_answers import failed_checks

from warehouse.query.catalog import connect

OWN = ("study", "run_id", "unit_key")
"""Columns by which the rows of the two differ."""


@pytest.mark.slow
def test_two_flows_write_one_warehouse_at_once(study, write, start_decaf, prefect_server):
    studies = ["one", "other"]
    configs = [write({**study, "study": name}, f"{name}.yaml") for name in studies]
    flows = [start_decaf("run", config, **prefect_server) for config in configs]
    done = [flow.completed() for flow in flows]
    assert [flow.returncode for flow in done] == [0, 0], done
    assert failed_checks(study["warehouse"]) == []
    with connect(study["warehouse"]) as connection:
        for table, order in TABLES.items():
            of_study = [
                connection.sql(
                    f"SELECT COLUMNS(lambda name: name NOT IN {OWN}) FROM {table} "
                    f"WHERE study = $study ORDER BY {order}",
                    params={"study": name},
                ).fetchall()
                for name in studies
            ]
            assert of_study[0] == of_study[1], table
            assert of_study[0], table
