"""Materialized views have the rows of the views."""

import pytest
from small_warehouse import small_warehouse

from warehouse.query.catalog import connect
from warehouse.query.materialized_views import SHARED_VIEWS, materialize_views
from warehouse.query.views import sort_views


def rows_of(connection, view):
    """Rows of a view for the study ``s``, sorted: nothing orders them outside the view."""
    answer = connection.execute(f"SELECT * FROM {view} WHERE study = 's'").fetchall()
    return sorted(answer, key=repr)


@pytest.fixture
def connection(root):
    """Two studies of the same models: ``s``, and one with another threshold."""
    store = small_warehouse(root, study="another", epsilon=0.5)
    with connect(store) as opened:
        yield opened


def test_materialized_views_have_the_rows_of_their_study(connection):
    computed = {view: rows_of(connection, view) for view in SHARED_VIEWS}
    with materialize_views(connection, "s"):
        materialized = {
            view: connection.execute(f"FROM {view}").fetchall() for view in SHARED_VIEWS
        }
    for view in SHARED_VIEWS:
        rows = sorted(materialized[view], key=repr)
        assert len(rows) == len(computed[view])
        for row, wanted in zip(rows, computed[view], strict=True):
            for value, wanted_value in zip(row, wanted, strict=True):
                if isinstance(wanted_value, float):
                    wanted_value = pytest.approx(wanted_value, rel=1e-12, abs=1e-12, nan_ok=True)
                assert value == wanted_value, view
    assert computed["out_responses"]
    assert computed["out_trust"]


def test_other_views_read_the_materialized_rows(connection):
    query = "SELECT count(*) FROM out_model_profiles WHERE study = 's'"
    (before,) = connection.execute(query).fetchone()
    with materialize_views(connection, "s"):
        assert connection.execute(query).fetchone() == (before,)
        connection.execute("DELETE FROM memory.core_profiles")
        assert connection.execute(query).fetchone() == (0,)
    assert connection.execute(query).fetchone() == (before,)
    assert before


def test_tables_are_dropped_even_if_the_block_fails(connection):
    with pytest.raises(KeyError), materialize_views(connection, "s"):
        raise KeyError
    studies = connection.execute("SELECT DISTINCT study FROM out_responses ORDER BY 1").fetchall()
    assert studies == [("another",), ("s",)]


def test_each_view_is_materialized_after_those_that_it_reads():
    order = [view.name for view in sort_views() if view.name in SHARED_VIEWS]
    inputs = {view.name: {*view.inputs} for view in sort_views()}
    for place, name in enumerate(SHARED_VIEWS):
        assert not inputs[name] & {*SHARED_VIEWS[place:]}
    assert {*order} == {*SHARED_VIEWS}
