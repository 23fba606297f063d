"""Models of two classes with one output: its score is that of class 1, whoever gives it."""

import json

import numpy as np
import pytest
import torch
from clean_scores import clean_scores
from ended_commands import succeeded
from model_server import serving
from networks.brought import binary
from safetensors.torch import save_file
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from warehouse_answers import fetched

from decaf.errors import ModelError
from decaf.models.array_model import ArrayModel
from decaf.models.sources.endpoint import EndpointCard
from decaf.models.sources.estimator import EstimatorCard
from decaf.plan.study import Study
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.scores.margin import Margin
from decaf.scoring.scores.superclass_probability import SuperclassProbability
from decaf.scoring.scores.target_logit import TargetLogit
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_with_remarks

Z = torch.tensor([-2.0, 0.0, 0.5, 30.0])
P = torch.tensor([0.0, 0.25, 0.5, 1.0])
PROBABILITY = ClassProbability(kind="class_probability", classes=2)
SCORES = {
    "probability of a logit": (PROBABILITY, Z, "logits", torch.special.expit(Z.double())),
    "probability": (PROBABILITY, P, "probabilities", P.double()),
}


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
@pytest.mark.parametrize("name", SCORES)
def test_one_output_is_the_probability_of_class_1(name, shape):
    score, outputs, output, expected = SCORES[name]
    values = score.values(outputs.reshape(shape), output)
    torch.testing.assert_close(values, torch.stack([1 - expected, expected], 1))


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
@pytest.mark.parametrize("kind", [TargetLogit, Margin])
def test_one_logit_is_that_of_class_1_and_class_0_has_its_negative(kind, shape):
    score = kind(kind="target_logit" if kind is TargetLogit else "margin", classes=2)
    values = score.values(Z.reshape(shape), "logits")
    torch.testing.assert_close(values, torch.stack([-Z, Z], 1).double())
    # Its gradient is that of the logit, with the sign of the class.
    inputs = Z.clone().requires_grad_()
    score.values(inputs.reshape(shape), "logits")[:, 0].sum().backward()
    assert inputs.grad.tolist() == [-1] * len(Z)


@pytest.mark.parametrize("outputs", [torch.stack([Z, -Z], 1), Z[:1].expand(4)[:, None]])
def test_scores_of_two_outputs_are_as_before(outputs):
    if outputs.shape[1] == 2:
        assert torch.equal(PROBABILITY.values(outputs, "logits"), outputs.double().softmax(1))
        logits = TargetLogit(kind="target_logit", classes=2).values(outputs, "logits")
        assert torch.equal(logits, outputs.double())


def test_one_output_of_a_class_map(tmp_path):
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"0": 1, "1": 0}))
    score = SuperclassProbability(kind="superclass_probability", class_map=file, classes=2)
    expected = torch.special.expit(Z)
    values = score.values(Z, "logits").float()
    torch.testing.assert_close(values, torch.stack([expected, 1 - expected], 1))
    torch.testing.assert_close(
        score.values(P[:, None], "probabilities").float(), torch.stack([P, 1 - P], 1)
    )
    file.write_text(json.dumps({"0": 1, "1": 0, "2": 2}))
    three = SuperclassProbability(kind="superclass_probability", class_map=file, classes=3)
    with pytest.raises(ModelError, match="'classes: 2'"):
        three.values(Z, "logits")


@pytest.mark.parametrize("kind", [ClassProbability, TargetLogit, Margin])
def test_one_output_for_three_classes_is_refused_with_what_to_do(kind):
    names = {ClassProbability: "class_probability", TargetLogit: "target_logit", Margin: "margin"}
    score = kind(kind=names[kind], classes=3)
    with pytest.raises(ModelError, match="'classes: 2'.*'kind: regression_value'"):
        score.values(Z[:, None], "logits")


def test_one_output_outside_of_0_to_1_is_no_probability():
    with pytest.raises(ModelError, match="expected 0 to 1"):
        PROBABILITY.values(Z, "probabilities")
    with pytest.raises(ModelError, match="choose another score"):
        TargetLogit(kind="target_logit", classes=2).values(P, "probabilities")
    with pytest.raises(ModelError, match="choose another score"):
        PROBABILITY.values(P, "value")


def network_card(folder, name, output, **arguments):
    torch.manual_seed(0)
    network = binary(8, **arguments).eval()
    file = folder / f"{name}.safetensors"
    save_file(network.state_dict(), file)
    card = {"id": name, "family": "f", "architecture": "factory:brought:binary"}
    card |= {"arguments": {"features": 8, **arguments}, "weights": str(file), "output": output}
    return network, card | {"input_size": None, "mean": [0.0], "std": [1.0]}


@pytest.fixture
def rows(study, tmp_path):
    """A study of three rows of eight numbers of classes 0, 1 and 1, and the rows."""
    generator = np.random.default_rng(1)
    factual, changed = generator.normal(0, 5, (2, 3, 8)).astype(np.float32)
    files = {}
    for role, array in {
        "factual": factual,
        "counterfactual": changed,
        "label": np.array([0, 1, 1]),
    }.items():
        files[role] = str(tmp_path / f"{role}.npy")
        np.save(files[role], array)
    settings = {**study, "data": {"adapter": "arrays", **files}, "stages": 3}
    return {**settings, "paths": {"blend": {"kind": "blend", "sigma": 0}}}, (factual, changed)


def test_every_source_with_one_output_gives_the_same_scores(rows, tmp_path):
    settings, (factual, changed) = rows
    logit, logits = network_card(tmp_path, "logit", "logits")
    _, flat = network_card(tmp_path, "flat", "logits", is_flat=True)
    _, sigmoid = network_card(tmp_path, "sigmoid", "probabilities", is_sigmoid=True)
    weight, bias = (tensor.detach().numpy() for tensor in logit.parameters())

    def answer(batch):
        return 1 / (1 + np.exp(-(batch.reshape(len(batch), -1) @ weight[0] + bias[0])))

    def behave(request, number):
        batch = np.array(json.loads(request.body)["inputs"])
        return 200, json.dumps({"outputs": answer(batch).tolist()}), {}

    with serving(behave) as server:
        served = {"id": "served", "family": "f", "source": "endpoint", "url": server.url}
        served |= {"version": "1", "output": "probabilities"}
        models = [logits, flat, sigmoid, served]
        found = clean_scores(tmp_path, {**settings, "models": models})
    for model in ("logit", "flat", "sigmoid", "served"):
        scores = np.array([both for (name, _), both in found.items() if name == model])
        expected = np.array([answer(factual), answer(changed)]).T
        expected[0] = 1 - expected[0]  # the first pair is of class 0
        np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_labels_are_no_probabilities():
    x = torch.zeros(3, 2)
    labels = ArrayModel(lambda rows: np.array([0, 1, 1]), "probabilities", "labels")
    with pytest.raises(ModelError, match="predict_proba"):
        labels.outputs(x)
    chances = ArrayModel(lambda rows: np.array([0.0, 1.0, 1.0]), "probabilities", "chances")
    assert chances.outputs(x).shape == (3, 1)
    counts = ArrayModel(lambda rows: np.array([0, 5, 1]), "value", "counts")
    assert counts.outputs(x)[:, 0].tolist() == [0, 5, 1]


@pytest.mark.parametrize(
    ("encoding", "answer", "is_fine"),
    [
        ("mlflow", {"predictions": [0, 1]}, False),
        ("mlflow", {"predictions": [0.0, 1.0]}, True),
        ("json", {"outputs": [0, 1]}, True),
        ("json", {"outputs": [0.25, None]}, True),
        ("json", {"outputs": [0.25, 0.5, 0.75]}, False),
        ("json", {"outputs": [[0.25], 0.5]}, False),
    ],
)
def test_one_output_of_a_server(encoding, answer, is_fine):
    with serving(lambda request, number: (200, json.dumps(answer), {})) as server:
        card = EndpointCard(
            id="e",
            family="f",
            source="endpoint",
            url=server.url,
            version="1",
            output="probabilities",
            encoding=encoding,
        )
        model = card.load("cpu")
        if is_fine:
            assert model.outputs(torch.zeros(2, 3)).shape == (2, 1)
        else:
            with pytest.raises(ModelError):
                model.outputs(torch.zeros(2, 3))


def test_an_estimator_of_one_class_is_refused(tmp_path):
    """Its one column is the probability of class 0, not of class 1."""
    import skops.io

    rows = np.random.default_rng(0).random((6, 2))
    skops.io.dump(DecisionTreeClassifier().fit(rows, np.zeros(6, int)), tmp_path / "one.skops")
    card = EstimatorCard(
        id="one",
        family="f",
        source="estimator",
        file=tmp_path / "one.skops",
        trusted=["sklearn.tree._tree.Tree"],
    )
    with pytest.raises(ModelError, match="fitted on one class"):
        card.load("cpu")


ROWS = np.random.default_rng(2).normal(size=(40, 3))
NAMES = np.where(ROWS @ [1, -2, 0.5] > 0, "cat", "dog")  # scikit-learn counts cat as class 0


@pytest.mark.parametrize("classes", [["cat", "dog"], ["dog", "cat"]])
def test_the_decision_of_two_classes_is_a_logit_where_the_card_says_so(tmp_path, classes):
    import skops.io

    fitted = LogisticRegression().fit(ROWS, NAMES)
    skops.io.dump(fitted, tmp_path / "two.skops")
    given = {"id": "two", "family": "f", "source": "estimator", "file": tmp_path / "two.skops"}
    given |= {"method": "decision_function", "classes": classes}
    model = EstimatorCard(**given, output="logits").load("cpu")
    outputs = model.outputs(torch.from_numpy(ROWS))
    values = PROBABILITY.values(outputs, model.output)
    order = [list(fitted.classes_).index(name) for name in classes]
    np.testing.assert_allclose(values, fitted.predict_proba(ROWS)[:, order], atol=1e-12)
    plain, stated = EstimatorCard(**given), EstimatorCard(**given, output="logits")
    assert plain.load("cpu").output == "value"
    assert plain.preprocessing_digest != stated.preprocessing_digest
    with pytest.raises(ValueError, match="'method: decision_function'"):
        EstimatorCard(**{**given, "method": "predict_proba"}, output="logits")


def test_the_decision_of_no_classes_is_no_logit(tmp_path):
    import skops.io

    skops.io.dump(IsolationForest(random_state=0).fit(ROWS), tmp_path / "none.skops")
    card = EstimatorCard(
        id="none",
        family="f",
        source="estimator",
        file=tmp_path / "none.skops",
        method="decision_function",
        output="logits",
        trusted=["sklearn.tree._tree.Tree"],
    )
    with pytest.raises(ModelError, match="remove 'output:'"):
        card.load("cpu")


@pytest.mark.parametrize("classes", [[0, 1], [1, 0]])
def test_the_margin_of_xgboost_is_a_logit_where_the_card_says_so(tmp_path, classes):
    xgboost = pytest.importorskip("xgboost")
    fitted = xgboost.XGBClassifier(n_estimators=3).fit(ROWS, (NAMES == "dog").astype(int))
    fitted.save_model(tmp_path / "two.ubj")
    given = {"id": "x", "family": "f", "source": "estimator", "file": tmp_path / "two.ubj"}
    given |= {"method": "decision_function", "output": "logits", "classes": classes}
    model = EstimatorCard(**given).load("cpu")
    values = PROBABILITY.values(model.outputs(torch.from_numpy(ROWS)), model.output)
    np.testing.assert_allclose(values, fitted.predict_proba(ROWS)[:, classes], atol=1e-6)


def answer_shares(inputs):
    """(n, …) → (n, 2) probabilities of two classes."""
    shares = 1 / (1 + np.exp(-inputs.reshape(len(inputs), -1)[:, 0]))
    return np.stack([1 - shares, shares], 1)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")  # it is only read
@pytest.mark.parametrize(("output", "count"), [("logits", 1), ("probabilities", 0)])
def test_a_function_whose_card_says_logits_of_probabilities_gets_a_remark(
    rows, tmp_path, output, count
):
    settings, _ = rows
    card = {"id": "shares", "family": "f", "source": "function", "output": output}
    card["function"] = f"{__name__}:answer_shares"
    study = Study(**settings | {"models": [card]})
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    remarks = try_with_remarks(trial).remarks
    assert len(remarks) == count
    assert all("output: probabilities" in remark for remark in remarks)


def test_a_sigmoid_whose_card_does_not_name_it_is_told_by_plan(rows, write, decaf, tmp_path):
    settings, _ = rows
    _, sigmoid = network_card(tmp_path, "sigmoid", "probabilities", is_sigmoid=True)
    _, named = network_card(tmp_path, "named", "probabilities", is_sigmoid=True)
    _, logit = network_card(tmp_path, "logit", "logits")
    del sigmoid["output"], logit["output"]
    done = decaf("plan", write({**settings, "models": [sigmoid, named, logit]}))
    printed = succeeded(done) + done.stderr
    told = [line for line in printed.splitlines() if "probabilities" in line]
    assert len(told) == 1
    assert "sigmoid" in told[0]


@pytest.mark.slow
def test_the_remark_on_a_sigmoid_stays_in_report_and_views(
    rows, write, decaf, prefect_server, tmp_path
):
    settings, _ = rows
    _, sigmoid = network_card(tmp_path, "sigmoid", "probabilities", is_sigmoid=True)
    del sigmoid["output"]
    page = tmp_path / "report.html"
    config = write({**settings, "models": [sigmoid], "report": str(page)})
    warning = "SELECT model_id, detail FROM out_warnings WHERE warning = 'model_remark'"
    for _ in range(2):
        done = decaf("run", config, **prefect_server)
        assert "count as logits" in succeeded(done) + done.stderr
        assert "count as logits" in page.read_text()
        ((model, detail),) = fetched(settings["warehouse"], warning)
        assert (model, "count as logits" in detail) == ("sigmoid", True)
    done = decaf("plan", config)
    assert "count as logits" in succeeded(done) + done.stderr
