"""135 classifiers of Covertype from the files of a real warehouse to the paper's tables."""

import numpy as np
import pytest
from covertype_warehouse import (
    EPSILON,
    FAMILIES,
    MODELS,
    contexts_of,
    covertype_warehouse,
    four_scores,
)
from scipy.integrate import trapezoid
from scipy.stats import spearmanr

from decaf.routing.profiles import profile
from warehouse.query.catalog import connect
from warehouse.query.checks import run_checks

ROWS, DELTA = 40, 0.02
T = np.linspace(0, 1, 11)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    root = covertype_warehouse(tmp_path_factory.mktemp("covertype") / "warehouse", ROWS)
    with connect(root) as connection:
        yield connection


def behaviour(model):
    """What a model does, from its four scores, by the words of the protocol."""
    (a_plus, a_minus), (plus, minus) = four_scores(model, ROWS)
    a, d = a_plus - a_minus, plus - minus
    v, active = np.sign(d) * a, np.abs(d) >= EPSILON
    changed = (a_plus >= 0.5) != (a_minus >= 0.5)
    own = contexts_of(model.module, model.seed, ROWS) == -1
    null = own & ~active
    routed = profile(np.outer(a, 1 - T) + np.outer(d, T), T, EPSILON)
    return {
        "row_count": ROWS,
        "endpoint_magnitude": np.abs(d).mean(),
        "evidence": routed.evidence.mean(),
        "contradiction": routed.contradiction.mean(),
        "fragility": routed.fragility.mean(),
        "abs_response": routed.abs_response.mean(),
        "net_response": (routed.evidence - routed.contradiction).mean(),
        "opposed_mass": _opposed(a, d).mean(),
        "sign_flip_rate": (v[active] < 0).mean() if active.any() else None,
        "active_frac": active.mean(),
        "preserve_rate": (v > DELTA).mean(),
        "collapse_rate": (np.abs(a) <= DELTA).mean(),
        "invert_rate": (v < -DELTA).mean(),
        "other_rate": ((d == 0) & (np.abs(a) > DELTA)).mean(),
        "alternate_count": own.sum(),
        "null_count": null.sum(),
        "change_rate": changed[own].mean(),
        "null_change_rate": changed[null].mean() if null.any() else None,
        "null_effect": np.abs(a)[null].mean() if null.any() else None,
    }


def _opposed(a, d):
    """Ungated mass of the response against d."""
    against = np.maximum(-np.sign(d)[:, None] * (np.outer(a, 1 - T) + np.outer(d, T)), 0)
    return trapezoid(against, T, axis=1)


@pytest.fixture(scope="module")
def expected():
    return {model.name: behaviour(model) for model in MODELS}


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


def test_rates_of_the_four_behaviours_add_up_to_one(warehouse):
    sums = warehouse.sql(
        "SELECT preserve_rate + collapse_rate + invert_rate + other_rate "
        "FROM core_covertype_outcomes"
    ).fetchall()
    assert np.allclose(sums, 1)


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


def test_families_are_means_over_strengths_and_seeds(warehouse, expected):
    rows = warehouse.sql(
        "SELECT family, statistic, estimate, model_count FROM paper_covertype_families "
        "WHERE mechanism = 'invert'"
    ).fetchall()
    assert len(rows) == 5 * 12
    for family, statistic, estimate, count in rows:
        values = [
            expected[model.name][statistic]
            for model in MODELS
            if (model.family, model.mechanism) == (family, "invert")
        ]
        assert count == len(values) == 6
        known = [value for value in values if value is not None]
        assert estimate == (pytest.approx(np.mean(known), abs=1e-9) if known else None)


def test_the_design_is_the_papers(warehouse):
    rows = warehouse.sql(
        "SELECT difference FROM paper_covertype_design WHERE published IS NOT NULL"
    )
    assert rows.fetchall() == [(0.0,)] * 10
    assert len(FAMILIES) == 5
    why = warehouse.sql("SELECT is_official, why FROM paper_covertype_data").fetchall()
    assert why == [(False, "100 rows drawn of each cover type, not 120,000; 40 rows, not 48,000")]


def test_studies_of_images_have_no_such_rows(warehouse):
    for view in ("paper_imagenet9_data", "paper_imagenet9_accuracy", "core_units"):
        assert warehouse.view(view).fetchall() == []
