"""Every value that the views of Covertype call published, against what is typed from the paper."""

from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest
from view_tables import VIEWS, define, define_over, text_rows

FAMILIES = ("hist_gradient_boosting", "logistic_regression", "mlp", "random_forest", "xgboost")
KEYS = {
    "budgets": "'', method, '', statistic",
    "costs": "'', method, '', statistic",
    "design": "module, '', '', statistic",
    "families": "family, '', mechanism, statistic",
    "matched": "'matched pairs', method, '', statistic",
    "ranks": "'', method, behaviour, 'rank_correlation'",
    "readout": "'', method, label, statistic",
    "treatments": "family, '', mechanism, 'rank_correlation'",
    "within_abs": "'', method, 'valid bins', statistic",
}
"""Unit, method, part and statistic of a row of each view."""
NOT_SHOWN = {("data", "drawn_per_class"), ("data", "rows"), ("data", "table_rows")}
NOT_SHOWN |= {("", "cpu_seconds_of_all"), ("", "elapsed_hours"), ("", "work_shares")}
"""Values that other values follow from, or that tell the paper's data from others."""


LABELS = {"direct": "evidence", "invert": "contradiction", "fragile": "fragility"}
MODULES = dict.fromkeys(("direct", "gate", "invert"), "direction")
MODULES |= dict.fromkeys(("robust", "mild", "fragile"), "fragility")
NUMBERS = ("evidence", "contradiction", "fragility", "abs_response", "endpoint_magnitude")
NUMBERS += ("net_response", "opposed_mass", "sign_flip_rate", "active_frac", "preserve_rate")
NUMBERS += ("collapse_rate", "invert_rate", "other_rate", "change_rate", "null_change_rate")
METHODS = ("native_shap", "shap_interaction", "kernel_shap", "global_permutation")
METHODS += ("context_permutation", "pdp_ale", "lime", "retraining")
COSTS = ("DECAF", "pdp_ale", "lime", "permutation", "kernel_shap", "native_shap", "retraining")
COSTS += ("shap_interaction",)


def tables():
    """A study with every row that has a published value; its numbers do not matter."""
    models = pd.DataFrame(product(FAMILIES, MODULES), columns=["family", "mechanism"])
    models = models.assign(study="s", model_id=models.family + " " + models.mechanism, seed=1)
    models["module"] = models.mechanism.map(MODULES)
    models["strength"] = models.module.map({"direction": 0.75})
    numbers, label = models.index / 64, models.mechanism.map(LABELS)
    named = models[["study", "model_id"]]
    baselines = named.assign(score=numbers).merge(pd.DataFrame({"method": METHODS}), "cross")
    baselines["component"] = np.where(baselines.method == "pdp_ale", "mean", "score")
    names = product(("strong_tabular", "decaf_probe", "combined"), LABELS.values())
    probes = pd.DataFrame(names, columns=["representation", "label"])
    pair = {"left_model_id": "mlp direct", "right_model_id": "mlp invert", "position": 0}
    made = {"kind": "matched_pairs", "is_made": True}
    return {
        "core_covertype_models": models,
        "core_covertype_outcomes": models.assign(
            mechanism_label=label, **dict.fromkeys(NUMBERS, numbers)
        ),
        "core_baselines": baselines,
        "core_probe_predictions": named.assign(probability=numbers).merge(probes, "cross"),
        "core_covertype_costs": pd.DataFrame({"method": COSTS}).assign(
            study="s", worker_seconds=1, explained_rows=1
        ),
        "core_matched_pairs": pd.DataFrame([pair]).assign(study="s"),
        "core_analyses": pd.DataFrame([made]).assign(study="s"),
    }


@pytest.fixture(scope="module")
def shown(columns, open_schema):
    """Published values of all views with their limits and counts, by what they are of."""
    given = {relation: text_rows(frame) for relation, frame in tables().items()}
    found = {}
    for name, keys in KEYS.items():
        view = f"paper_covertype_{name}"
        with open_schema() as connection:
            define_over(connection, view, columns, given)
            limits = "published_lower_95, published_upper_95, published_count"
            numbers = limits if name == "ranks" else "NULL, NULL, NULL"
            rows = connection.sql(
                f"SELECT {keys}, published, {numbers} FROM {view} WHERE published IS NOT NULL"
            ).fetchall()
        for *of, value, lower, upper, count in rows:
            found[tuple(of)] = value, lower, upper
            if count is not None:
                found[*of[:3], "model_count"] = count, None, None
    return found


def published(sql):
    with duckdb.connect() as connection:
        define(connection, "core_published")
        connection.execute("CREATE VIEW typed AS FROM core_published WHERE study = 'covertype'")
        return connection.sql(sql).fetchall()


@pytest.mark.slow
def test_views_show_all_that_is_typed_and_nothing_else(shown):
    typed = {
        tuple(of): tuple(values)
        for *of, a, b, c in published(
            "SELECT unit, method, part, statistic, value, lower_95, upper_95 FROM typed"
        )
        for values in [(a, b, c)]
        if (of[0], of[3]) not in NOT_SHOWN
    }
    assert shown.keys() == typed.keys()
    assert {of: shown[of] for of in typed} == typed


def test_what_follows_from_printed_costs():
    """Table of costs: DECAF takes 25,920,000 rows of 135 models, 1.42 seconds each."""
    values = {
        (method, statistic): value
        for method, statistic, value in published("SELECT method, statistic, value FROM typed")
    }
    for (method, statistic), rows in list(values.items()):
        if statistic == "predicted_rows":
            models = values[method, "models"]
            seconds = values[method, "worker_seconds"] * models
            assert values[method, "rows_per_model"] == rows / models
            per_million = values[method, "seconds_per_million_rows"]
            assert per_million == pytest.approx(1e6 * seconds / rows, rel=1e-12)
    assert values["DECAF", "seconds_per_million_rows"] == pytest.approx(7.3958333333)
    method = "shap_interaction"
    cpu = values[method, "cpu_seconds_of_all"] / values[method, "models"]
    assert values[method, "cpu_seconds"] == pytest.approx(cpu, rel=1e-12)
    by_row = values[method, "worker_seconds"] / values[method, "explained_rows"]
    assert values[method, "seconds_per_explained_row"] == pytest.approx(by_row, rel=1e-12)


def test_every_table_has_the_papers_value_and_the_difference(columns):
    names = [name for name in VIEWS if name.startswith("paper_covertype_")]
    tables = [name for name in names if "estimate" in columns[name]]
    assert (len(names), len(tables)) == (11, 10)
    for name in tables:
        assert {"study", "estimate", "published", "difference", "reason"} <= columns[name].keys()
