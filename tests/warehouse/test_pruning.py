"""A question about one model, path or pair reads the files, and parts of files, of that alone."""

import json

import pyarrow.parquet as pq
import pytest

from warehouse.commits import receipts
from warehouse.query.catalog import connect
from warehouse.query.views import views
from warehouse.tables.declarations import TABLES
from warehouse.upkeep.compaction import compact

OF_MODEL = {name for name, table in TABLES.items() if "model_id" in table.partition}
VIEWS = (
    "out_model_profiles",
    "out_responses",
    "core_profiles",
    "core_stages",
    "core_pair_predictions",
)
SIDE_BY_SIDE = {
    "out_behaviours",
    "out_changed_pairs",
    "out_controls",
    "out_doubts",
    "out_history",
    "out_shown_pairs",
    "out_trust",
}
"""Views that set a model, or its units, among others: they read all, whichever is asked for."""


@pytest.fixture
def connection(store):
    with connect(store) as opened:
        yield opened


def scanned(connection, sql):
    """Files of models that a query reads, as tables and models, and what DuckDB scanned of each."""
    plan = json.loads(connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()[0][1])
    left, scans = [plan], {}
    while left:
        operator = left.pop()
        left += operator.get("children", []) + operator.get("operator", [])
        for name in operator.get("extra_info", {}).get("Filename(s)", "").split(", "):
            _, _, place = name.partition("/tables/")
            table, *folders = place.split("/")
            if table in OF_MODEL:
                scans[table, folders[1].removeprefix("model_id=")] = operator
    return scans


@pytest.mark.parametrize("view", VIEWS)
def test_one_model_is_read_alone(connection, view):
    sql = f"FROM {view} WHERE study = 's' AND model_id = '007'"
    assert {model for _, model in scanned(connection, sql)} == {"007"}
    assert {model for _, model in scanned(connection, f"FROM {view}")} == {"007", "m"}


def test_views_for_users_that_read_other_models_are_known(connection):
    reading = set()
    for view in (view for view in views() if view.kind == "out" and view.is_view):
        if {"study", "model_id"} <= {*connection.view(view.name).columns}:
            sql = f"FROM {view.name} WHERE study = 's' AND model_id = '007'"
            if {model for _, model in scanned(connection, sql)} - {"007"}:
                reading.add(view.name)
    assert reading == SIDE_BY_SIDE


def test_a_pair_is_read_without_the_rows_of_other_pairs_and_paths(store, monkeypatch):
    """After a compaction, each group of rows has pairs of its own."""
    monkeypatch.setattr("warehouse.commits.writer.ROW_GROUP_ROWS", 1)
    compact(store, "s")
    with connect(store) as connection:
        sql = "FROM core_profiles WHERE study = 's' AND model_id = 'm' AND pair_id = 'p1'"
        scan = scanned(connection, sql)["profiles", "m"]
        assert (scan["row_groups_scanned"], scan["rows_scanned"]) == (1, 1)


def test_rows_of_a_compaction_are_in_the_order_of_their_keys(store):
    compact(store, "s")
    for compaction in receipts.read_kind(store, "compactions", "s"):
        for file in compaction.files:
            rows = pq.ParquetFile(store.folder / file.path).read().to_pylist()
            own = [name for name in TABLES[file.table].key if name in rows[0]]
            own.sort(key=lambda name: name != "path")
            keys = [tuple(row[name] for name in own) for row in rows]
            assert keys == sorted(keys)
