"""Creating views over stand-ins of their inputs gives what creating them one by one gives."""

import json

import pytest

from warehouse import views
from warehouse.catalog import connect_empty
from warehouse.views import column_types, in_order

STATED = json.loads(views.COLUMNS.read_text())


class Counted:
    """A connection that counts the scripts it ran."""

    def __init__(self, connection):
        self.connection = connection
        self.scripts = []

    def execute(self, sql, *parameters):
        self.scripts.append(sql)
        return self.connection.execute(sql, *parameters)


def changed(change):
    columns = json.loads(json.dumps(STATED))
    change(columns)
    return columns


STALE = {
    "a view is missing": lambda columns: columns.pop("core_profiles"),
    "a column is missing": lambda columns: columns["core_profiles"].pop("evidence"),
    "a column has another type": lambda columns: columns["core_profiles"].update(
        evidence="VARCHAR"
    ),
    "columns have another order": lambda columns: columns.update(
        core_profiles=dict(reversed(columns["core_profiles"].items()))
    ),
}


@pytest.fixture(scope="module")
def opened():
    with connect_empty() as connection:
        yield connection


@pytest.fixture
def created(opened, monkeypatch):
    """Creates all views anew, as if the file stated these columns; returns the scripts that ran."""

    def create(connection, stated, file):
        file.write_text(json.dumps(stated))
        monkeypatch.setattr(views, "COLUMNS", file)
        for name in STATED:
            connection.execute(f"DROP VIEW {name}")
        counted = Counted(connection)
        views.create_views(counted, in_order())
        return counted.scripts

    return lambda stated, file: (create(opened, stated, file), opened)


def test_each_view_is_bound_once_where_the_columns_are_up_to_date(created, tmp_path):
    scripts, connection = created(STATED, tmp_path / "columns.json")
    for view in in_order():
        assert scripts.count(view.sql) == 1, view.name
    assert column_types(connection) == STATED
    for name in STATED:
        assert connection.execute(f"FROM {name}").fetchall() == []


@pytest.mark.parametrize("stale", STALE)
def test_stale_columns_cost_time_and_nothing_else(stale, created, tmp_path):
    scripts, connection = created(changed(STALE[stale]), tmp_path / "columns.json")
    assert scripts[-1] == in_order()[-1].sql
    assert column_types(connection) == STATED
