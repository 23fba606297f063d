"""A made-up audit as staging tables: ties, withheld rows, a group of one model, missing sources.

And what tests of its views compare with: its cells, and the draws of the SQL.
"""

from collections import defaultdict
from datetime import UTC, datetime

import numpy as np
import pytest

from decaf.routing.profiles import profile

EPSILON = 0.02
GRIDS = {
    "blend": [0.0, 0.125, 0.5, 0.75, 1.0],
    "patch": [0.0, 0.5, 1.0],
    "shuffle": [0.0, 0.3, 1.0],
}
REPETITIONS = {"blend": 1, "patch": 1, "shuffle": 2}
MODELS = ["m0", "m1", "m1 again", "m2"]
"""``m1 again`` repeats the scores of ``m1``; ``m2`` lacks some sources."""


METRICS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")


def random_audit(seed):
    """Rows of the staging tables, and the trajectories that went into them."""
    rng = np.random.default_rng(seed)
    pairs = list(_pairs())
    trajectories = []
    for model in MODELS:
        for pair in pairs:
            trajectories += _score(rng, model, pair)
    by_key = {_key(row): row for row in trajectories}
    for row in trajectories:
        if row["model_id"] == "m1 again":
            original = by_key["m1", *_key(row)[1:]]
            row |= {"q_plus": original["q_plus"], "q_minus": original["q_minus"]}
    kept = [row for row in trajectories if not _is_missing(row)]
    units = [unit for model in MODELS for unit in _planned(model, kept)]
    of_run = {"study": "s", "run_id": "r"}
    run = of_run | {"started_at": datetime(2026, 3, 1, tzinfo=UTC), "epsilon": EPSILON}
    paths = [
        of_run | {"path": path, "position": at, "t": grid, "repetition_count": REPETITIONS[path]}
        for at, (path, grid) in enumerate(GRIDS.items())
    ]
    return {
        "stg_runs": [run | {"pairs_digest": "pairs", "unit_count": len(units)}],
        "stg_paths": paths,
        "stg_run_units": [of_run | unit for unit in units],
        "stg_pairs": pairs,
        "stg_trajectories": kept,
        "stg_profiles": [_route(row) for row in kept],
    }


def rows_of(relation):
    return relation.to_arrow_table().to_pylist()


def by_cell(audit, table):
    """Rows by model, pair type and path, each with what its pair is."""
    pairs = {pair["pair_id"]: pair for pair in audit["stg_pairs"]}
    cells = defaultdict(list)
    for row in audit[table]:
        row = pairs[row["pair_id"]] | row
        cells[row["model_id"], row["pair_type"], row["path"]].append(row)
    return dict(cells)


def cell_of(row):
    return row["model_id"], row["pair_type"], row["path"]


def near(value):
    """A number or several, to 11 digits; NULL where the one number is undefined."""
    is_undefined = np.ndim(value) == 0 and np.isnan(value)
    return None if is_undefined else pytest.approx(value, abs=1e-11, rel=1e-11)


def source_draws(connection, replicates, seed):
    """Positions of the sources that every replicate draws, by pair type."""
    draws = connection.sql(
        f"""
        WITH layouts AS (
            SELECT pair_type AS layout, position, NULL AS stratum FROM core_sources
        )
        SELECT layout, list(positions ORDER BY replicate) AS drawn
        FROM bootstrap_draws('layouts', {replicates}, {seed})
        GROUP BY layout
        """
    )
    return {row["layout"]: np.array(row["drawn"]) for row in rows_of(draws)}


def model_draws(connection, count, replicates, seed):
    """Draws of models, or of anything else of which there are so many."""
    rows = connection.sql(
        "SELECT (hash(concat_ws(':', $seed, replicate, place)) % $count)::INT AS drawn "
        "FROM range($replicates) AS a (replicate), range($count) AS b (place) "
        "ORDER BY replicate, place",
        params={"seed": seed, "count": count, "replicates": replicates},
    ).fetchall()
    return np.reshape(rows, (replicates, count))


def _planned(model, kept):
    """Trajectories and profiles of every path, on one block of all pairs."""
    for path in GRIDS:
        count = sum((row["model_id"], row["path"]) == (model, path) for row in kept)
        of = {"model_id": model, "block": 0, "name": path}
        yield of | {"unit_key": f"{model}-{path}", "kind": "score", "row_count": count}
        yield of | {"unit_key": f"{model}-{path}-profiles", "kind": "route"}


def _pairs():
    for pair_type, sources in {"rand": 9, "next": 5, "solo": 4}.items():
        for source in range(sources):
            for number in range(1 + source % 2):
                of_source = {"source_id": f"source {source}", "class_id": source % 3}
                pair = {"pair_id": f"{pair_type}-{source}-{number}", "pair_type": pair_type}
                yield {"study": "s", "pairs_digest": "pairs"} | pair | of_source


def _score(rng, model, pair):
    for path, grid in GRIDS.items():
        for repetition in range(REPETITIONS[path]):
            # Multiples of 0.01: contrasts that tie, vanish, or lie exactly on the gate.
            q = rng.integers(0, 100, (2, len(grid))) / 100
            q[1, 0] = q[0, 0]
            if rng.random() < 0.4:
                q[:, -1] = rng.choice([0.0, 0.01, 0.02], 2)
            unit = {"study": "s", "model_id": model, "unit_key": f"{model}-{path}", "path": path}
            scored = {"t": grid, "q_plus": q[0].tolist(), "q_minus": q[1].tolist()}
            yield unit | {"pair_id": pair["pair_id"], "repetition": repetition} | scored


def _is_missing(row):
    """One quarantined repetition, sources that m2 lacks, and a pair type of one model alone."""
    if row["pair_id"].startswith("solo"):
        return row["model_id"] != "m0"
    withheld = row["model_id"] == "m0" and row["repetition"] == 1 and "-1-" in row["pair_id"]
    return withheld or (row["model_id"] == "m2" and row["pair_id"].split("-")[1] in "0123")


def _key(row):
    return row["model_id"], row["pair_id"], row["path"], row["repetition"]


def _route(row):
    response = np.subtract(row["q_plus"], row["q_minus"])
    routed = profile(response[None, :], row["t"], EPSILON)
    values = {name: values[0].item() for name, values in routed.columns().items()}
    if not routed.is_endpoint_active[0]:
        values["sign_flip_frac"] = None
    names = ("study", "model_id", "pair_id", "path", "repetition")
    keys = {name: row[name] for name in names}
    return keys | {"unit_key": f"{row['unit_key']}-profiles", "epsilon": EPSILON} | values
