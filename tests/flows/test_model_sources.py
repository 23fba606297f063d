"""Models of every source in real audits: a network, estimators, a function and an endpoint."""

import json
from pathlib import Path

import numpy as np
import pytest
import skops.io
import xgboost
from ended_commands import refused, succeeded
from model_server import decode, serving
from sklearn.linear_model import LogisticRegression
from warehouse_answers import fetched

from decaf.plan.study import load_study

SECRET = "s3cret-t0ken"
FAMILY = {"family": "any"}


@pytest.fixture
def scenes(study, write):
    """Flattened pixels and classes of the scenes of the small study."""
    data = load_study(write(study)).data
    pairs = data.pair_set()
    images = np.stack([data.read_input(image) for image in pairs.inputs])
    rows = (images.transpose(0, 3, 1, 2) / 255).astype(np.float32).reshape(len(images), -1)
    used = {pair.plus: pair.class_id for pair in pairs.pairs}
    return rows[list(used)], np.array(list(used.values()))


@pytest.fixture
def estimators(scenes, tmp_path):
    """Cards of a scikit-learn and an XGBoost estimator, fitted on the scenes."""
    skops.io.dump(LogisticRegression().fit(*scenes), tmp_path / "linear.skops")
    trees = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(*scenes)
    trees.save_model(tmp_path / "trees.ubj")
    card = {"source": "estimator", **FAMILY}
    return [
        {"id": "linear", **card, "file": str(tmp_path / "linear.skops")},
        {"id": "trees", **card, "file": str(tmp_path / "trees.ubj")},
    ]


def brightness(request, number):
    """A server that needs a token, and knows how bright images are."""
    if request.headers["Authorization"] != f"Bearer {SECRET}":
        return 401, "no token", {}
    rows = decode(json.loads(request.body)["inputs"])
    level = rows.reshape(len(rows), -1).astype(np.float64).mean(axis=1)
    answer = {"outputs": np.stack([level, 1 - level], axis=1).tolist()}
    return 200, json.dumps(answer), {"X-Model-Version": "7"}


def endpoint(url):
    headers = {"Authorization": "Bearer ${MODEL_TOKEN}"}
    card = {"id": "remote", **FAMILY, "source": "endpoint", "output": "probabilities"}
    return card | {"url": url, "headers": headers, "version": "7", "encoding": "base64"}


FUNCTION = {"id": "function", **FAMILY, "source": "function", "output": "probabilities"}
FUNCTION |= {"function": "brightness:two_classes"}


@pytest.mark.slow
def test_models_of_every_source_are_audited_in_one_study(
    study, estimators, write, decaf, prefect_server, tmp_path
):
    environment = {**prefect_server, "MODEL_TOKEN": SECRET, "NO_PROXY": "127.0.0.1"}
    with serving(brightness) as server:
        models = [study["models"][0], *estimators, FUNCTION, endpoint(server.url)]
        config = write({**study, "models": models})
        planned = decaf("plan", config, **environment)
        assert "5 models" in planned.stdout, planned.stderr
        assert server.requests == []
        done = decaf("run", config, **environment)
    succeeded(done)
    warehouse = tmp_path / "warehouse"
    names = ["function", "linear", "remote", "small_cnn", "trees"]
    counted = "SELECT model_id, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    assert fetched(warehouse, counted.format("core_trajectories")) == [(name, 32) for name in names]
    assert fetched(warehouse, counted.format("core_predictions")) == [(name, 24) for name in names]
    origins = dict(fetched(warehouse, "SELECT model_id, architecture FROM stg_models"))
    assert origins == {
        "function": "function:brightness:two_classes",
        "linear": "estimator:linear.skops",
        "remote": f"endpoint:{server.url}",
        "small_cnn": "factory:decaf.models.networks.small_cnn:build",
        "trees": "estimator:trees.ubj",
    }

    # The function and the endpoint compute the same, the one in float32, the other in float64.
    query = (
        "SELECT q_plus, q_minus FROM core_trajectories WHERE model_id = $name "
        "ORDER BY pair_id, path"
    )
    one, other = (fetched(warehouse, query, name=name) for name in ("function", "remote"))
    np.testing.assert_allclose(one, other, atol=1e-6)

    # What went over the wire as a secret is nowhere in what was kept or said.
    folders = (tmp_path, Path(prefect_server["PREFECT_HOME"]))
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    kept = [path.read_bytes() for path in files]
    assert any(path.suffix == ".db" for path in files)
    texts = [json.dumps(fetched(warehouse, "SELECT card FROM stg_models"))]
    texts += [*fetched(warehouse, "SELECT config FROM stg_runs")[0], done.stdout, done.stderr]
    assert not [content for content in kept if SECRET.encode() in content]
    assert not [text for text in texts if SECRET in text]

    # With everything scored, the endpoint need not even be there.
    again = decaf("run", config, **environment)
    assert "nothing to do: all" in again.stdout, again.stderr


@pytest.mark.slow
def test_a_value_that_is_worse_the_larger_it_is(study, write, decaf, prefect_server, tmp_path):
    of_red = {"function": "brightness:of_channel", "arguments": {"channel": 0}}
    red = FUNCTION | of_red | {"output": "value"}
    score = {"kind": "regression_value", "direction": "decreasing"}
    page = tmp_path / "report.html"
    config = write({**study, "models": [red], "score": score, "report": str(page)})
    succeeded(decaf("run", config, **prefect_server))
    unread = decaf("report", write({**study, "models": [red], "score": score}, "unread.yaml"))
    refused(unread, "'report' is false; expected the file that the report goes to")
    warehouse = tmp_path / "warehouse"
    data = load_study(config).data
    pairs = data.pair_set()
    level = {image.image_id: data.read_input(image)[..., 0].mean() / 255 for image in pairs.inputs}
    stored = fetched(
        warehouse,
        "SELECT plus_image, minus_image, q_plus[-1], q_minus[-1] FROM core_trajectories "
        "JOIN core_pairs USING (study, pair_id)",
    )
    assert len(stored) == 32
    for plus, minus, q_plus, q_minus in stored:
        np.testing.assert_allclose([q_plus, q_minus], [-level[plus], -level[minus]], atol=1e-6)

    query = "SELECT image_id, class_scores, predicted_class, is_correct FROM core_predictions"
    for image_id, values, predicted, is_correct in fetched(warehouse, query):
        np.testing.assert_allclose(values, [level[image_id]], atol=1e-6)
        assert (predicted, is_correct) == (None, None)
    assert set(fetched(warehouse, "SELECT accuracy FROM out_accuracy")) == {(None,)}
    assert fetched(warehouse, "FROM out_warnings WHERE warning = 'below_chance'") == []
    assert "no labels" in page.read_text()


def test_an_endpoint_that_is_down_is_no_bad_input(study, write, decaf, prefect_server, tmp_path):
    with serving(brightness) as server:
        model = {**endpoint(server.url), "retries": 1, "backoff_seconds": 0.01}
    config = write({**study, "models": [model]})
    environment = {**prefect_server, "MODEL_TOKEN": SECRET, "NO_PROXY": "127.0.0.1"}
    succeeded(decaf("plan", config, **environment))
    done = decaf("run", config, **environment)
    refused(done, f"{server.url} gave no answer: 2 attempts", "ConnectError", code=3)
    assert SECRET not in done.stdout + done.stderr


def test_a_variable_that_is_missing_is_named_and_one_that_is_set_is_not_shown(study, write, decaf):
    model = endpoint("http://127.0.0.1:9")
    done = decaf("plan", write({**study, "models": [model]}))
    refused(done, "environment variable MODEL_TOKEN is not set")
    model["headers"] = model["headers"]["Authorization"]
    done = decaf("plan", write({**study, "models": [model]}), MODEL_TOKEN=SECRET)
    assert SECRET not in refused(done, "models.0.headers")
