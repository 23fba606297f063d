"""Paths with randomness, own stages and a fitted reference, through the command line."""

import json
import re

import numpy as np
import pytest
from ended_commands import succeeded

from decaf.reveal.gaussian.geometry import Geometry
from decaf.reveal.gaussian.information import information_scale
from decaf.reveal.gaussian.storage import load_reference
from warehouse.query.catalog import connect

PATHS = {
    "cmmr": {"kind": "gaussian", "seeds": [1, 2]},
    "chain": {"kind": "gaussian", "chain": "reverse_markov", "stages": 4, "seeds": [3]},
    "random": {"kind": "patches", "sigma": 1.15, "ranking": "random"},
    "few": {"kind": "blend", "sigma": 1.15, "stages": [0, 0.3, 1]},
}


@pytest.mark.slow
def test_every_kind_of_path_ends_up_in_the_warehouse(study, write, decaf, prefect_server, tmp_path):
    config = write({**study, "models": study["models"][:1], "paths": PATHS})
    planned = succeeded(decaf("plan", config))
    rows, naive = map(int, re.search(r"(\d+) planned, (\d+) without", planned).groups())
    # A scene has two pairs; the factual trajectory of a Gaussian path is one for both.
    assert naive == 8 * (2 * 9 * (1 + 2) + 4 * (1 + 2) + 2 * 9 * 2 + 2 * 3 * 2)
    # Three clean inputs; what is drawn and what is inner of each path; starts of two midpoints.
    gaussian, chain, few = 2 * (1 + 7 * 3), 1 + 2 * 3, 1 * 2 * 2
    assert rows <= 8 * (3 + gaussian + chain + 2 + 7 * 2 * 2 + few)
    assert not (tmp_path / "workspace" / "fitted").exists()

    succeeded(decaf("run", config, **prefect_server))
    fitted = tmp_path / "workspace" / "fitted"
    (reference,) = fitted.glob("*.safetensors")
    assert len([*fitted.glob("starts-*.npy")]) == 2  # of the two Gaussian paths, for both models
    fitted_at = reference.stat().st_mtime_ns
    with connect(tmp_path / "warehouse") as connection:
        counted = connection.sql(
            "SELECT path, repetition, count(*), max(len(t)), max(abs(q_plus[1] - q_minus[1])) "
            "FROM core_trajectories GROUP BY path, repetition ORDER BY path, repetition"
        ).fetchall()
        ends = connection.sql(
            "SELECT count(DISTINCT (q_plus[-1], q_minus[-1])) FROM core_trajectories "
            "GROUP BY model_id, pair_id"
        ).fetchall()
        known = connection.sql(
            "SELECT DISTINCT unit.name, made.outcome FROM stg_made_files AS made "
            "JOIN core_run_units AS unit USING (study, unit_key) WHERE kind = 'fit'"
        ).fetchall()
        weights = {name: json.loads(outcome)["information_weights"] for name, outcome in known}
        scale = information_scale(load_reference(reference), Geometry("cmmr"), 7 / 8)
        assert weights["cmmr"] == scale.weights(np.linspace(0, 1, 9)).tolist()
        assert len(weights["chain"]) == 4, "its own stages"
        spent = connection.sql("SELECT sum(forward_rows), sum(naive_rows) FROM stg_costs")
        assert spent.fetchall() == [(rows, naive)]
    assert counted == [
        ("chain", 0, 16, 4, 0),
        ("cmmr", 0, 16, 9, 0),
        ("cmmr", 1, 16, 9, 0),
        ("few", 0, 16, 3, 0),
        ("random", 0, 16, 9, 0),
    ]
    assert set(ends) == {(1,)}  # all paths of a pair end at the same two scores

    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server))
    pixel = {"pixel": {"kind": "gaussian", "geometry": "pixel", "seeds": [1]}}
    other = write({**study, "models": study["models"][:1], "paths": pixel})
    succeeded(decaf("run", other, **prefect_server))
    assert reference.stat().st_mtime_ns == fitted_at  # one fit serves every geometry
