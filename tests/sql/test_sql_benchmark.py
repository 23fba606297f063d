"""The benchmark of ImageNet-9 in SQL against the library, on units with ties and gaps."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from judging import (
    matched_agreement,
    pair_columns,
    role_credit,
    weighted_auprc,
    weighted_auroc,
)
from view_tables import define

from decaf.evaluation.matching import match_cases
from decaf.statistics.draws import multiplicities
from warehouse.query import functions

LABELS = ["evidence", "contradiction", "fragility"]
MODELS, SOURCES = 6, 40


class Units:
    """Units of six models, and a connection over their scores."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        count = MODELS * SOURCES
        self.model = np.repeat(np.arange(MODELS), SOURCES)
        self.source = np.tile(np.arange(SOURCES), MODELS)
        self.model_id = np.array([f"m{model}" for model in self.model])
        self.source_id = np.array([f"{source:02d}" for source in self.source])
        self.labels = rng.random((count, 3)) < [0.4, 0.2, 0.15]
        self.magnitude = rng.integers(1, 60, count) / 20
        ranks = rng.integers(0, 8, (count, 3)) / 8
        self.scores = {
            "DECAF": ranks + 0.25 * self.labels,
            "Abs": np.repeat(self.magnitude[:, None], 3, axis=1),
            "SignFlip": np.repeat(
                np.where(rng.random(count) < 0.3, np.nan, ranks[:, 0])[:, None], 3, axis=1
            ),
        }
        rows = [
            {
                "study": "s",
                "model_id": self.model_id[unit],
                "source_id": self.source_id[unit],
                "method": method,
                "label": name,
                "is_shown": bool(self.labels[unit, place]),
                "score": None if np.isnan(scores[unit, place]) else float(scores[unit, place]),
                "abs_response": float(self.magnitude[unit]),
                "is_complete": True,
            }
            for method, scores in self.scores.items()
            for unit in range(count)
            for place, name in enumerate(LABELS)
        ]
        self.connection = duckdb.connect(config={"threads": 2})
        functions.register(self.connection)
        self.connection.from_arrow(pa.Table.from_pylist(rows)).create("scores")
        self.connection.execute(
            "CREATE TABLE core_units AS SELECT study, model_id, source_id, abs_response, "
            "NULL AS reason FROM scores WHERE method = 'Abs' AND label = 'evidence'"
        )
        define(self.connection, "core_unit_bins")
        self.connection.execute(
            "CREATE TABLE core_unit_scores AS SELECT scores.*, bin, lower_edge, upper_edge "
            "FROM scores JOIN core_unit_bins USING (study, model_id, source_id)"
        )
        self.connection.execute("CREATE VIEW core_imagenet9_unit_scores AS FROM core_unit_scores")

    def view(self, name):
        """Rows of a paper view by method, part and statistic."""
        define(self.connection, name)
        names = ("estimate", "l90", "u90", "l95", "u95", "published", "difference", "reason")
        return {
            row[1:4]: dict(zip(names, row[4:], strict=True))
            for row in self.connection.view(name).fetchall()
        }

    def counts(self):
        """How often each replicate of the views draws every model."""
        self.connection.execute(
            "CREATE OR REPLACE TABLE places AS SELECT 's' AS layout, range AS position, "
            f"0 AS stratum FROM range({MODELS})"
        )
        define(self.connection, "bootstrap_draws")
        draws = self.connection.sql(
            "SELECT positions FROM bootstrap_draws('places', 500, 91702) ORDER BY replicate"
        ).fetchall()
        return multiplicities(np.array([row[0] for row in draws]), MODELS)


@pytest.fixture
def units():
    made = Units(seed=0)
    yield made
    made.connection.close()


def test_intervals_draw_models(units):
    """Whole models are drawn, the same for every method: the differences are paired."""
    found = units.view("paper_imagenet9_semantics")
    weights, labels = units.counts()[:, units.model], units.labels[:, 2]
    for measure, name in ((weighted_auroc, "auroc"), (weighted_auprc, "auprc")):
        decaf, magnitude = (
            measure(labels, units.scores[method][:, 2], weights) for method in ("DECAF", "Abs")
        )
        for key, replicates in (
            (("DECAF", "fragility", name), decaf),
            (("Abs", "fragility", f"{name}_difference"), decaf - magnitude),
        ):
            for level, low, high in ((0.9, "l90", "u90"), (0.95, "l95", "u95")):
                expected = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
                assert [found[key][low], found[key][high]] == pytest.approx(expected.tolist())


def test_probes_are_judged_on_drawn_models(units):
    """Three families of two models: a replicate is the mean over the families that it draws."""
    family = units.model // 2
    said = units.scores["DECAF"]
    rows = [
        {"study": "s", "representation": "decaf", "probe": "logistic_regression", "label": name}
        | {"model_id": units.model_id[unit], "family": f"f{family[unit]}"}
        | {"is_shown": bool(units.labels[unit, place]), "probability": float(said[unit, place])}
        for unit in range(len(family))
        for place, name in enumerate(LABELS)
    ]
    units.connection.from_arrow(pa.Table.from_pylist(rows)).create("core_probe_units")
    define(units.connection, "probe_replicates")
    found = units.connection.sql(
        "SELECT label, list(value ORDER BY replicate NULLS FIRST) "
        "FROM probe_replicates('core_probe_units', 500, 91702) GROUP BY label"
    ).fetchall()
    counts = units.counts()
    weights = np.vstack([np.ones(MODELS), counts])[:, units.model]
    expected = {}
    for place, name in enumerate(LABELS):
        folds = [
            weighted_auroc(units.labels[own, place], said[own, place], weights[:, own])
            for own in (family == number for number in range(3))
        ]
        expected[name] = np.nanmean(folds, axis=0)
    expected["macro"] = np.mean([expected[name] for name in LABELS], axis=0)
    assert np.isnan(folds).any(), "some replicate draws no model of a family"
    for name, values in found:
        assert values == pytest.approx(expected[name].tolist())


def test_roles(units):
    pairs = match_cases(units.magnitude, units.labels, [units.model, units.source])
    of_pairs = {"study": ["s"] * len(pairs), "run_id": ["r"] * len(pairs)}
    of_pairs |= {"position": np.arange(len(pairs))}
    of_units = {"model_id": units.model_id, "source_id": units.source_id}
    table = pa.table(of_pairs | pair_columns(pairs, abs_response=units.magnitude, **of_units))
    units.connection.from_arrow(table).create("core_matched_pairs")
    units.connection.execute(
        "CREATE TABLE core_unit_methods AS SELECT DISTINCT study, method FROM scores; "
        "CREATE TABLE core_analyses AS "
        "SELECT 's' AS study, 'matched_pairs' AS kind, true AS is_made"
    )
    define(units.connection, "core_pair_roles")
    define(units.connection, "paper_imagenet9_roles")
    found = {row[1:3]: row for row in units.connection.view("paper_imagenet9_roles").fetchall()}
    for method, scores in units.scores.items():
        expected = matched_agreement(scores, units.labels, pairs)
        assert found[method, "role_accuracy"][3] == pytest.approx(expected.accuracy)
        assert found[method, "ranking_accuracy"][3] == pytest.approx(expected.ranking_accuracy)
    shown = units.labels[pairs].sum()
    assert found["all", "pairs"][3] == len(pairs)
    assert found["all", "shown_behaviours"][3] == shown
    # One number for three labels earns the share of shown behaviours: 17,416 / (16,578 x 3).
    assert found["Abs", "role_accuracy"][3] == pytest.approx(shown / (2 * len(pairs) * 3))
    assert found["Abs", "role_accuracy_difference"][3] == pytest.approx(
        found["DECAF", "role_accuracy"][3] - found["Abs", "role_accuracy"][3]
    )
    for method in ("DECAF", "Abs", "SignFlip"):
        expected = role_replicates(units, method, pairs)
        for statistic, replicates in expected.items():
            limits = np.nanquantile(replicates, [0.05, 0.95, 0.025, 0.975])
            assert found[method, statistic][4:8] == pytest.approx(limits.tolist()), statistic
            if method == "Abs":
                decaf = role_replicates(units, "DECAF", pairs)[statistic]
                limits = np.quantile(decaf - replicates, [0.05, 0.95, 0.025, 0.975])
                row = found[method, f"{statistic}_difference"]
                assert row[4:8] == pytest.approx(limits.tolist()), statistic


def role_replicates(units, method, pairs):
    """Credits are drawn with the unit's own model, rankings of a pair with both its models."""
    draws, (left, right) = units.counts(), units.model[pairs].T
    assert {*left, *right} == set(range(MODELS)), "the draws are of the models in pairs"
    scores, labels = units.scores[method], units.labels
    credit = role_credit(scores, labels)[pairs]
    is_whole = ~np.isnan(credit).any(axis=1)
    credit = credit[is_whole].ravel()
    of_credit = draws[:, units.model[pairs[is_whole]].ravel()]
    a, b = pairs.T
    wins = np.sign(scores[a] - scores[b])
    wins = np.where(labels[a], 0.5 + 0.5 * wins, 0.5 - 0.5 * wins)
    is_judged = (labels[a] != labels[b]) & ~np.isnan(wins)
    of_pair = np.where(left == right, draws[:, left], draws[:, left] * draws[:, right])
    return {
        "role_accuracy": of_credit @ credit / of_credit.sum(axis=1),
        "ranking_accuracy": of_pair
        @ np.where(is_judged, wins, 0).sum(axis=1)
        / (of_pair @ is_judged.sum(axis=1)),
    }
