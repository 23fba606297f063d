"""A scoring server that is started for a model and ended with it; here a small one of our own."""

import json
import os
import sys
from pathlib import Path

import psutil
import pytest
import torch
import yaml

from decaf.errors import ModelError
from decaf.models.sources.mlflow_server import MlflowServerCard

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
        ("nothing", "it ended, or said nothing for 0.5 s"),
        ([3], "it ended, or said nothing"),
    ],
)
def test_a_server_that_does_not_start_is_ended_and_told(card, said, words, monkeypatch):
    monkeypatch.setattr("decaf.models.sources.mlflow_server.END_SECONDS", 0.5)
    with pytest.raises(ModelError, match=words):
        card(said, start_seconds=0.5 if said == "nothing" else 60).load("cpu")
    assert own_servers() == []


def test_an_interpreter_that_is_none(card):
    with pytest.raises(ModelError, match=r"/no/python cannot be run: No such file.*'python:'"):
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
