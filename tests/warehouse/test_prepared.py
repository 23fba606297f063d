"""Views are bound once for a machine; every opening attaches what was bound."""

import multiprocessing
import shutil

import duckdb
import pytest
from small_warehouse import MODELS

from warehouse.query import prepared, views
from warehouse.query.catalog import connect

OUT = "out_model_profiles"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a process that has bound nothing yet."""
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path / "cache"))
    prepared._bind_views.cache_clear()
    yield tmp_path / "cache"
    prepared._bind_views.cache_clear()


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A folder with one view and what is below it, bound in a moment."""
    by_name = {view.name: view for view in views.views()}
    wanted, left = set(), [OUT]
    while left:
        if (name := left.pop()) in by_name and name not in wanted:
            wanted.add(name)
            left += by_name[name].inputs
    for name in sorted(wanted):
        if by_name[name].folder == views.STAGING:
            continue
        source = views.SQL_FOLDER / by_name[name].folder / f"{name}.sql"
        target = tmp_path / "sql" / by_name[name].folder / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    monkeypatch.setattr(views, "SQL_FOLDER", tmp_path / "sql")
    return tmp_path / "sql"


@pytest.fixture
def bindings(monkeypatch, few):
    """How often the views were bound."""
    found = []

    def create_views(connection, scripts, schemas):
        found.append(len(scripts))
        views.create_views(connection, scripts, schemas)

    monkeypatch.setattr(prepared, "create_views", create_views)
    return found


def models(root):
    with connect(root) as connection:
        return connection.sql(f"SELECT DISTINCT model_id FROM {OUT} ORDER BY model_id").fetchall()


EXPECTED = [(model,) for model in sorted(MODELS)]


def test_views_are_bound_once(root, cache, bindings):
    assert models(root) == EXPECTED
    assert len(bindings) == 1
    prepared._bind_views.cache_clear()
    assert models(root) == EXPECTED
    assert len(bindings) == 1
    (file,) = [path for path in cache.rglob("*") if path.is_file()]
    assert file.suffix == ".duckdb"


@pytest.mark.parametrize("content", [b"no database", None])
def test_a_damaged_file_is_written_anew(content, root, cache, bindings):
    models(root)
    (file,) = cache.rglob("*.duckdb")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    prepared._bind_views.cache_clear()
    assert models(root) == EXPECTED
    assert len(bindings) == 2
    prepared._bind_views.cache_clear()
    assert models(root) == EXPECTED
    assert len(bindings) == 2


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else(root, cache, bindings):
    cache.write_text("a file where the folder should be")
    assert [models(root), models(root)] == [EXPECTED, EXPECTED]
    assert len(bindings) == 1
    assert cache.read_text() == "a file where the folder should be"


def test_changed_sql_is_seen(root, cache, few):
    assert models(root) == EXPECTED
    file = few / "out" / f"{OUT}.sql"
    upper = "    upper(means.model_id) AS model_id,\n"
    file.write_text(file.read_text().replace("    means.model_id,\n", upper))
    assert models(root) == [(model.upper(),) for model in sorted(MODELS)]


def test_the_views_cannot_be_changed_and_others_can_be_added(root):
    with connect(root) as connection:
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            connection.execute(f"CREATE OR REPLACE VIEW warehouse.{OUT} AS SELECT 1 AS one")
        connection.execute(f"CREATE VIEW mine AS SELECT DISTINCT model_id FROM {OUT}")
        assert sorted(connection.table("mine").fetchall()) == EXPECTED
        assert {OUT, "mine"} <= {name for (name,) in connection.sql("SHOW TABLES").fetchall()}


def read_views_in(folder):
    views.SQL_FOLDER = folder


def test_many_processes_may_be_the_first(root, cache, few):
    context = multiprocessing.get_context("spawn")
    with context.Pool(2, read_views_in, [few]) as pool:
        assert pool.map(models, [root] * 2, chunksize=1) == [EXPECTED] * 2
    (file,) = [path for path in cache.rglob("*") if path.is_file()]
    assert file.suffix == ".duckdb"
