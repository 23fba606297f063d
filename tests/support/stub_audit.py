"""An invented audit in tables named as the views, for the tests of the report.

Its tables have the columns of the views, so that a query of the report that runs here names no
column that the views lack.
"""

import json
from dataclasses import dataclass
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa
from view_tables import catalogue_columns

from warehouse.query.catalog import connect_empty
from warehouse.query.views import views

READ_OF_CORE = ("core_blocks", "core_entry_versions", "core_display_names", "core_factual_accuracy")
READ_OF_CORE += ("core_entry_verdicts", "core_benchmark_warnings", "core_group_warnings")
READ_OF_CORE += ("core_attribution_studies", "core_protocol_paths", "core_scene_fragility")
READ_OF_CORE += ("stg_models", "core_profiles", "core_model_failures", "core_chance_warnings")
READ_OF_CORE += ("core_limit_warnings", "core_constant_warnings", "core_pairs", "stg_class_names")
REAL = ("formats", "name_roles", "controls", "describe_limit", "smallest_response")
REAL += ("out_responses", "out_limits", "core_decisions")
REAL += ("out_findings",)
"""Views that are as they are, over the stub's tables: in the order in which one reads another."""
SUMMARIES = """CREATE VIEW core_model_summaries AS
SELECT
    study, model_id, pair_type, path, pair_count, 20 AS source_count, active_frac,
    profile.abs_response,
    lower_95, upper_95, profile.evidence, profile.contradiction, profile.fragility,
    profile.endpoint_delta, NULL AS delta_lower_95, NULL AS delta_upper_95, endpoint_magnitude,
    NULL AS magnitude_lower_95, NULL AS magnitude_upper_95
FROM out_model_profiles AS profile
LEFT JOIN (FROM out_model_intervals WHERE metric = 'abs_response')
    USING (study, model_id, pair_type, path)"""
"""So that the tables of the stub agree, also when a test changes one."""
METRICS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")
RUN_ID = "7fa3c1d2e5b84960"
FAMILIES = ("resnet", "convnext", "vit", "swin", "efficientnet", "regnet")
PATH_FACTORS = {"blend": (1.0, 1.0, 1.0), "patch_a": (1.02, 1.6, 4.1), "patch_b": (1.0, 1.5, 3.8)}


@dataclass(frozen=True)
class Audit:
    """Settings of the invented audit."""

    models: tuple[str, ...] = ("resnet50.a1_in1k", "convnext_tiny.in12k_ft_in1k", "vit_small")
    pair_types: tuple[str, ...] = ("mixed_same", "mixed_rand")
    paths: tuple[str, ...] = ("blend", "patch_a")
    study: str = "demo"
    has_rows: bool = True
    is_finished: bool = True
    has_predictions: bool = True
    has_warnings: bool = False
    has_paper: bool = False


@cache
def real_columns() -> dict[str, dict[str, str]]:
    """Columns and types of every view that the report reads, as the real views have them."""
    with connect_empty() as connection:
        columns = catalogue_columns(connection)
    return {view.name: columns[view.name] for view in views() if _is_read(view)}


def _is_read(view) -> bool:
    is_read = view.kind in ("out", "paper") or view.name in READ_OF_CORE
    return is_read and view.name not in REAL


def six_models() -> Audit:
    """A realistic audit: six models, two pair types, two paths."""
    models = (
        "resnet18.tv_in1k",
        "resnet50.a1_in1k",
        "convnext_tiny.in12k_ft_in1k",
        "vit_base_patch16_clip_224.openai_ft_in12k_in1k",
        "swin_small_patch4_window7_224.ms_in22k_ft_in1k",
        "efficientnet_b0.ra_in1k",
    )
    return Audit(models=models, study="imagenet9-backgrounds", has_warnings=True, has_paper=True)


def many_models(count: int, paths: tuple[str, ...] = ("blend", "patch_a", "patch_b")) -> Audit:
    """An audit of a large registry."""
    models = tuple(
        f"{FAMILIES[index % 6]}_variant_{index:03d}.fb_in22k_ft_in1k" for index in range(count)
    )
    return Audit(models=models, paths=paths, study="registry", has_paper=True)


def open_stub(audit: Audit) -> duckdb.DuckDBPyConnection:
    """Open an in-memory DuckDB with every table of the contract, filled for one audit."""
    connection = duckdb.connect()
    for name, columns in real_columns().items():
        typed = ", ".join(f'"{column}" {type_}' for column, type_ in columns.items())
        connection.execute(f"CREATE TABLE {name} ({typed})")
    connection.execute(SUMMARIES)
    sql = {view.name: view.sql for view in views()}
    for name in REAL:
        connection.execute(sql[name])
    connection.execute("CREATE MACRO history_of(rel) AS TABLE FROM out_history")
    connection.execute("CREATE MACRO breakdowns_of(rel, n, seed) AS TABLE FROM out_breakdowns")
    (statistics,) = (view for view in views() if view.name == "core_statistics")
    connection.execute(statistics.sql)
    _insert_run(connection, audit)
    if audit.has_rows:
        _insert_results(connection, audit)
    if audit.has_paper:
        _insert_paper(connection, audit)
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[tuple]) -> None:
    """Append rows in the order of the table's columns."""
    columns = zip(*rows, strict=True)
    appended = pa.table({f"c{place}": list(column) for place, column in enumerate(columns)})
    connection.register("appended", appended)
    connection.execute(f"INSERT INTO {table} SELECT * FROM appended")
    connection.unregister("appended")


def insert_named(
    connection: duckdb.DuckDBPyConnection, table: str, *rows: dict, study: str = "demo"
) -> None:
    """Append rows by the names of columns; columns that a row does not name are NULL."""
    columns = connection.table(table).columns
    named = [{"study": study} | row for row in rows]
    insert(connection, table, [tuple(row.get(name) for name in columns) for row in named])


def _insert_run(connection: duckdb.DuckDBPyConnection, audit: Audit) -> None:
    study, started = audit.study, "2026-11-20 08:15:00+00"
    finished = "2026-11-20 11:42:00+00" if audit.is_finished else None
    count = 4 * len(audit.models)
    score = json.dumps(
        {"kind": "superclass_probability", "class_map": "in_to_in9.json", "classes": 9}
    )
    ended = (finished, audit.is_finished, 0)
    older = ("2026-11-01 08:15:00+00", "2026-11-01 09:15:00+00", True, 0, 0.1)
    runs = [
        (study, RUN_ID, True, started, *ended, 0.02, "p" * 64, count, None, None, score, "{}"),
        (study, "older", False, *older, "p" * 64, count, 9, 0, "old", "{}"),
    ]
    insert(connection, "out_runs", runs)
    models = []
    for position, model in enumerate(audit.models):
        family = model.split("_")[0].split(".")[0]
        digest = f"{position:02x}" + "4be1c09d" * 7 + "a7b3d1"
        models.append((study, model, position, family, "timm/" + model, digest, "{}", None))
    insert(connection, "out_models", models)
    connection.execute(
        "INSERT INTO stg_models BY NAME SELECT study, $run AS run_id, model_id, position "
        "FROM out_models",
        {"run": RUN_ID},
    )
    blocks = [
        (study, RUN_ID, model, block, done, done)
        for model in audit.models
        for block in range(4)
        for done in [audit.is_finished or (audit.has_rows and block == 0)]
    ]
    insert(connection, "core_blocks", blocks)
    types = [(study, pair_type, "original", pair_type, 20, 10) for pair_type in audit.pair_types]
    insert(connection, "out_pair_types", types)
    connection.execute(
        "INSERT INTO core_pairs BY NAME SELECT study, pair_type, pair_type || pair AS pair_id, "
        "'source' || pair % 10 AS source_id, 1.0 AS weight "
        "FROM out_pair_types, range(pair_count) AS pairs (pair)"
    )
    unlimited = (None, None)
    names = [
        (study, "pair_type", name, None, name, "unknown", *unlimited) for name in audit.pair_types
    ]
    names += [
        (study, "path", name, at, name, None, *unlimited) for at, name in enumerate(audit.paths)
    ]
    insert(connection, "core_display_names", names)


def _insert_results(connection: duckdb.DuckDBPyConnection, audit: Audit) -> None:
    random = np.random.default_rng(7)
    study = audit.study
    profiles, intervals, stages, sweep = [], [], [], []
    for position, model in enumerate(audit.models):
        for type_place, pair_type in enumerate(audit.pair_types):
            base = random.uniform([0.06, 0.005, 0.004], [0.2, 0.045, 0.05]) * (1 + 0.5 * type_place)
            magnitude, active = float(base[0] * 1.7), float(random.uniform(0.4, 0.85))
            for path in audit.paths:
                noise = random.uniform(0.9, 1.1, 3)
                e, c, f = (float(v) for v in base * PATH_FACTORS.get(path, 1.3) * noise)
                total = e + c + f
                where = (study, model, pair_type, path)
                profiles.append(
                    (study, model, model[:6], position, pair_type, path, 20, active, -magnitude / 2)
                    + (magnitude, e, c, f, total, e - c, e / total, c / total, f / total)
                )
                for metric, value in zip(METRICS, (magnitude, e, c, f, total), strict=True):
                    bounds = (value * 0.88, value * 1.12, value * 0.86, value * 1.14)
                    intervals.append((*where, metric, value, value * 0.07, *bounds, 10, 500))
                for stage in range(9):
                    t = stage / 8
                    parts = (2 * e * t, 6 * c * t * (1 - t), 6 * f * t * (1 - t))
                    stages.append((*where, stage, t, 20, parts[0] - parts[1], *parts))
                for epsilon in (0.01, 0.02, 0.05):
                    moved = epsilon * 3
                    routed = (e * (1 - moved), c * (1 - moved), f + (e + c) * moved)
                    sweep.append((*where, epsilon, 20, active - 2 * epsilon, *routed, total))
    insert(connection, "out_model_profiles", profiles)
    insert(connection, "out_model_intervals", intervals)
    insert(connection, "out_mean_trajectories", stages)
    insert(connection, "out_epsilon_sweep", sweep)
    _insert_comparisons(connection, audit)
    _insert_costs(connection, audit)
    if audit.has_predictions:
        rows = [
            (study, model, variant, 40, float(random.uniform(0.7, 0.97)), 0.8)
            for model in audit.models
            for variant in ("original", *audit.pair_types)
        ]
        insert(connection, "out_accuracy", rows)
    if audit.has_warnings:
        near = "3 trajectories have |d| within 1e-06 of epsilon: their role may change "
        warnings = [
            (study, audit.models[0], "near_threshold", 3, f"{near}with numerics."),
            (study, None, "blocks_missing", 2, "2 of 24 planned blocks are not committed."),
        ]
        insert(connection, "out_warnings", warnings)


def _insert_comparisons(connection: duckdb.DuckDBPyConnection, audit: Audit) -> None:
    """Ratios and rank transfer of every pair of paths, from the profiles."""
    ratios, ranks = [], []
    pairs = [(a, b) for a in audit.paths for b in audit.paths if a < b]
    for pair_type in audit.pair_types:
        for a, b in pairs:
            for metric in METRICS:
                means = [
                    connection.sql(
                        f"SELECT avg({metric}) FROM out_model_profiles WHERE pair_type = ? "
                        "AND path = ?",
                        params=[pair_type, path],
                    ).fetchall()[0][0]
                    for path in (a, b)
                ]
                count = len(audit.models)
                ratios.append(
                    (audit.study, pair_type, a, b, metric, *means, means[1] / means[0], count)
                )
                known = count > 1
                spearman = 0.9 - 0.1 * METRICS.index(metric) if known else None
                reason = None if known else "fewer than two models"
                ranks.append((audit.study, pair_type, metric, a, b, count, spearman, reason))
    if ratios:
        insert(connection, "out_path_ratios", ratios)
        insert(connection, "out_rank_transfer", ranks)


def _insert_paper(connection: duckdb.DuckDBPyConnection, audit: Audit) -> None:
    """Tables of the protocol audit, with and without intervals and published values."""
    study, (blend, *orders) = audit.study, audit.paths
    numbers, missing = (1.74, 1.7, 1.78, 1.69, 1.79), (None,) * 5
    measured = [(study, pair_type, name) for pair_type in audit.pair_types for name in METRICS]
    tables = {
        "protocol": [
            (*where, blend, order, *numbers)
            + ((1.737, 1.74 - 1.737, None) if where[2] == "abs_response" else (None,) * 3)
            for where in measured
            for order in orders
        ],
        "rank_transfer": [
            (*where, blend, order, *missing, None, None, "all values of one side are equal")
            for where in measured
            for order in orders
        ],
        "order_stability": [
            (*where[:2], orders[0], order, "rank correlation", where[2], *numbers, None, None)
            for where in measured
            for order in orders[1:]
        ],
        "thresholds": [
            (study, pair_type, epsilon, path, name, statistic, value, *numbers[1:], None, None)
            for pair_type in audit.pair_types
            for epsilon in ("0.01", "0.02", "0.05")
            for path in audit.paths
            for name, statistic, value in (
                ("active_frac", "mean", 0.5),
                *zip(METRICS[1:4], ["share of Abs"] * 3, (0.5, 0.25, 0.25), strict=True),
                *((name, "ratio to blend", 1.75) for name in METRICS[1:] if path != blend),
            )
        ],
        "accuracy": [
            (study, "accuracy", "mixed_same", model, 0.95, *[None] * 6)
            for model in (None, *audit.models)
        ],
    }
    for name, rows in tables.items():
        if rows:
            insert(connection, f"paper_imagenet9_{name}", rows)
    why = "20 foregrounds, not 1496 to 1744"
    counted = (study, "digest", "all", "scan", 20, 9, 2, 6, False, why)
    insert(connection, "paper_imagenet9_data", [counted])


def _insert_costs(connection: duckdb.DuckDBPyConnection, audit: Audit) -> None:
    rows = []
    for place, model in enumerate(audit.models):
        forward, naive, seconds = 1_220 + 7 * place, 2_160, 12.5 + place
        wall = seconds * 1.2
        cost = (forward, naive, 1 - forward / naive, seconds, 0.5, wall, forward / wall)
        rows.append((audit.study, model, 4, 40, *cost, 64, 3 * 2**29, "NVIDIA A100-SXM4-80GB"))
    insert(connection, "out_costs", rows)
