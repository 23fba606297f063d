"""How many threads BLAS takes inside functions of SQL, and after them."""

import json
import os

import pytest
from ended_commands import run_code, succeeded

COUNTED = """
import json
from pathlib import Path
from threadpoolctl import threadpool_info
from warehouse.query import {module}
from warehouse.query.catalog import connect
from warehouse.commits.writer import open_root

def threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

def noting(*given):
    seen.append(threads())
    return work(*given)

work, seen = {module}.{name}, [threads()]
{module}.{name} = noting
with connect(open_root(Path("empty"))) as connection:
    rows = connection.execute("{sql}").fetchall()
print(json.dumps([*seen, threads()]))
"""


@pytest.mark.parametrize(
    ("module", "name", "sql"),
    [
        (
            "resampling",
            "_sum_groups",
            "SELECT resampled_sums(2, [], 4, 1, [0, 1]::INTEGER[], [[1, 2]]::DOUBLE[][])",
        ),
        ("functions", "_means_of_name", "SELECT named_means('a', 1, 4, [[1, 2]]::DOUBLE[][])"),
    ],
)
def test_blas_takes_one_inside_and_as_many_as_before_after(tmp_path, module, name, sql):
    code = COUNTED.format(module=module, name=name, sql=sql)
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    counted = succeeded(run_code(code, cwd=tmp_path, env=environment))
    before, inside, after = json.loads(counted)
    assert before[0] == 2
    assert inside[0] == 1
    assert after[0] == 2
