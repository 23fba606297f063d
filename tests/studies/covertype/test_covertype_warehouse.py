"""135 classifiers of Covertype from the files of a real warehouse to the paper's tables."""

import numpy as np
import pytest
from covertype_warehouse import (
    FAMILIES,
    MODELS,
    behaviour,
    contexts_of,
    covertype_warehouse,
    four_scores,
)
from scipy.stats import spearmanr

from warehouse.query.catalog import connect
from warehouse.query.checks import run_checks

ROWS = 40


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    root = covertype_warehouse(tmp_path_factory.mktemp("covertype") / "warehouse", ROWS)
    with connect(root) as connection:
        yield connection


@pytest.fixture(scope="module")
def expected():
    return {
        model.name: behaviour(
            *four_scores(model, ROWS), contexts_of(model.module, model.seed, ROWS)
        )
        for model in MODELS
    }


@pytest.mark.slow
def test_the_warehouse_passes_its_checks(warehouse):
    assert [result for result in run_checks(warehouse) if result.offending_count] == []


def test_outcomes_are_those_of_the_four_scores(warehouse, expected):
    names = ["model_id", *next(iter(expected.values()))]
    rows = warehouse.sql(f"SELECT {', '.join(names)} FROM core_covertype_outcomes").fetchall()
    assert len(rows) == 135
    found = np.array([values for _, *values in rows], float)  # NULL is NaN
    wanted = np.array([[*expected[name].values()] for name, *_ in rows], float)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    assert np.isnan(wanted).any()


def test_another_threshold_collapses_more(warehouse):
    rates = [
        warehouse.sql(
            f"SELECT collapse_rate FROM context_behaviours({change}) ORDER BY model_id"
        ).fetchall()
        for change in (0.02, 0.1)
    ]
    strict, loose = np.array(rates)[:, :, 0]
    assert (loose >= strict).all()
    assert (loose > strict).any()


@pytest.fixture(scope="module")
def ranks(warehouse):
    """Estimate, limits and number of models, by behaviour and method."""
    rows = warehouse.sql(
        "SELECT behaviour, method, estimate, lower_90, lower_95, upper_90, upper_95, model_count "
        "FROM paper_covertype_ranks"
    ).fetchall()
    return {row[:2]: row[2:] for row in rows}


@pytest.mark.parametrize(
    ("behaviour", "module", "component", "rate"),
    [
        ("preservation", "direction", "evidence", "preserve_rate"),
        ("inversion", "direction", "contradiction", "invert_rate"),
        ("null_change", "fragility", "fragility", "null_change_rate"),
    ],
)
def test_ranks_are_those_of_scipy(ranks, expected, behaviour, module, component, rate):
    found = {method: row for (of, method), row in ranks.items() if of == behaviour}
    chosen = [expected[model.name] for model in MODELS if model.module == module]
    methods = {"DECAF": component, "Abs": "abs_response", "M": "endpoint_magnitude"}
    methods |= {"Net": "net_response", "SignFlip": "sign_flip_rate", "OppMass": "opposed_mass"}
    assert found.keys() == methods.keys()
    for method, column in methods.items():
        pairs = [(one[column], one[rate]) for one in chosen if None not in (one[column], one[rate])]
        x, y = np.round(np.array(pairs, float).T, 12)
        estimate, low_90, low_95, high_90, high_95, count = found[method]
        assert count == len(pairs)
        assert estimate == pytest.approx(spearmanr(x, y).statistic, abs=1e-9)
        assert low_95 <= low_90 <= high_90 <= high_95


def test_the_design_is_the_papers(warehouse):
    rows = warehouse.sql(
        "SELECT difference FROM paper_covertype_design WHERE published IS NOT NULL"
    )
    assert rows.fetchall() == [(0.0,)] * 10
    assert len(FAMILIES) == 5
    official = warehouse.sql("SELECT is_official FROM paper_covertype_data").fetchall()
    assert official == [(False,)]
