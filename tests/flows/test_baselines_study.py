"""All baselines of two classifiers through the real command line: planned, made once, compacted."""

import io

import pytest
from covertype_table import made_up, write
from rich.console import Console

from decaf.plan.study import Study
from flows.commands import display
from warehouse.query.catalog import connect
from warehouse.upkeep.compaction import compact

pytestmark = pytest.mark.slow

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
def config(study, tmp_path):
    """A study of a linear model and of trees of a made-up table; its YAML is the test's."""
    table = {"file": str(write(tmp_path / "covtype.data", made_up(100))), "drawn_per_class": 100}
    recipe = {"recipe": "covertype_classifier", "seed": 7701}
    models = {
        "linear": {"classifier": "logistic_regression", "mechanism": "gate", "strength": 0.95},
        "trees": {"classifier": "xgboost", "mechanism": "fragile"},
    }
    return study | {
        "data": {"adapter": "covertype", "table": table},
        "models": [
            {"id": name, "family": name, "source": "estimator", "training": recipe | own}
            for name, own in models.items()
        ],
        "score": {"kind": "class_probability", "classes": 2, "target": 1},
        "paths": {"context": {"kind": "context"}},
        "stages": 11,
        "epsilon": 0.02,
        "sources_per_block": TEST_ROWS,
    }


def cells(show, *about):
    """Cells of every row of the tables that the command line prints."""
    printed = io.StringIO()
    show(Console(width=200, file=printed), *about)
    lines = printed.getvalue().splitlines()
    return [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in lines]


EXPLAINED = "SELECT commit_key, started_at FROM stg_costs WHERE kind = 'explain' ORDER BY ALL"


def rows(root, query):
    with connect(root) as connection:
        return connection.sql(query).fetchall()


def test_what_is_made_is_not_made_again(config, write, decaf, prefect_server, tmp_path):
    root = tmp_path / "warehouse"
    done = decaf("run", write(config | {"baselines": FIRST}), **prefect_server)
    assert done.returncode == 0, done.stdout + done.stderr
    before = rows(root, EXPLAINED)
    assert len(before) == 4

    whole = config | {"baselines": FIRST | LATER}
    file = write(whole)
    plan = cells(display.plan, Study(**whole))
    assert [row[-1] for row in plan if row[0] in ("linear", "trees")] == ["4", "6"], "to explain"
    done = decaf("run", file, **prefect_server)
    assert done.returncode == 0, done.stdout + done.stderr
    after = rows(root, EXPLAINED)
    assert set(before) < set(after)
    assert rows(root, "SELECT count(*) FROM stg_costs WHERE kind <> 'explain'") == [(2,)]
    assert rows(
        root, "SELECT method, model_id, predicted_rows FROM out_baseline_costs ORDER BY ALL"
    ) == sorted(
        [
            *(("context_permutation", name, 3 * TEST_ROWS) for name in ("linear", "trees")),
            *(("global_permutation", name, 3 * TEST_ROWS) for name in ("linear", "trees")),
            *(("native_shap", name, 0) for name in ("linear", "trees")),
            *(("pdp_ale", name, 6 * TEST_ROWS) for name in ("linear", "trees")),
            *(("retraining", name, 2 * TEST_ROWS) for name in ("linear", "trees")),
            *(("shap_interaction", name, 0) for name in ("linear", "trees")),
            ("kernel_shap", "trees", 4 + 2 * (1 + 120 * 4)),
            ("lime", "trees", 2 * 50),
        ]
    )
    query = "SELECT * FROM core_baselines ORDER BY model_id, method, component"
    told = rows(root, query)
    assert len(told) == 9 + 11
    undefined = [row for row in told if row[6] is None]
    assert [(row[2], row[4]) for row in undefined] == [("linear", "shap_interaction")]
    assert undefined[0][8].startswith("LogisticRegression has no interaction values")
    assert all(row[8] is None for row in told if row not in undefined)

    again = decaf("run", file, **prefect_server)
    assert "nothing to do" in again.stdout, again.stderr
    status = [row[:4] for row in cells(display.status, root, None)]
    assert ["explain", "shap_interaction", "2/2", "0"] in status
    assert ["explain", "lime", "1/1", "100"] in status
    compact(root, config["study"])
    assert rows(root, query) == told
    assert rows(
        root, "SELECT count(*) FROM receipt_files WHERE table_name = 'baseline_scores'"
    ) == [(2,)]
