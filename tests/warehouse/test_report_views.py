"""The report over the real views: every column is there, and a small warehouse gives a page."""

from pathlib import Path

import numpy as np
import pytest
from planned_units import (
    block_units,
    commit_pairs,
    commit_profiles,
    commit_run,
    commit_scores,
    cost_row,
    pair_row,
)
from report_reader import SECTIONS, Reader
from stub_audit import Audit, open_stub

from decaf.errors import UnknownName
from warehouse.commits.writer import open_root
from warehouse.query import catalog
from warehouse.report.audit import facts
from warehouse.report.page import write_report

PATHS = {"blend": 4, "patch_a": 4}
"""Trajectories of a block by path."""

PARTS = [part for part in facts.Facts._fields if part != "study"]


def test_queries_have_the_same_columns_over_stub_tables_and_real_views(tmp_path):
    with catalog.connect(open_root(tmp_path)) as connection, open_stub(Audit()) as stub:
        for part in PARTS:
            query = facts.query_of(part)
            study = ["none"] * query.count("?")
            real, stubbed = (side.sql(query, params=study) for side in (connection, stub))
            assert real.columns == stubbed.columns
            assert part == "progress" or real.fetchall() == []
        with pytest.raises(UnknownName, match="known: none"):
            write_report(connection, "demo", tmp_path / "r.html")


def test_report_of_a_small_warehouse(tmp_path):
    root = open_root(tmp_path / "warehouse")
    _commit_audit(root)
    with catalog.connect(root) as connection:
        text = write_report(connection, "tiny", tmp_path / "r.html").read_text()
        abs_response = connection.sql(
            "SELECT abs_response FROM out_model_profiles WHERE model_id = 'm0' AND path = 'blend'"
        ).fetchall()[0][0]
    reader = Reader(text)
    row = next(row for row in reader.rows if row[0] == "m0" and len(row) == 8)
    assert row[1] == "4"
    assert row[-1].startswith(f"{abs_response:.3f} [")
    assert "still running: 2 of 4 blocks" in reader.text
    assert "missing_blocks" in reader.text
    assert set(SECTIONS) <= set(reader.ids)


def _commit_audit(root: Path) -> None:
    """Two models on four pairs and two paths; each model has a second block that is not done."""
    random = np.random.default_rng(3)
    pairs = [
        pair_row(f"p{place}", f"s{place // 2}", "floor", (f"p{place}+", "a"), (f"p{place}-", "b"))
        for place in range(4)
    ]
    commit_pairs(root, "tiny", pairs)
    models = ("m0", "m1")
    units = [
        unit
        for model in models
        for block in range(2)
        for unit in block_units(model, f"{model}-{block}", 0.02, PATHS, block)
    ]
    run = {"run_id": "run", "epsilon": 0.02}
    run |= {"score": '{"kind": "class_probability"}'}
    commit_run(root, "tiny", run, units, [{"model_id": model} for model in models], [])
    for model in models:
        _commit_block(root, model, random)


def _commit_block(root: Path, model: str, random: np.random.Generator) -> None:
    keys = [
        {"unit_key": f"{model}-0-{path}", "pair_id": f"p{place}", "path": path, "repetition": 0}
        for place in range(4)
        for path in PATHS
    ]
    grid = np.linspace(0, 1, 5)
    q = random.uniform(0, 1, (2, len(keys), 5))
    q[1, :, 0] = q[0, :, 0]
    cost = cost_row(model, 4, 60, 80, batch_size=16, wall_seconds=1.5, peak_memory_bytes=2**30)
    clean = f"{model}-0-clean"
    commit_scores(root, "tiny", model, model, keys, list(grid), q, {"costs": [cost]}, [clean])
    commit_profiles(root, "tiny", f"{model}-at-0.02", model, keys, grid, q, 0.02)
