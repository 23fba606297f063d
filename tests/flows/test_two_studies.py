"""Two flows write different studies into one warehouse at once."""

import os
import subprocess

from running_command import DECAF, TABLES

from warehouse.query.catalog import connect
from warehouse.query.checks import run_checks

OWN = ("study", "run_id", "unit_key")
"""Columns by which the rows of the two differ."""


def test_two_flows_write_one_warehouse_at_once(study, write, prefect_server, tmp_path):
    studies = ["one", "other"]
    flows = [
        subprocess.Popen(
            [DECAF, "run", str(write({**study, "study": name}, f"{name}.yaml"))],
            cwd=tmp_path,
            env={**os.environ, **prefect_server},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in studies
    ]
    said = [flow.communicate()[0] for flow in flows]
    assert [flow.returncode for flow in flows] == [0, 0], said
    with connect(study["warehouse"]) as connection:
        assert [check.name for check in run_checks(connection) if check.offending_count] == []
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
