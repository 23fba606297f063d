"""Cards that are proposed of MLflow's models, and what an `MLmodel` of anybody may hold."""

import numpy as np
import pytest
import skops.io
import yaml
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBRegressor

from decaf.errors import BadInput, ModelError
from decaf.models.mlflow_model import Column, read_mlmodel
from decaf.models.sources.estimator import EstimatorCard
from decaf.registry.entries import Described
from decaf.registry.proposals import proposal_of, propose

TABLE = '[{"type": "double", "name": "a"}, {"type": "long", "name": "b"}]'
IMAGES = '[{"type": "tensor", "tensor-spec": {"dtype": "float32", "shape": [-1, 3, 8, 8]}}]'
LABELS = '[{"type": "tensor", "tensor-spec": {"dtype": "int64", "shape": [-1]}}]'
NUMBERS = '[{"type": "double"}]'
PYFUNC = {"loader_module": "os", "predict_fn": "predict"}
SKOPS = {"pickled_model": "model.skops", "serialization_format": "skops"}


def written(folder, flavours, inputs=None, outputs=None):
    signature = {"inputs": inputs, "outputs": outputs}
    text = yaml.safe_dump({"flavors": flavours, "signature": signature})
    (folder / "MLmodel").write_text(text)
    return read_mlmodel(folder)


@pytest.mark.parametrize(
    ("flavours", "outputs", "expected"),
    [
        ({"sklearn": SKOPS}, LABELS, ("estimator", "model.skops", "predict_proba")),
        ({"sklearn": SKOPS}, NUMBERS, ("estimator", "model.skops", "predict")),
        (
            {"sklearn": SKOPS, "python_function": PYFUNC | {"predict_fn": "predict_proba"}},
            NUMBERS,
            ("estimator", "model.skops", "predict_proba"),
        ),
        (
            {"xgboost": {"data": "model.ubj", "model_class": "xgboost.sklearn.XGBRegressor"}},
            None,
            ("estimator", "model.ubj", "predict"),
        ),
        ({"xgboost": {"data": "model.json"}}, None, ("estimator", "model.json", "predict_proba")),
    ],
)
def test_files_that_run_no_code_are_opened_here(tmp_path, flavours, outputs, expected):
    proposal = propose(written(tmp_path, flavours, TABLE, outputs), {})
    card = proposal.card
    assert (card["source"], card["file"], card["method"]) == expected
    assert any("a double, b long" in remark for remark in proposal.remarks)


@pytest.mark.parametrize(
    ("flavours", "inputs", "output"),
    [
        ({"pytorch": {"model_data": "data"}, "python_function": PYFUNC}, IMAGES, "logits"),
        ({"python_function": PYFUNC}, TABLE, "value"),
        ({"xgboost": {"data": "model.xgb"}, "python_function": PYFUNC}, TABLE, "value"),
        (
            {
                "sklearn": SKOPS | {"serialization_format": "cloudpickle"},
                "python_function": PYFUNC | {"predict_fn": "predict_proba"},
            },
            TABLE,
            "probabilities",
        ),
    ],
)
def test_anything_else_is_answered_by_a_server(tmp_path, flavours, inputs, output):
    proposal = propose(written(tmp_path, flavours, inputs, NUMBERS), {})
    assert proposal.card["source"] == "mlflow_server"
    assert proposal.card["output"] == output
    told = " ".join(proposal.remarks)
    assert "with all your rights" in told
    assert ("cuts off the fractions" in told) == (inputs == TABLE)
    assert ("'trust:'" in told) == ("sklearn" in flavours)


def test_tags_hold_keys_of_the_card_and_no_others(tmp_path):
    model = written(tmp_path, {"python_function": PYFUNC}, IMAGES, LABELS)
    tags = {"decaf.family": "ours", "decaf.output": "logits", "decaf.python": "/x", "owner": "me"}
    card = propose(model, tags).card
    assert (card["family"], card["output"]) == ("ours", "logits")
    assert card["python"] != "/x"


def test_a_model_that_only_its_own_library_can_open(tmp_path):
    with pytest.raises(ModelError, match="crate"):
        propose(written(tmp_path, {"crate": {}}), {})


def test_signatures_say_how_inputs_are_sent(tmp_path):
    model = written(tmp_path, {}, TABLE, NUMBERS)
    assert model.inputs == (Column("a", "double"), Column("b", "long"))
    assert (model.columns, model.takes_rows) == (("a", "b"), True)
    images = written(tmp_path, {}, IMAGES)
    assert (images.columns, images.takes_rows) == ((), False)
    rows = written(tmp_path, {}, IMAGES.replace(", 3, 8, 8]", ", 54]"))
    assert (rows.columns, rows.takes_rows) == ((), True)
    assert written(tmp_path, {"sklearn": {}}).takes_rows
    assert not written(tmp_path, {"pytorch": {}}).takes_rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flavors: [", "not YAML"),
        ("- a", "found a list"),
        ("a: 1", "KeyError"),
        ("flavors: 3", "AttributeError"),
        ("flavors: {a: 3}", "TypeError"),
        ("flavors: {}\nsignature: 3", "AttributeError"),
        ("flavors: {}\nsignature: {inputs: '{'}", "JSONDecodeError"),
        ("flavors: {}\nsignature: {inputs: '[3]'}", "AttributeError"),
        ('flavors: {}\nsignature: {inputs: \'[{"type": "tensor"}]\'}', "KeyError"),
        ("flavors: {}\nsignature: {inputs: '" + "[" * 100_000 + "'}", "RecursionError"),
        ("flavors: !!python/object/apply:os.system [echo]", "expected"),
        ("a: &a [1,1,1,1,1,1,1,1,1]\n" * 1, "KeyError"),
    ],
)
def test_an_mlmodel_that_is_none(tmp_path, text, words):
    (tmp_path / "MLmodel").write_text(text)
    with pytest.raises(BadInput, match=words) as refused:
        read_mlmodel(tmp_path)
    assert "MLmodel" in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_a_folder_that_mlflow_did_not_write(tmp_path):
    with pytest.raises(ModelError, match="MLmodel"):
        read_mlmodel(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "MLmodel").write_text("flavors: {}")
    (tmp_path / "model" / "MLmodel").symlink_to(tmp_path / "MLmodel")
    with pytest.raises(ModelError, match="MLmodel"):
        read_mlmodel(tmp_path / "model")


def test_a_model_with_a_card_needs_none(tmp_path):
    with pytest.raises(ModelError, match="MLmodel"):
        proposal_of(Described(tmp_path, {}))
    (tmp_path / "decaf.yaml").write_text("architecture: timm:resnet18")
    with pytest.raises(ModelError, match=r"decaf\.yaml"):
        proposal_of(Described(tmp_path, {}))


def test_the_file_of_an_estimator_says_its_card(tmp_path):
    rows = np.random.default_rng(0).random((40, 3))
    labels = np.arange(40) % 2
    proba = {"source": "estimator", "method": "predict_proba"}
    boosted = XGBRegressor(n_estimators=1, n_jobs=1).fit(rows, rows[:, 0])
    files = {
        "line.skops": LogisticRegression().fit(rows, np.array(["no", "yes"])[labels]),
        "plain.skops": LogisticRegression().fit(rows, labels),
        "fit.skops": LinearRegression().fit(rows, rows[:, 0]),
        "tree.skops": DecisionTreeClassifier().fit(rows, labels),
    }
    cards = {
        "line.skops": proba | {"classes": ["no", "yes"]},
        "plain.skops": proba,
        "fit.skops": {"source": "estimator", "method": "predict"},
        "tree.skops": {"source": "estimator", "trusted": ["sklearn.tree._tree.Tree"]},
        "boosted.ubj": {"source": "estimator", "method": "predict"},
    }
    for name, card in cards.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "zoo.json").write_text("{}")  # another that comes second
        file = tmp_path / name / name
        skops.io.dump(files[name], file) if name in files else boosted.save_model(file)
        proposal = proposal_of(Described(tmp_path / name, {}))
        assert proposal.card == card | {"file": name}
        assert proposal.remarks[0] == "file: or zoo.json"
        assert any(one.startswith("trusted: ") for one in proposal.remarks) == ("trusted" in card)
        assert any(one.startswith("classes: p") for one in proposal.remarks) == ("classes" in card)
        EstimatorCard(id="m", family="m", **proposal.card | {"file": file}).load("cpu")
