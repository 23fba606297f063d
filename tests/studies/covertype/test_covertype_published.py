"""Every value that the views of Covertype call published, against the cells of the paper.

``covertype_published.csv`` was read from the paper's section 5 and appendix I, in its words and as
printed; ``text`` after a table's name means the paragraphs about it.
"""

from itertools import product
from pathlib import Path

import duckdb
import pytest
from view_tables import create, define, read_rows, relations

from warehouse.query import functions

CELLS = read_rows(Path(__file__).with_name("covertype_published.csv"))
BEHAVIOURS = {
    "Preservation": "preservation",
    "Actual inversion": "inversion",
    "Endpoint-null change": "null_change",
}
METHODS = {
    "DECAF component": "DECAF",
    "Endpoint M": "M",
    "Abs": "Abs",
    "Signed net": "Net",
    "SignFlip": "SignFlip",
    "OppMass": "OppMass",
    "Native SHAP": "native_shap",
    "SHAP interaction": "shap_interaction",
    "KernelSHAP": "kernel_shap",
    "Global PFI": "global_permutation",
    "Context-conditioned PFI": "context_permutation",
    "PFI / context PFI": "permutation",
    "PDP/ALE interaction": "pdp_ale",
    "LIME": "lime",
    "Retraining reference": "retraining",
    "Strong tabular reference": "strong_tabular",
    "DECAF probe": "decaf_probe",
    "Combined empirical reference": "combined",
}
MAIN = {"DECAF": "DECAF", "Abs": "Abs", "M": "M", "Native SHAP": "native_shap"}
MAIN |= {"SHAP inter.": "shap_interaction"}
FAMILIES = {
    "HistGradientBoosting": "hist_gradient_boosting",
    "Logistic regression": "logistic_regression",
    "MLP": "mlp",
    "Random forest": "random_forest",
    "XGBoost": "xgboost",
    "All": "all",
}
FAMILY_COLUMNS = {
    "Invert C": ("invert", "contradiction"),
    "Invert rate": ("invert", "invert_rate"),
    "Invert collapse rate": ("invert", "collapse_rate"),
    "Fragile M": ("fragile", "endpoint_magnitude"),
    "Fragile E": ("fragile", "evidence"),
    "Fragile F": ("fragile", "fragility"),
    "Fragile active": ("fragile", "active_frac"),
    "Fragile null change": ("fragile", "null_change_rate"),
}
COSTS = {
    "Models": "models",
    "Worker-s/model": "worker_seconds",
    "Relative to DECAF": "relative_cost",
    "Predicted rows": "predicted_rows",
}
MATCHED = {
    "Pairs": ("all", "pairs"),
    "Coverage": ("all", "coverage"),
    "Same-family pairs": ("all", "same_family_pairs"),
    "Median M difference": ("all", "median_m_difference"),
    "Largest M difference": ("all", "largest_m_difference"),
    "DECAF accuracy": ("DECAF", "accuracy"),
}
SEMANTICS = {
    "Fixed macro-AUROC": lambda method: ("readout", (method, "macro", "auroc")),
    "Fixed macro-AUPRC": lambda method: ("readout", (method, "macro", "auprc")),
    "Within-Abs macro-AUROC": lambda method: ("within_abs", (method, "auroc")),
    "Within-Abs macro-AUPRC": lambda method: ("within_abs", (method, "auprc")),
}
LIMITS = {"lower": "published_lower_95", "upper": "published_upper_95", "rho": "published"}
KEYS = {
    "paper_covertype_budgets": ("method", "statistic"),
    "paper_covertype_costs": ("method", "statistic"),
    "paper_covertype_design": ("module", "statistic"),
    "paper_covertype_families": ("family", "mechanism", "statistic"),
    "paper_covertype_matched": ("method", "statistic"),
    "paper_covertype_ranks": ("behaviour", "method"),
    "paper_covertype_readout": ("method", "label", "statistic"),
    "paper_covertype_treatments": ("mechanism", "behaviour", "family"),
    "paper_covertype_within_abs": ("method", "statistic"),
}
"""What a row of each view is of."""


PLACES = {
    "covertype-main": lambda row, column: (
        "ranks",
        (BEHAVIOURS[row], MAIN.get(column, "DECAF")),
        LIMITS.get(column, "published"),
    ),
    "covertype-setup": lambda row, column: (
        "design",
        ("all" if row == "Total" else row.lower(), column.lower()),
    ),
    "covertype-complete-ranks": lambda row, column: ("ranks", (BEHAVIOURS[column], METHODS[row])),
    "covertype-complete-ranks models": lambda row, column: (
        "ranks",
        (BEHAVIOURS[column], METHODS[row]),
        "published_count",
    ),
    "covertype-complete-ranks text": lambda row, column: (
        "ranks",
        (BEHAVIOURS[row], "DECAF"),
        LIMITS[column],
    ),
    "covertype-family-audit": lambda row, column: (
        "families",
        (FAMILIES[row], *FAMILY_COLUMNS[column]),
    ),
    "covertype-family-audit text": lambda row, column: (
        "treatments",
        ("invert", "inversion", FAMILIES[row]),
    ),
    "covertype-fixed-semantic": lambda row, column: SEMANTICS[column](METHODS[row]),
    "covertype-fixed-semantic text": lambda row, column: (
        "readout",
        (METHODS[row], "macro", "accuracy"),
    ),
    "covertype-cost-full": lambda row, column: ("costs", (METHODS[row], COSTS[column])),
    "covertype-matched-limit text": lambda row, column: ("matched", MATCHED[column]),
}
"""View and row, and the column where it is not that of published values, of a cell of a table."""


def place(cell):
    """View, row and column of a view that a cell of the paper belongs to; None of no view."""
    if cell["table"] not in PLACES:
        return None
    view, row, *column = PLACES[cell["table"]](cell["row"], cell["column"])
    return view, row, *(column or ["published"])


def derived():
    """Values that follow from cells of the table of costs and the paragraph about it."""
    cells = {
        (METHODS[cell["row"]], cell["column"]): float(cell["value"])
        for cell in CELLS
        if cell["table"].startswith("covertype-cost-full")
    }
    for (method, column), rows in cells.items():
        if column == "Predicted rows":
            models = cells[method, "Models"]
            seconds = cells[method, "Worker-s/model"] * models
            yield ("costs", (method, "seconds_per_million_rows"), "published"), 1e6 * seconds / rows
            yield ("budgets", (method, "rows_per_model"), "published"), rows / models
            yield ("budgets", (method, "share_of_papers_budget"), "published"), 1
    method = "shap_interaction"
    examples = cells[method, "Examples per model"]
    cpu = cells[method, "CPU-seconds"] / cells[method, "Models"]
    yield ("costs", (method, "cpu_seconds"), "published"), cpu
    by_row = cells[method, "Worker-s/model"] / examples
    yield ("costs", (method, "seconds_per_explained_row"), "published"), by_row
    yield ("budgets", (method, "explained_rows"), "published"), examples
    yield ("budgets", (method, "share_of_papers_budget"), "published"), 1


def tables():
    """A study with every row that has a published value; its numbers do not matter."""
    families = [name for name in FAMILIES.values() if name != "all"]
    labels = {"direct": "evidence", "invert": "contradiction", "fragile": "fragility"}
    modules = dict.fromkeys(("direct", "gate", "invert"), "direction")
    modules |= dict.fromkeys(("robust", "mild", "fragile"), "fragility")
    numbers = ("evidence", "contradiction", "fragility", "abs_response", "endpoint_magnitude")
    numbers += ("net_response", "opposed_mass", "sign_flip_rate", "active_frac", "preserve_rate")
    numbers += ("collapse_rate", "invert_rate", "other_rate", "change_rate", "null_change_rate")
    models = []
    for family, mechanism in product(families, modules):
        model = {"study": "s", "model_id": f"{family} {mechanism}", "family": family}
        model |= {"mechanism": mechanism, "module": modules[mechanism], "seed": 1}
        model |= {"strength": 0.75 if modules[mechanism] == "direction" else ""}
        models.append(model | {"mechanism_label": labels.get(mechanism, "")})
    outcomes = [model | dict.fromkeys(numbers, n / 64) for n, model in enumerate(models)]
    baselines = [
        {"study": "s", "model_id": model["model_id"], "method": method, "score": n}
        | {"component": "mean" if method == "pdp_ale" else "score"}
        for n, model in enumerate(models)
        for method in ("native_shap", "shap_interaction", "kernel_shap", "global_permutation")
        + ("context_permutation", "pdp_ale", "lime", "retraining")
    ]
    probes = [
        {"study": "s", "model_id": model["model_id"], "representation": name}
        | {"label": label, "probability": n / 64}
        for n, model in enumerate(models)
        for name in ("strong_tabular", "decaf_probe", "combined")
        for label in labels.values()
    ]
    costs = [
        {"study": "s", "method": method, "worker_seconds": 1, "explained_rows": 1}
        for method in ("DECAF", "pdp_ale", "lime", "permutation", "kernel_shap", "native_shap")
        + ("retraining", "shap_interaction")
    ]
    pair = {"left_model_id": "mlp direct", "right_model_id": "mlp invert", "position": 0}
    keep = ("study", "model_id", "family", "mechanism", "module", "seed", "strength")
    return {
        "core_covertype_models": [{name: one[name] for name in keep} for one in models],
        "core_covertype_outcomes": outcomes,
        "core_baselines": baselines,
        "core_probe_predictions": probes,
        "core_covertype_costs": costs,
        "core_matched_pairs": [{"study": "s"} | pair],
        "core_analyses": [{"study": "s", "kind": "matched_pairs", "is_made": True}],
    }


@pytest.fixture(scope="module")
def published(columns):
    """Published values of all views by view, row and column, without those that are NULL."""
    given, found = tables(), {}
    for name, keys in KEYS.items():
        with duckdb.connect(config={"threads": 2}) as connection:
            functions.register(connection)
            for relation in relations(name):
                rows = [
                    {key: str(value) for key, value in row.items()}
                    for row in given.get(relation, [])
                ]
                create(connection, relation, columns[relation], rows)
            define(connection, name)
            view = connection.view(name)
            for values in view.fetchall():
                row = dict(zip(view.columns, values, strict=True))
                where = name.removeprefix("paper_covertype_"), tuple(row[key] for key in keys)
                for column, value in row.items():
                    if column.startswith("published") and value is not None:
                        found[*where, column] = value
    return found


def test_published_values_are_the_cells_of_the_paper(published):
    expected = dict(derived())
    for cell in CELLS:
        where = place(cell)
        if where is None:
            continue
        assert where in published, cell
        digits = len(cell["value"].partition(".")[2])
        # The views have some values with more digits, as the paragraphs have.
        assert f"{published[where]:.{digits}f}" == cell["value"], cell
        expected[where] = published[where]
    assert published.keys() == expected.keys()
    for where, value in expected.items():
        assert published[where] == pytest.approx(value, rel=1e-12), where


def test_cells_without_a_view_are_those_that_others_follow_from():
    left = {(cell["row"], cell["column"]) for cell in CELLS if place(cell) is None}
    assert left == {
        ("SHAP interaction", "CPU-seconds"),
        ("SHAP interaction", "Examples per model"),
    }
