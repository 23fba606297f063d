"""Classifiers of a table, trained and audited in one run, against predict_proba by hand."""

import csv
import hashlib
import json
import os
import signal
import subprocess
from itertools import product

import in_process
import numpy as np
import psutil
import pytest
import skops.io
import xgboost
from covertype_table import made_up, write
from covertype_warehouse import behaviour
from running_command import DECAF, receipts, wait_for
from scipy.integrate import trapezoid
from small_studies import classifier, of_table

from decaf.errors import BadInput
from decaf.plan.study import Study, load_study
from decaf.studies.covertype.splits import CovertypeTable
from warehouse.query.catalog import connect

STAGES = np.linspace(0, 1, 11)
EPSILON = 0.02
TEST_ROWS = 100
OUTCOMES = ("preserve_rate", "invert_rate", "null_count", "change_rate", "null_change_rate")


def model(name, family, recipe):
    training = recipe | {"recipe": "covertype_classifier", "classifier": family, "seed": 7701}
    return {"id": name, "family": family, "source": "estimator", "training": training}


@pytest.fixture
def config(study, tmp_path):
    """A study of three classifiers of a made-up table; its YAML is written by the test."""
    table = {"file": str(write(tmp_path / "covtype.data.gz", made_up(250))), "drawn_per_class": 250}
    linear, trees = "logistic_regression", "xgboost"
    models = [
        model("direct", linear, {"table": table, "mechanism": "direct", "strength": 0.95}),
        model("invert", trees, {"table": table, "mechanism": "invert", "strength": 0.95}),
        model("fragile", trees, {"table": table, "mechanism": "fragile"}),
    ]
    study |= {"data": {"adapter": "covertype", "table": table}, "models": models}
    study |= {"score": {"kind": "class_probability", "classes": 2, "target": 1}}
    study |= {"paths": {"context": {"kind": "context"}}, "labels": {"kind": "treatments"}}
    return study | {"stages": 11, "epsilon": EPSILON, "sources_per_block": 60}


def probability(workspace, name, rows):
    """P(y = 1) from the file that training left, opened by its own library."""
    (path,) = (p for p in (workspace / "checkpoints").glob(f"{name}-*") if p.suffix != ".json")
    if path.suffix == ".skops":
        estimator = skops.io.load(path)
    else:
        estimator = xgboost.XGBClassifier()
        estimator.load_model(path)
    return estimator.predict_proba(rows)[:, 1].astype(np.float64)


def four_scores(config, workspace, name):
    """By context, then factor, +1 first: (n,) scores of all test rows, and their positions."""
    part = CovertypeTable(**config["data"]["table"]).part("test")
    scores = {}
    for channels in product((1, -1), (1, -1)):
        columns = np.full((TEST_ROWS, 2), channels, np.float32)
        rows = np.column_stack([part.features, columns])
        scores[channels] = probability(workspace, name, rows)
    return scores, part


def own_contexts(name):
    """(n,) contexts that the rows themselves have, from the named stream."""
    module = "f" if name == "fragile" else "c"
    stream = f"decaf_covertype_module_{module}_v1|7701|test|context"
    start = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8], "little")
    return np.where(np.random.default_rng(start).random(TEST_ROWS) < 0.5, -1, 1)


@pytest.mark.slow
def test_trajectories_are_mixtures_of_four_answers(config, write, decaf, prefect_server, tmp_path):
    file = write(config)
    planned = decaf("plan", file, **prefect_server)
    assert "3 models" in planned.stdout, planned.stderr
    assert f"{4 * TEST_ROWS} planned" in planned.stdout
    done = decaf("run", file, **prefect_server)
    assert done.returncode == 0, done.stdout + done.stderr

    with connect(tmp_path / "warehouse") as connection:
        stored = connection.sql(
            "SELECT t.model_id, t.source_id, t.q_plus, t.q_minus, "
            "p.evidence, p.contradiction, p.fragility FROM core_trajectories t "
            "JOIN core_profiles p USING (study, model_id, pair_id, path)"
        ).fetchall()
        costs = connection.sql("SELECT model_id, forward_rows FROM out_costs").fetchall()
        outcomes = connection.sql(
            f"SELECT model_id, {', '.join(OUTCOMES)} FROM core_covertype_outcomes"
        ).fetchall()
        made = connection.sql("SELECT kind FROM core_analyses WHERE is_made").fetchall()
        trained = connection.sql("SELECT model_id, architecture, training FROM stg_models")
        trained = {
            name: (origin, json.loads(record)) for name, origin, record in trained.fetchall()
        }
    assert sorted(costs) == [(name, 4 * TEST_ROWS) for name in ("direct", "fragile", "invert")]
    assert len(stored) == 3 * TEST_ROWS
    masses = {name: np.zeros(3) for name in trained}
    for name in trained:
        scores, part = four_scores(config, tmp_path / "workspace", name)
        place = {f"row-{row:06d}": n for n, row in enumerate(part.row)}
        for _, source, q_plus, q_minus, *profile in (row for row in stored if row[0] == name):
            n = place[source]
            for factor, found in ((1, q_plus), (-1, q_minus)):
                mixed = (1 - STAGES) * scores[-1, factor][n] + STAGES * scores[1, factor][n]
                np.testing.assert_allclose(found, mixed, rtol=0, atol=1e-6)
            response = np.array(q_plus) - np.array(q_minus)
            d = response[-1]
            toward = np.sign(d) * response
            routed = [np.maximum(toward, 0), np.maximum(-toward, 0), 0 * STAGES]
            gated = [0 * STAGES, 0 * STAGES, np.abs(response)]
            expected = trapezoid(routed if abs(d) >= EPSILON else gated, STAGES)
            np.testing.assert_allclose(profile, expected, atol=1e-12)
            masses[name] += expected
    # Strong treatments of models that can follow them; a linear model cannot reverse an effect.
    assert masses["direct"][0] > 10 * masses["direct"][1]
    assert masses["invert"][1] > masses["direct"][1]
    assert masses["fragile"][2] > masses["direct"][2]

    origin, record = trained["invert"]
    assert origin == "estimator:covertype_classifier:xgboost"
    assert record["recipe"]["mechanism"] == "invert"
    assert record["outcome"]["training_rows"] == 300

    assert {kind for (kind,) in made} == {"factual_contexts", "matched_pairs", "probe_predictions"}
    assert len(outcomes) == 3
    for name, *found in outcomes:
        scores, _ = four_scores(config, tmp_path / "workspace", name)
        sides = [[scores[context, factor] for factor in (1, -1)] for context in (-1, 1)]
        expected = behaviour(*sides, own_contexts(name))
        expected = np.array([expected[name] for name in OUTCOMES], float)
        np.testing.assert_allclose(np.array(found, float), expected, atol=1e-12)
    page = tmp_path / "page.md"
    written = decaf("results", file, page, **prefect_server)
    assert written.returncode == 0, written.stderr
    assert "100 rows, not 48,000" in page.read_text()
    assert "View: `paper_covertype_ranks`" in page.read_text()
    board = tmp_path / "board.html"
    counted = decaf("scoreboard", tmp_path, "--html", board, **prefect_server)
    assert "504 numbers; 0 of 27" in counted.stdout, counted.stderr
    assert 'href="page.md">' in board.read_text()
    with page.with_suffix(".csv").open(newline="") as rows:
        found = {(row["unit"], row["statistic"]): row for row in csv.DictReader(rows)}
    assert found["all", "models"]["estimate"] == "3"
    assert found["all", "models"]["is_official"] == "False"

    again = decaf("run", file, **prefect_server)
    assert "nothing to do: all" in again.stdout, again.stderr


@pytest.mark.slow
def test_a_killed_run_and_a_fit_that_fails_keep_what_is_done(
    config, write, decaf, prefect_server, tmp_path
):
    slow = model("slow", "hist_gradient_boosting", {"mechanism": "robust"})
    file = write(config | {"models": [*config["models"][:2], slow]})
    study = load_study(file)
    first, second, last = in_process.checkpoints(study).values()
    command, environment = [DECAF, "run", str(file)], {**os.environ, **prefect_server}
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as flow:
        wait_for(first.exists, flow)
        workers = psutil.Process(flow.pid).children(recursive=True)
        for process in (flow, *workers):
            process.send_signal(signal.SIGKILL)
    assert flow.returncode == -signal.SIGKILL
    assert not last.exists()
    fitted = first.stat().st_mtime_ns

    last.with_name(f"{last.name}.outcome.json").mkdir()  # where a fit has to write a file
    done = decaf("run", file, **prefect_server)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "  slow: estimator" in done.stderr
    assert "250 rows" in done.stderr
    assert "Traceback" not in done.stderr
    assert first.stat().st_mtime_ns == fitted
    assert second.exists()
    assert len(receipts(tmp_path / "warehouse")) == 2 + 4  # trained, and 100 rows by 60
    assert "Report:" not in done.stdout
    planned = decaf("plan", file, **prefect_server)
    assert "1 model" in planned.stdout, planned.stderr


def test_images_are_needed_where_images_are_measured(tmp_path):
    linear = classifier("direct", mechanism="direct", strength=0.95)
    settings = of_table(tmp_path, [linear], 20, attributions={"rise": {"kind": "rise"}})
    with pytest.raises(BadInput, match=r"\(56,\)"):
        in_process.planned(Study(**settings))
