"""The recipes of docs/reaudit.md, as they stand, against a real MLflow 3 server."""

import re
import subprocess
from pathlib import Path

import psutil
import pytest
import torch
import yaml
from ended_commands import refused, succeeded
from mlflow_server import mlflow_python, mlflow_server
from registry_folder import put_small_cnn
from small_studies import of_scenes
from warehouse_answers import fetched

from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import load_study

pytestmark = [
    pytest.mark.mlflow,
    pytest.mark.filterwarnings("ignore"),  # of versions, where those of the two environments differ
]
PAGE = Path(__file__).parents[2] / "docs" / "reaudit.md"
MADE = """
import mlflow
import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

rows = np.random.default_rng(0).random((40, 3 * 32 * 32), dtype=np.float32)
labels = np.arange(40) % 2
forest = RandomForestClassifier(5, random_state=0).fit(rows, labels)
boosted = XGBClassifier(n_estimators=2, n_jobs=1).fit(rows, labels)
network = torch.nn.Linear(3 * 32 * 32, 2)
"""
"""What the recipes take as given: models of a reader's own."""
MORE = """
import pandas as pd
import sklearn.linear_model

client = mlflow.MlflowClient()
version = client.get_latest_versions("forest")[0].version
client.set_registered_model_alias("forest", "champion", version)
client.set_model_version_tag("forest", version, "decaf.family", "trees")
mlflow.sklearn.log_model(
    forest, name="model", serialization_format="cloudpickle", registered_model_name="pickled",
    signature=signature, pyfunc_predict_fn="predict_proba", pip_requirements=[],
)
frame = pd.DataFrame(rows[:, :4].astype(float), columns=["a", "b", "c", "d"])
line = sklearn.linear_model.LinearRegression().fit(frame, rows[:, 4].astype(float))
mlflow.sklearn.log_model(
    line, name="model", serialization_format="cloudpickle", registered_model_name="line",
    signature=mlflow.models.infer_signature(frame, line.predict(frame)), pip_requirements=[],
)
np.save("line.npy", line.predict(frame))
np.save("frame.npy", frame.to_numpy())
"""
SERVED = {"source": "mlflow_server", "model": ".", "output": "probabilities"}


@pytest.fixture(scope="module")
def registered(tmp_path_factory):
    """A server with what the page's recipes registered, and some more; and where it is."""
    python, folder = mlflow_python(), tmp_path_factory.mktemp("mlflow")
    put_small_cnn(folder)
    with mlflow_server(folder, python, "-m", "mlflow") as server:
        recipes = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        code = "\n".join([MADE, *recipes, MORE]).replace("http://models:5000", server.uri)
        command = [python, "-W", "ignore", "-c", code]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        server.python, server.folder = python, folder
        yield server


@pytest.fixture
def registry(registered, monkeypatch):
    """The registry of the page, of this server and this interpreter."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (text,) = re.findall(r"```yaml\n(registry:.*?)```", PAGE.read_text(), re.DOTALL)
    here = text.replace("http://models:5000", registered.uri)
    return yaml.safe_load(here.replace("/opt/mlflow/bin/python", registered.python))["registry"]


def test_the_recipes_of_the_page(registered, registry, decaf, write, prefect_server, tmp_path):
    registry |= {"names": ["forest", "boosted", "network", "net"]}
    report = str(tmp_path / "report.html")
    settings = of_scenes(tmp_path, registry=registry, report=report, sources=5)
    settings["gates"] = {"endpoint_magnitude": {"at_most": 0.95}}
    settings["undecided"] = "pass"  # the forest was fitted to noise: it is right on one of five
    config = write(settings)
    succeeded(decaf("reaudit", config, **prefect_server))
    audited = fetched(settings["warehouse"], "SELECT entry, state, verdict FROM out_entries")
    assert {entry: rest for entry, *rest in audited} == {
        name: ["audited", "undecided" if name == "forest" else "pass"] for name in registry["names"]
    }
    # A tag that is written back is no change, and no server is left behind.
    assert "nothing changed: the registry has the 4 entries" in succeeded(
        decaf("reaudit", config, **prefect_server)
    )
    assert scoring_processes() == []

    version = registered.ask("model-versions/get?name=network&version=1", "GET")["model_version"]
    tags = {tag["key"]: tag["value"] for tag in version["tags"]}
    assert tags["decaf.verdict"] == "pass"
    assert tags["decaf.report"] == "https://reports.example/nightly.html"
    ask = "SELECT DISTINCT pair_type FROM core_profiles"
    (pair_type, *_) = (row[0] for row in fetched(settings["warehouse"], ask))
    number = r"(?:0|<0\.001|\d\.\d{3})"
    written = tags[f"decaf.evidence.blend.{pair_type}"]
    assert re.fullmatch(rf"{number} \[{number}, {number}\]", written)


@pytest.mark.parametrize("name", ["forest", "boosted", "network"])
def test_the_cards_of_the_page_are_proposed(registry, decaf, write, tmp_path, name):
    expected = registry.pop("cards")[name]
    config = write(of_scenes(tmp_path, registry=registry))
    told = succeeded(decaf("card", name, "-c", config))
    found = yaml.safe_load(told)["cards"][name]
    if expected["source"] == "estimator":
        expected |= {"method": "predict_proba"}
        assert "inputs: " in told
    else:
        expected |= {"python": "/opt/mlflow/bin/python"}
        assert "# python: correct it" in told
    expected |= {"family": "trees"} if name == "forest" else {}
    assert found == expected


def test_an_alias_is_proposed_and_another_name_is_not(registry, decaf, write, tmp_path):
    registry |= {"follow": ["champion"]}
    config = write(of_scenes(tmp_path, registry=registry))
    assert "cards:\n  forest:" in succeeded(decaf("card", "forest@champion", "-c", config))
    refused(decaf("card", "forst@champion", "-c", config), "did you mean 'forest@champion'")


def test_every_way_to_score_a_model_gives_the_same(registered, registry, write, tmp_path):
    """skops here, a pickle here, and a pickle behind MLflow's scoring server: bit for bit."""
    cards = registry["cards"]
    cards["pickled"] = {"source": "estimator", "file": "model.pkl", "unpickle": True}
    registry |= {"names": ["forest", "pickled"]}
    config = write(of_scenes(tmp_path, registry=registry))
    study = load_study(config)
    (problem,) = [
        one.problem for one in resolve(study, list_entries(study.registry)) if one.problem
    ]
    assert "pickled is a pickle" in problem
    assert "'trust: [pickled]'" in problem

    registry |= {"trust": ["pickled"]}
    study = load_study(write(of_scenes(tmp_path, registry=registry)))
    here = {one.entry.name: one.card for one in resolve(study, list_entries(study.registry))}
    cards["pickled"] = SERVED | {"python": registered.python}
    study = load_study(write(of_scenes(tmp_path, registry=registry)))
    served = {one.entry.name: one.card for one in resolve(study, list_entries(study.registry))}[
        "pickled"
    ]
    images = torch.rand(300, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    expected = here["forest"].load("cpu").outputs(images)
    assert torch.equal(here["pickled"].load("cpu").outputs(images), expected)
    model = served.load("cpu")
    assert torch.equal(model.outputs(images), expected)
    assert len(scoring_processes()) == 1
    del model
    assert scoring_processes() == []


def test_columns_go_by_name_and_keep_their_digits(registered, registry, write, tmp_path):
    import numpy as np

    registry |= {"names": ["line"]}
    registry["cards"] = {"line": SERVED | {"python": registered.python, "output": "value"}}
    study = load_study(write(of_scenes(tmp_path, registry=registry)))
    (one,) = resolve(study, list_entries(study.registry))
    assert one.problem is None
    rows = torch.from_numpy(np.load(registered.folder / "frame.npy"))
    found = one.card.load("cpu").outputs(rows)
    # Another process may add the products in another order, which moves the last bit. Single
    # precision would move the eighth digit, and ten digits of JSON, which is what pandas writes
    # unless told otherwise, the eleventh.
    expected = np.load(registered.folder / "line.npy").tolist()
    assert found[:, 0].tolist() == pytest.approx(expected, rel=1e-14, abs=0)


def test_a_model_that_no_server_can_serve(registered, registry, write, tmp_path):
    registry |= {"names": ["line"]}
    for python, words in (
        ("/no/such/python", "cannot be run: No such file"),
        ("/bin/false", "it ended, or sent no port"),
    ):
        registry["cards"] = {"line": SERVED | {"python": python}}
        study = load_study(write(of_scenes(tmp_path, registry=registry)))
        (one,) = resolve(study, list_entries(study.registry))
        with pytest.raises(Exception, match=words):
            one.card.load("cpu")
    assert scoring_processes() == []


def scoring_processes():
    """Scoring servers that descend from this process."""
    children = psutil.Process().children(recursive=True)
    return [one for one in children if any("scoring_process" in word for word in one.cmdline())]
