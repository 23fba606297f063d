"""Models whose score of an input depends on its batch, or on chance: refused before any scoring."""

import json

import numpy as np
import pytest
import skops.io
from ended_commands import refused, succeeded
from flow_fixtures import NETWORKS
from model_server import decode, serving
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, minmax_scale
from small_studies import network_card, of_scenes
from warehouse_answers import fetched

from decaf.errors import UnstableScore
from decaf.models.checkpoint import save
from decaf.plan.study import load_study
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_model

FUNCTION = {"family": "any", "source": "function"}


def tried(study):
    """Try the models of a study in this process."""
    planned = plan_audit(study, study.pair_set())
    for trial in trials_of(planned, scored_models(planned)):
        try_model(trial)


@pytest.fixture
def trial_of(tmp_path, write):
    """Try one model on scenes, by its card: raises what the trial raises."""

    def attempt(card, **changed):
        settings = of_scenes(tmp_path, [card], python_path=[str(NETWORKS)], **changed)
        tried(load_study(write(settings)))

    return attempt


def function(name, output="value"):
    return {"id": name, **FUNCTION, "output": output, "function": f"batch_bound:{name}"}


VALUE = {"score": {"kind": "regression_value"}}


def network(folder, name):
    """Card of a network of the module, with its weights in the folder."""
    import batch_bound

    save(getattr(batch_bound, name)(), folder / f"{name}.safetensors", {})
    weights = {"weights": str(folder / f"{name}.safetensors")}
    return network_card(name, **weights, architecture=f"factory:batch_bound:{name}")


@pytest.mark.parametrize("name", ["batch_norm", "dropout"])
def test_a_network_that_mixes_its_batch_or_draws_is_refused(trial_of, tmp_path, name, monkeypatch):
    monkeypatch.syspath_prepend(NETWORKS)
    with pytest.raises(UnstableScore):
        trial_of(network(tmp_path, name))


def test_a_batch_of_one_row_is_the_cure_of_a_network_that_mixes(trial_of, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(NETWORKS)
    trial_of(network(tmp_path, "batch_norm"), batch_size=1)


def test_functions_are_tried_in_batches(trial_of):
    trial_of(function("plain"), **VALUE)
    with pytest.raises(UnstableScore):
        trial_of(function("scaled", "probabilities"))
    with pytest.raises(UnstableScore):
        trial_of(function("noisy"), **VALUE)


@pytest.mark.parametrize(
    ("step", "is_refused"), [(FunctionTransformer(minmax_scale), True), (StandardScaler(), False)]
)
def test_an_estimator_that_scales_its_batch_is_refused(trial_of, tmp_path, step, is_refused):
    rows = np.random.default_rng(0).random((40, 3 * 32 * 32), np.float32)
    classifier = make_pipeline(step, LogisticRegression()).fit(rows, [0, 1] * 20)
    skops.io.dump(classifier, tmp_path / "classifier.skops")
    card = {"id": "linear", "family": "any", "source": "estimator"}
    card |= {"file": str(tmp_path / "classifier.skops")}
    card |= {"trusted": ["sklearn.preprocessing._data.minmax_scale"]}
    if is_refused:
        with pytest.raises(UnstableScore):
            trial_of(card)
    else:
        trial_of(card)


def test_an_endpoint_that_scales_its_batch_is_refused(trial_of):
    def share(request, number):
        rows = decode(json.loads(request.body)["inputs"])
        level = rows.reshape(len(rows), -1).astype(float).mean(axis=1)
        level = level / level.max()
        return 200, json.dumps({"outputs": np.stack([level, 1 - level], axis=1).tolist()}), {}

    with serving(share) as server:
        card = {"id": "remote", "family": "any", "source": "endpoint", "url": server.url}
        card |= {"version": "1", "output": "probabilities", "encoding": "base64"}
        with pytest.raises(UnstableScore):
            trial_of(card)


@pytest.mark.slow
def test_plan_and_run_name_the_model_and_the_run_ends_with_the_others(
    tmp_path, write, decaf, prefect_server, workers
):
    models = [function("plain"), function("scaled") | {"id": "bound"}]
    models[1] |= {"function": "batch_bound:noisy"}
    config = write(
        of_scenes(tmp_path, models, cluster=workers, python_path=[str(NETWORKS)], **VALUE)
        | {"report": {"page": str(tmp_path / "report.html")}}
    )
    refused(decaf("plan", config), "bound: ", code=2)
    for is_first in (True, False):  # the next run tries it again
        done = decaf("run", config, **prefect_server)
        refused(done, "bound: ", code=3)
        assert ("bound is left out" in done.stderr) == is_first
        assert "plain" in done.stdout
        assert "bound" in (tmp_path / "report.html").read_text()
    profiles = fetched(tmp_path / "warehouse", "SELECT model_id, evidence FROM out_model_profiles")
    assert [model_id for model_id, _ in profiles] == ["plain"] * len(profiles) != []
    good = write(
        of_scenes(tmp_path, models[:1], cluster=workers, python_path=[str(NETWORKS)], **VALUE)
    )
    succeeded(decaf("run", good, **prefect_server))
    assert profiles == fetched(
        tmp_path / "warehouse", "SELECT model_id, evidence FROM out_model_profiles"
    )
