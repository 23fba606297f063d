"""The report over the real views: every column is there, and a small warehouse gives a page."""

import shlex
from datetime import timedelta

import pytest
from planned_units import STARTED, block_units, commit_run
from report_reader import SECTIONS, Reader
from scenes_warehouse import EPSILON, GRID, MODELS, PATHS, STUDY, scenes_warehouse
from stub_audit import Audit, open_stub

from decaf.errors import UnknownName
from warehouse.commits.writer import open_root
from warehouse.query import catalog
from warehouse.report.audit import facts
from warehouse.report.page import write_report

PARTS = [part for part in facts.Facts._fields if part != "study"]


def test_queries_have_the_same_columns_over_stub_tables_and_real_views(tmp_path):
    with catalog.connect(open_root(tmp_path)) as connection, open_stub(Audit()) as stub:
        for part in PARTS:
            query, values = facts.query_of(part), {"study": "none"}
            real, stubbed = (side.sql(query, params=values) for side in (connection, stub))
            assert real.columns == stubbed.columns
            expected = {"progress": [(0, 0)], "sample": [(0, None, None)]}
            assert real.fetchall() == expected.get(part, [])
        with pytest.raises(UnknownName, match="known: none"):
            write_report(connection, "demo", tmp_path / "r.html")


def test_report_of_a_run_under_way(tmp_path):
    """The run after the newest has a second block of each model that is not done."""
    root = scenes_warehouse(tmp_path / "warehouse")
    counts, day = dict.fromkeys(PATHS, 8), timedelta(days=1)
    units = [
        unit
        for model in MODELS
        for block, key in enumerate((model, f"{model}-later"))
        for unit in block_units(model, key, EPSILON, counts, block)
    ]
    run = {"run_id": "later", "epsilon": EPSILON, "started_at": STARTED + day}
    models = [{"model_id": model} for model in MODELS]
    commit_run(root, STUDY, run, units, models, [{"path": path, "t": GRID} for path in PATHS])
    with catalog.connect(root) as connection:
        write_report(connection, STUDY, tmp_path / "r.html")
        expected = connection.sql(
            "SELECT model_id, abs_response FROM out_model_profiles"
        ).fetchall()
    reader = Reader((tmp_path / "r.html").read_text())
    rows = [row for row in reader.rows if row[0] in MODELS and len(row) == 9]
    assert {row[-1] for row in rows} == {"4"}
    shown = sorted((row[0], row[4].partition(" [")[0]) for row in rows)
    assert shown == sorted((model, f"{response:.3f}") for model, response in expected)
    assert "still running: 2 of 4 blocks" in reader.text
    assert "missing_blocks" in reader.text
    assert set(SECTIONS) <= set(reader.ids)


def test_the_command_for_pairs_beyond_a_limit_gives_all_of_them(scenes):
    with catalog.connect(scenes) as connection:
        words = shlex.split(facts.read_facts(connection, STUDY).command("pairs_beyond", "all.csv"))
        assert [*words[:2], *words[3:]] == ["decaf", "sql", "--output", "all.csv"]
        rows = connection.sql(words[2]).fetchall()
        ((count,),) = connection.sql(
            f"SELECT count(*) FROM core_profiles WHERE study = '{STUDY}' "
            "AND abs(endpoint_delta) > 0.05"
        ).fetchall()
    assert len(rows) == count > 0
