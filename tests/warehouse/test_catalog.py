import json
import re

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ended_commands import run_code, succeeded
from small_warehouse import MODELS, PAIRS, commit_block, small_warehouse

from decaf.errors import BadInput, QueryError, WarehouseError
from warehouse import storage
from warehouse.commits import layout
from warehouse.query.catalog import connect, run_query
from warehouse.query.seeds import write_seeds
from warehouse.query.views import sort_views, views
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.float64(): "DOUBLE",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP WITH TIME ZONE",
}


def value(connection, sql):
    return run_query(connection, sql).to_pydict().popitem()[1][0]


def trajectory_file(root, model="m"):
    keys = {"study": "s", "model_id": model}
    return root / layout.table_file("trajectories", keys, f"{model}-scores")


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_staging_view_has_the_columns_of_the_table(opened_empty, table):
    expected = dict.fromkeys(table.partition, "VARCHAR")
    for column in table.columns:
        is_list = pa.types.is_list(column.type)
        item = column.type.value_type if is_list else column.type
        expected[column.name] = SQL_TYPES[item] + "[]" * is_list
    view = opened_empty.view(f"stg_{table.name}")
    assert dict(zip(view.columns, map(str, view.types), strict=True)) == expected
    assert view.fetchall() == []


@pytest.mark.slow
def test_every_view_can_be_read_without_a_commit(opened_empty):
    for view in sort_views():
        if view.kind != "macro" and view.inputs:
            assert run_query(opened_empty, f"FROM {view.name}").num_rows == 0


def test_values_come_back(root):
    with connect(str(root)) as connection:
        rows = run_query(connection, "FROM stg_trajectories").to_pylist()
        assert {row["model_id"] for row in rows} == set(MODELS)
        stored = pq.read_table(trajectory_file(root)).to_pylist()
        own = [row for row in rows if row["model_id"] == "m"]
        assert [row["q_plus"] for row in own] == [row["q_plus"] for row in stored]
        models = run_query(connection, "SELECT model_id, family FROM out_model_profiles")
        assert models["model_id"].to_pylist() == list(MODELS)
        assert value(connection, "SELECT count(*) FROM out_model_intervals") == 6 * len(MODELS)


def test_filter_on_model_reads_that_model_only(opened_small):
    plan = opened_small.sql(
        "EXPLAIN ANALYZE SELECT sum(evidence) FROM core_profiles WHERE model_id = '007'"
    ).fetchall()[0][1]
    assert "model_id=007" in plan
    assert "model_id=m/" not in plan


def test_newest_run_and_its_epsilon_count(root):
    small_warehouse(root, run_id="later", epsilon=0.5, day=2)
    with connect(root) as connection:
        run = run_query(connection, "SELECT run_id, is_finished FROM core_current_runs")
        assert run.to_pylist() == [{"run_id": "later", "is_finished": True}]
        counts = "SELECT count(*), min(epsilon), max(epsilon) FROM "
        stored = connection.sql(counts + "stg_profiles").fetchall()
        current = connection.sql(counts + "core_profiles").fetchall()
    assert stored == [(2 * len(MODELS) * len(PAIRS), 0.02, 0.5)]
    assert current == [(len(MODELS) * len(PAIRS), 0.5, 0.5)]


def test_studies_stay_apart(root):
    small_warehouse(root, study="t", run_id="other", epsilon=0.1)
    with connect(root) as connection:
        counted = "SELECT study, count(*) FROM core_profiles GROUP BY ALL ORDER BY ALL"
        assert connection.sql(counted).fetchall() == [("s", 6), ("t", 6)]
        swept = "SELECT DISTINCT epsilon FROM out_epsilon_sweep WHERE study = 's' ORDER BY ALL"
        assert connection.sql(swept).fetchall() == [(0.01,), (0.02,), (0.05,)]


@pytest.mark.parametrize("condition", ["true", "study = 't'", "model_id = 'm'"])
def test_queries_are_planned_by_what_receipts_say_of_sizes(root, condition):
    """DuckDB by itself takes all files for as large as the first that it reads."""
    small_warehouse(root, study="t", run_id="other", epsilon=0.1)
    commit_block(storage.open(root), "s", "late", 0.02)
    with connect(root) as connection:
        asked = f"EXPLAIN (FORMAT json) FROM stg_trajectories WHERE {condition}"
        plan = connection.sql(asked).fetchall()[0][1]
        (rows,) = re.findall(r'"Estimated Cardinality": "(\d+)"', plan)
        assert int(rows) == value(connection, "SELECT count(*) FROM stg_trajectories") == 15


def test_connection_sees_the_commits_of_its_opening(store):
    counted = "SELECT count(*) FROM stg_trajectories"
    with connect(store) as before:
        commit_block(store, "s", "late", 0.02)
        assert value(before, counted) == 6
        with connect(store) as after:
            assert value(after, counted) == 9


def test_whole_file_of_another_size_is_read(root):
    file = trajectory_file(root)
    pq.write_table(pq.read_table(file), file, compression="none")
    with connect(root) as connection:
        assert value(connection, "SELECT count(*) FROM core_trajectories") == 2 * len(PAIRS)
        assert value(connection, "SELECT bool_and(is_readable) FROM receipt_files")


def test_root_with_odd_characters(tmp_path):
    root = tmp_path / "it's [1] *"
    with connect(small_warehouse(root)) as connection:
        assert value(connection, "SELECT count(*) FROM core_trajectories") == 6
        files = list((root / "tables").rglob("*.parquet"))
        assert value(connection, "SELECT count(*) FROM stg_files") == len(files)


def test_no_warehouse(tmp_path):
    with pytest.raises(WarehouseError, match="not a warehouse.*decaf run"):
        connect(tmp_path / "nowhere")


def test_newer_warehouse(root):
    (root / layout.FORMAT).write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1}))
    with pytest.raises(WarehouseError, match=f"version {SCHEMA_VERSION + 1}.*{SCHEMA_VERSION}"):
        connect(root)


def test_a_disk_that_refuses_files_without_rows_is_named(tmp_path):
    (tmp_path / "scratch").touch()
    with pytest.raises(WarehouseError, match="scratch.*set TMPDIR"):
        write_seeds(tmp_path / "scratch")


def test_damaged_receipt(root):
    (root / layout.receipt("runs", "s", "r")).write_text("{")
    with pytest.raises(WarehouseError, match="not a receipt"):
        connect(root)


def test_impossible_setting(root):
    with pytest.raises(WarehouseError, match="Memory must have a number"):
        connect(root, memory_limit="much")


@pytest.mark.parametrize(("gigabytes", "limit"), [("", "1.8 GiB"), ("1", "953.6 MiB")])
def test_memory_of_the_environment(root, monkeypatch, gigabytes, limit):
    monkeypatch.setenv("DECAF_MEMORY", gigabytes)
    with connect(root) as connection:
        setting = connection.sql("SELECT current_setting('memory_limit')").fetchall()
    assert setting == [(limit,)]


@pytest.mark.parametrize("gigabytes", ["much", "0", "-1", "0.5", "nan", "²"])
def test_unusable_memory_of_the_environment(root, monkeypatch, gigabytes):
    monkeypatch.setenv("DECAF_MEMORY", gigabytes)
    with pytest.raises(BadInput, match="DECAF_MEMORY"):
        connect(root)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT evidense FROM out_model_profiles", 'Candidate bindings: "evidence"'),
        ("FROM out_model_profles", 'Did you mean "out_model_profiles"'),
        ("FROM core_profils", 'Did you mean "core_profiles"'),
        ("FROM out_profiles", 'Did you mean "core_profiles" or "stg_profiles"\\?'),
        ("FROM core_findings", 'Did you mean "out_findings"\\?'),
        ("FROM decaf.pairs", 'Did you mean "core_pairs"'),
        ("SELEC 1", "syntax error"),
        ("SELECT 'x'::INTEGER", "Could not convert"),
        ("", "found nothing; expected one SELECT"),
        ("SELECT 1; SELECT 2", "found SELECT, SELECT; expected one"),
        ("CREATE TABLE x AS SELECT 1", "found CREATE"),
        ("SET VARIABLE files = 1", "found SET"),
        ("PIVOT receipts ON kind", "PIVOT with a list"),
    ],
)
def test_refused_query(opened_small, sql, message):
    with pytest.raises(QueryError, match=message):
        run_query(opened_small, sql)
    assert value(opened_small, "SELECT 1") == 1


def test_writing_inside_the_warehouse_is_refused_too(root):
    target = root / "tables" / "x.csv"
    with connect(root) as connection:
        sql = f"WITH a AS (COPY (SELECT 1) TO '{target}') FROM a"
        with pytest.raises(QueryError, match="writes nothing"):
            run_query(connection, sql)
        with pytest.raises(duckdb.Error, match="locked"):
            connection.execute("SET enable_external_access = true")
        with pytest.raises(duckdb.Error, match="disabled by configuration"):
            connection.execute("COPY (SELECT 1) TO 'x.csv'")
    assert not target.exists()


@pytest.mark.parametrize(
    "sql",
    [
        "FROM out_model_profiles",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a;",
        "SHOW ALL TABLES",
        "DESCRIBE out_costs",
        "SUMMARIZE out_costs",
        'SELECT \'"type":"COPY_QUERY_NODE"\'',
        "PIVOT receipts ON kind IN ('units', 'runs') USING count(*)",
        "FROM epsilon_sweep([0.1, 0.2])",
        "FROM model_intervals(10, 1)",
    ],
)
def test_query_that_reads(opened_small, sql):
    assert isinstance(run_query(opened_small, sql), pa.Table)


def test_headers_are_complete():
    assert {view.kind for view in views()} == {"macro", "stg", "core", "out", "paper", "check"}
    for view in views():
        assert view.purpose
        assert view.grain
        assert view.paper
        assert "\n" not in "".join(view[:4])
    order = [view.name for view in sort_views()]
    assert len(set(order)) == len(order)
    assert order.index("role_of") < order.index("core_profiles") < order.index("epsilon_sweep")


def test_connect_is_public_and_the_package_cheap(small):
    code = (
        "import sys, warehouse\n"
        "print({'duckdb', 'pyarrow'} & set(sys.modules))\n"
        "with warehouse.connect(sys.argv[1]) as connection:\n"
        "    print(connection.sql('SELECT count(*) FROM core_profiles').fetchall())\n"
    )
    assert succeeded(run_code(code, small)) == "set()\n[(6,)]\n"
    with pytest.raises(ImportError, match="conect"):
        from warehouse import conect  # noqa: F401
