"""A scoring server that is started for a model and ended with it; here a small one of our own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
import yaml
from mlflow_server import mlflow_python

from decaf.errors import ModelError
from decaf.models.mlflow_model import read_mlmodel
from decaf.models.sources.mlflow_server import MlflowServerCard
from decaf.registry.proposals import propose

INTERPRETER = f"""#!{sys.executable}
import json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer

folder, descriptor = sys.argv[3], int(sys.argv[4])
said = json.load(open(folder + "/said"))
if said == "nothing":
    time.sleep(600)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = [[sum(row), len(os.environ)] for row in asked["inputs"]]
        body = json.dumps({{"predictions": found}})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
os.write(descriptor, json.dumps(said or {{"port": server.server_port}}).encode())
os.close(descriptor)
threading.Thread(target=server.serve_forever, daemon=True).start()
while os.read(0, 100):
    pass
"""

ONNX = """
import mlflow
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

drawn = np.random.default_rng(0)
weights = drawn.normal(size=(3 * 32 * 32, 2)).astype(np.float32)  # too large for the file itself
nodes = [
    helper.make_node("Flatten", ["image"], ["row"]),
    helper.make_node("MatMul", ["row", "weights"], ["logits"]),
]
images = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 32, 32])
logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])
kept = [numpy_helper.from_array(weights, "weights")]
graph = helper.make_graph(nodes, "net", [images], [logits], kept)
made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
given = drawn.random((3, 3, 32, 32), dtype=np.float32)
expected = given.reshape(3, -1) @ weights
signature = mlflow.models.infer_signature(given, expected)
mlflow.onnx.save_model(made, "net", signature=signature, pip_requirements=[])
np.savez("images.npz", given=given, expected=expected)
"""
"""Saves a network of ONNX as MLflow does, and what it answers."""


@pytest.fixture
def card(tmp_path, monkeypatch):
    """A card whose interpreter says something, or starts a server."""
    monkeypatch.setenv("HTTP_PROXY", "http://198.51.100.7:1")  # loopback is asked directly
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    (tmp_path / "python").write_text(INTERPRETER)
    (tmp_path / "python").chmod(0o700)
    flavours = {"python_function": {}, "sklearn": {}}
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "MLmodel").write_text(yaml.safe_dump({"flavors": flavours}))

    def of(said=None, **changed):
        (tmp_path / "model" / "said").write_text(json.dumps(said))
        given = {"python": str(tmp_path / "python"), "model": str(tmp_path / "model")} | changed
        named = {"id": "one", "family": "any", "source": "mlflow_server", "output": "value"}
        return MlflowServerCard(**named, **given)

    return of


def own_servers():
    children = psutil.Process().children()
    return [one for one in children if any("scoring_process" in word for word in one.cmdline())]


def test_a_server_is_there_as_long_as_its_model(card):
    model = card().load("cpu")
    assert len(own_servers()) == 1
    found = model.outputs(torch.ones(2, 3, 1, 1))
    assert found[:, 0].tolist() == [3.0, 3.0]
    assert found[0, 1] < len(os.environ), "a server is given no credentials"
    del model
    assert own_servers() == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"problem": "ImportError: no xgboost"}, "ImportError: no xgboost"),
        ("nothing", "0.5 s"),
        ([3], "60 s"),
    ],
)
def test_a_server_that_does_not_start_is_ended_and_told(card, said, words, monkeypatch):
    monkeypatch.setattr("decaf.models.sources.mlflow_server.END_SECONDS", 0.5)
    with pytest.raises(ModelError, match=words):
        card(said, start_seconds=0.5 if said == "nothing" else 60).load("cpu")
    assert own_servers() == []


def test_an_interpreter_that_is_none(card):
    with pytest.raises(ModelError, match="/no/python .* No such file.*'python:'"):
        card(python="/no/python").load("cpu")


def test_one_server_or_the_other(card):
    with pytest.raises(ValueError, match="exactly one of 'python'"):
        card(url="http://127.0.0.1:1/invocations")


def test_a_model_is_known_by_its_files(card):
    one = card()
    before = one.weights_digest()
    assert before == card().weights_digest()
    (Path(one.model) / "model.pkl").write_bytes(b"another")
    assert card().weights_digest() != before
    (Path(one.model) / "MLmodel").write_text("flavors: {sklearn: {}}")
    with pytest.raises(ModelError, match="has no flavour python_function"):
        card().weights_digest()


@pytest.mark.mlflow
def test_a_network_of_onnx(tmp_path):
    python = mlflow_python()
    if subprocess.run(
        [python, "-c", "import onnx, onnxruntime"], stderr=subprocess.DEVNULL
    ).returncode:
        pytest.skip(f"onnx and onnxruntime are not installed for {python}")
    subprocess.run([python, "-W", "ignore", "-c", ONNX], cwd=tmp_path, check=True)
    proposed, _ = propose(read_mlmodel(tmp_path / "net"), {})
    where = {"id": "one", "family": "any", "model": tmp_path / "net", "python": python}
    model = MlflowServerCard(**proposed | where).load("cpu")
    with np.load(tmp_path / "images.npz") as images:
        found = model.outputs(torch.from_numpy(images["given"])).numpy()
        np.testing.assert_allclose(found, images["expected"], rtol=1e-4, atol=1e-4)
    assert model.output == "logits"
