"""All baselines of two classifiers through the real command line: planned, made once, compacted."""

import io

import pytest
from ended_commands import cells, succeeded
from in_process import planned
from rich.console import Console
from small_studies import classifier, of_table
from warehouse_answers import fetched

from decaf.plan.study import Study
from flows.commands import display
from warehouse import storage
from warehouse.upkeep.compaction import compact

TEST_ROWS = 40
FIRST = {"pdp_ale": {"kind": "pdp_ale"}, "retraining": {"kind": "retraining"}}
LATER = {
    "global_permutation": {"kind": "global_permutation", "repeats": 2},
    "context_permutation": {"kind": "context_permutation", "repeats": 2},
    "native_shap": {"kind": "native_shap", "rows": 4},
    "shap_interaction": {"kind": "shap_interaction", "rows": 4},
    "kernel_shap": {"kind": "kernel_shap", "rows": 2, "background": 4, "samples": 120},
    "lime": {"kind": "lime", "rows": 2, "samples": 50},
}
LATER["kernel_shap"]["models"] = LATER["lime"]["families"] = ["trees"]


@pytest.fixture
def config(workers, tmp_path):
    """A study of a linear model and of trees of a made-up table; its YAML is the test's."""
    models = [
        classifier("linear", mechanism="gate", strength=0.95),
        classifier("trees", "xgboost", mechanism="fragile"),
    ]
    usual = {"stages": 11, "sources_per_block": TEST_ROWS, "cluster": workers}
    return of_table(tmp_path, models, 100, **usual, report=str(tmp_path / "report.html"))


def shown(show, *about):
    """Cells of what a command of the command line prints."""
    printed = io.StringIO()
    show(Console(width=200, file=printed), *about)
    return cells(printed.getvalue())


MODELS = ("linear", "trees")
PREDICTED = {
    "context_permutation": 3 * TEST_ROWS,
    "global_permutation": 3 * TEST_ROWS,
    "native_shap": 0,
    "pdp_ale": 6 * TEST_ROWS,
    "retraining": 2 * TEST_ROWS,
    "shap_interaction": 0,
}
"""Rows that each method predicts of every model."""
EXPLAINED = "SELECT commit_key, started_at FROM stg_costs WHERE kind = 'explain' ORDER BY ALL"


@pytest.mark.slow
def test_what_is_made_is_not_made_again(config, write, decaf, prefect_server, tmp_path):
    root = tmp_path / "warehouse"
    succeeded(decaf("run", write(config | {"baselines": FIRST, "report": False}), **prefect_server))
    before = fetched(root, EXPLAINED)
    assert len(before) == 4

    whole = config | {"baselines": FIRST | LATER}
    file = write(whole)
    plan = shown(display.show_plan, planned(Study(**whole)))
    assert [row[-1] for row in plan if row[0] in MODELS] == ["4", "6"], "to explain"
    succeeded(decaf("run", file, **prefect_server))
    after = fetched(root, EXPLAINED)
    assert set(before) < set(after)
    assert fetched(root, "SELECT count(*) FROM stg_costs WHERE kind <> 'explain'") == [(2,)]
    assert fetched(
        root, "SELECT method, model_id, predicted_rows FROM out_baseline_costs ORDER BY ALL"
    ) == sorted(
        [
            *((method, name, count) for method, count in PREDICTED.items() for name in MODELS),
            ("kernel_shap", "trees", 4 + 2 * (1 + 120 * 4)),
            ("lime", "trees", 2 * 50),
        ]
    )
    query = "SELECT * FROM core_baselines ORDER BY model_id, method, component"
    told = fetched(root, query)
    assert len(told) == 9 + 11
    undefined = [row for row in told if row[6] is None]
    assert [(row[2], row[4]) for row in undefined] == [("linear", "shap_interaction")]
    assert undefined[0][8].startswith("LogisticRegression has no interaction values")
    assert all(row[8] is None for row in told if row not in undefined)

    same = write(whole | {"report": False})
    assert "nothing to do" in succeeded(decaf("run", same, **prefect_server))
    store = storage.open(root)
    status = [row[:4] for row in shown(display.print_status, store, None)]
    assert ["explain", "shap_interaction", "2/2", "0"] in status
    assert ["explain", "lime", "1/1", "100"] in status
    compact(store, config["study"])
    assert fetched(root, query) == told
    assert fetched(
        root, "SELECT count(*) FROM receipt_files WHERE table_name = 'baseline_scores'"
    ) == [(2,)]
