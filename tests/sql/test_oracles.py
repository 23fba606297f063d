"""The statistics of the SQL against numpy and scipy references, on random audits."""

import itertools
from collections import defaultdict

import duckdb
import numpy as np
import pytest
from random_audit import EPSILON, MODELS, random_audit
from scipy.stats import spearmanr
from view_tables import VIEWS

from decaf.bootstrap import bootstrap_mean
from decaf.profiles import profile
from decaf.quadrature import trapezoid_weights
from decaf.ranks import spearman

METRICS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")
CELL = ("model_id", "pair_type", "path")


@pytest.fixture(params=[0, 1])
def audit(request):
    return random_audit(request.param)


def cells(audit, table):
    """Rows by model, pair type and path, with the source of each."""
    pairs = {pair["pair_id"]: pair for pair in audit["stg_pairs"]}
    found = defaultdict(list)
    for row in audit[table]:
        row = pairs[row["pair_id"]] | row
        found[tuple(row[name] for name in CELL)].append(row)
    return dict(found)


def rows_of(relation):
    return relation.to_arrow_table().to_pylist()


def test_epsilon_sweep_equals_reference(audit, catalogue):
    thresholds = [0.01, EPSILON, 0.1, 0.5]
    connection = catalogue(audit)
    swept = rows_of(
        connection.sql("FROM epsilon_sweep($thresholds)", params={"thresholds": thresholds})
    )
    found = {(*(row[name] for name in CELL), row["epsilon"]): row for row in swept}
    expected = cells(audit, "stg_trajectories")
    assert found.keys() == {(*cell, e) for cell in expected for e in thresholds}
    for cell, epsilon in found:
        rows = expected[cell]
        response = [np.subtract(row["q_plus"], row["q_minus"]) for row in rows]
        reference = profile(response, rows[0]["t"], epsilon)
        row = found[(*cell, epsilon)] if isinstance(cell, tuple) else None
        assert row["pair_count"] == len({row["pair_id"] for row in rows})
        assert row["active_frac"] == pytest.approx(reference.is_endpoint_active.mean(), abs=1e-12)
        for metric in METRICS[1:]:
            mean = getattr(reference, metric).mean()
            assert row[metric] == pytest.approx(mean, abs=1e-12)
