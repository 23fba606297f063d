"""Every view and check on rows small enough to check by hand.

A folder holds ``given_<relation>.csv`` for what the view reads (relations that are not given have
no rows, cells that are not given are NULL) and ``expect.csv`` with the rows of the view, or with
those for which the condition of ``where.sql`` holds.
"""

import math
from pathlib import Path

import pytest
from view_tables import VIEWS, columns_of, create, define_over, read_rows, relations

from warehouse.query.views import CHECKS, DEFINED, MACRO
from warehouse.tables.declarations import TABLES

CASES = sorted(
    folder for folder in Path(__file__).parent.iterdir() if (folder / "expect.csv").exists()
)
TESTED = {"core", "out", "paper", "check"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_view(case, columns, open_schema):
    name = case.name.partition("@")[0]
    view = VIEWS[name]
    given = {path.stem.removeprefix("given_"): path for path in case.glob("given_*.csv")}
    assert given.keys() <= relations(name), "given, but not read"
    with open_schema() as connection:
        rows = {relation: read_rows(path) for relation, path in given.items()}
        define_over(connection, name, columns, rows)
        found = connection.sql(view.sql) if view.folder == CHECKS else connection.view(name)
        if (condition := case / "where.sql").exists():
            found = found.filter(condition.read_text())
        expected = read_rows(case / "expect.csv")
        types = columns_of(found)
        stated = list(expected[0]) if expected else list(types)
        assert view.kind == "core" or set(stated) == set(types), "every column is stated"
        create(connection, "expected", {column: types[column] for column in stated}, expected)
        found_rows = found.select(*stated).fetchall()
        expected_rows = connection.table("expected").fetchall()
    if view.kind not in ("out", "paper"):
        found_rows, expected_rows = sorted(found_rows, key=repr), sorted(expected_rows, key=repr)
    assert len(found_rows) == len(expected_rows), found_rows
    for found_row, expected_row in zip(found_rows, expected_rows, strict=True):
        for column, a, b in zip(stated, found_row, expected_row, strict=True):
            assert _equal(a, b), f"{column}: {a!r}, expected {b!r} in {expected_row}"


@pytest.mark.parametrize("kind", sorted(TESTED))
def test_every_view_has_a_case(kind):
    tested = {case.name.partition("@")[0] for case in CASES}
    assert {view.name for view in VIEWS.values() if view.kind == kind and view.inputs} <= tested


def test_tables_are_made_of_files_alone():
    """While views are made there are no rows in what they read."""
    tables = [view for view in VIEWS.values() if "CREATE OR REPLACE TABLE" in view.sql]
    assert tables
    assert {name for view in tables for name in view.inputs if VIEWS[name].is_view} == set()


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_file_says_what_it_is(view):
    assert len(view.sql.splitlines()) <= 60
    assert "INSTALL" not in view.sql
    if view.kind not in ("check", MACRO):
        assert DEFINED.findall(view.sql) == [view.name]


def test_inputs_are_the_files_that_define_what_a_view_reads():
    assert VIEWS["out_costs"].inputs == ("out_block_costs",)
    assert VIEWS["core_run_units"].inputs == (
        "committed_units",
        "core_current_runs",
        "stg_run_units",
    )
    assert VIEWS["out_epsilon_sweep"].inputs == ("core_current_runs", "epsilon_sweep")
    assert "routing" in VIEWS["check_profiles_recompute"].inputs, "a file of several macros"
    assert VIEWS["core_unit_scores"].inputs == (
        "core_covertype_unit_scores",
        "core_imagenet9_unit_scores",
    )
    assert VIEWS["stg_files"].inputs == ("receipt_files", "files.any")
    assert VIEWS["core_published"].inputs == ()


@pytest.mark.parametrize("table", TABLES)
def test_a_check_looks_at_the_keys_of_every_table(table):
    read = {name for view in VIEWS.values() if "keys_unique" in view.name for name in view.inputs}
    assert read & {f"stg_{table}", f"core_{table}"}


def test_macro_names_are_unique():
    text = "\n".join(view.sql for view in VIEWS.values())
    names = DEFINED.findall(text)
    assert len(names) == len(set(names))


def _equal(found, expected):
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_equal, found, expected))
    return found == expected
