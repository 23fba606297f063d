"""The report over the real views: every column is there, and a small warehouse gives a page."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from planned_units import block_units, cost_row, manifest
from report_reader import SECTIONS, Reader
from stub_audit import Audit, open_stub

from decaf.errors import UnknownName
from decaf.routing.profiles import profile
from warehouse.commits.writer import commit, open_root
from warehouse.query import catalog
from warehouse.report.audit import facts
from warehouse.report.page import write_report
from warehouse.tables.declarations import TABLES

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
    start = np.datetime64("2026-11-20T08:00", "us")
    pairs = [f"p{place}" for place in range(4)]
    names = ("pairs_digest", "pair_id", "source_id", "pair_type", "class_id", "split")
    names += ("plus_image", "minus_image", "plus_variant", "minus_variant")
    rows = [
        ("digest", pair, f"s{place // 2}", "floor", 0, "test", f"{pair}+", f"{pair}-", "a", "b")
        for place, pair in enumerate(pairs)
    ]
    commit(root, "pairs", "tiny", "digest", {"pairs": _rows(names, rows)})
    units = [
        unit
        for k in range(2)
        for block in range(2)
        for unit in block_units(f"m{k}", f"k{k}{block}", 0.02, PATHS, block)
    ]
    run = ("run", start, 0.02, "digest", len(units), '{"kind": "class_probability"}', "{}", "{}")
    names = ("run_id", "started_at", "epsilon", "pairs_digest", "unit_count", "score", "config")
    models = [("run", f"m{k}", k, "net", "net-4", "ab" * 32, "{}", None) for k in range(2)]
    model_names = ("run_id", "model_id", "position", "family", "architecture", "weights_sha256")
    tables = {
        "runs": _rows((*names, "software"), [run]),
        "models": _rows((*model_names, "card", "training"), models),
    }
    for name, rows in manifest("run", units).items():
        tables[name] = pa.Table.from_pylist(rows, TABLES[name].schema)
    commit(root, "runs", "tiny", "run", tables)
    for k in range(2):
        _commit_block(root, f"m{k}", f"k{k}0", pairs, random)


def _commit_block(root: Path, model: str, key: str, pairs: list[str], random) -> None:
    where = [(pair, path) for pair in pairs for path in PATHS]
    grid = np.linspace(0, 1, 5)
    plus, minus = random.uniform(0, 1, (2, len(where), 5))
    minus[:, 0] = plus[:, 0]
    ids = {
        "unit_key": [f"{key}-{path}" for _, path in where],
        "pair_id": [pair for pair, _ in where],
        "path": [path for _, path in where],
        "repetition": [0] * len(where),
    }
    scores = {"t": [list(grid)] * len(where), "q_plus": list(plus), "q_minus": list(minus)}
    cost = cost_row(key, 4, 60, 80, batch_size=16, wall_seconds=1.5, peak_memory_bytes=2**30)
    costs = pa.Table.from_pylist([cost], TABLES["costs"].schema)
    tables = {"trajectories": pa.table(ids | scores), "costs": costs}
    own = (f"{key}-clean", *(f"{key}-{path}" for path in PATHS))
    commit(root, "units", "tiny", key, tables, model_id=model, units=own)
    profiles = profile(plus - minus, grid, 0.02).columns()
    profiles["sign_flip_frac"] = pa.array(profiles["sign_flip_frac"], from_pandas=True)
    routed = [f"{unit}-at-0.02" for unit in ids["unit_key"]]
    keys = {"unit_key": routed, "epsilon": [0.02] * len(where)}
    table = {"profiles": pa.table(ids | keys | profiles)}
    own = tuple(dict.fromkeys(routed))
    commit(root, "units", "tiny", f"{key}e", table, model_id=model, units=own)


def _rows(names: tuple[str, ...], rows: list[tuple]) -> pa.Table:
    return _table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _table(columns: dict[str, list]) -> pa.Table:
    return pa.table(
        {
            name: pa.array(np.array(values), pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
            if name == "started_at"
            else values
            for name, values in columns.items()
        }
    )
