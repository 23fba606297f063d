"""Missing values against the signature of an MLflow model, before anything is scored."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from data_looks import look_at, refuse_to_look
from mlflow_server import mlflow_python

from decaf.data.frames import FrameSchema
from decaf.errors import ModelError
from decaf.models.mlflow_signature import WITHOUT_FRACTIONS, WITHOUT_MISSING
from decaf.models.sources.endpoint import EndpointCard
from decaf.models.sources.mlflow_server import MlflowServerCard

ROWS = "id,age,income,owner,job\na,62,27.9,True,cook\nb,,37.5,,\nc,33,46.5,False,smith\n"
COMPLETE = ROWS.replace(",,37.5,,\n", ",40,37.5,False,cook\n")
TYPES = {"age": "double", "income": "double", "owner": "string", "job": "string"}


def save_model(folder, columns=TYPES, required=True, **changed):
    """`MLmodel` of a model with a signature, which nothing can load."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = [
        {"type": changed.get(name, kind), "name": name, "required": required}
        for name, kind in columns.items()
    ]
    content = {"flavors": {"python_function": {}}, "signature": {"inputs": json.dumps(inputs)}}
    (folder / "MLmodel").write_text(yaml.safe_dump(content))
    return str(folder)


def card_of(folder, **changed):
    card = {"id": folder.name, "family": "any", "source": "mlflow_server"}
    card |= {"model": save_model(folder, **changed), "python": "/no/python"}
    return card | {"output": "probabilities"}


@pytest.fixture
def served(study, write, tmp_path):
    """Write a study of a table whose model is served by MLflow, with types of columns changed."""

    def written(rows=ROWS, **changed):
        (tmp_path / "rows.csv").write_text(rows)
        data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "id"}
        data["changes"] = {"richer": {"add": {"income": 5}}}
        models = [card_of(tmp_path / "served", **changed)]
        paths = {"blend": {"kind": "blend", "sigma": 0}}
        score = study["score"] | {"target": 1}
        return write({**study, "data": data, "models": models, "score": score, "paths": paths})

    return written


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    ("column", "kind"),
    [("age", "long"), ("age", "integer"), ("owner", "boolean"), ("job", "binary")],
)
def test_a_missing_value_that_a_signature_cannot_hold(served, column, kind, required):
    """An optional column may be absent, but a missing value in it is treated in the same way."""
    config = served(**{column: kind}, required=required)
    refuse_to_look(config, f"'{column}'", kind, "double", "string")


def test_every_command_refuses_it(served, decaf, prefect_server, tmp_path):
    config = served(age="long", owner="boolean")
    words = ("'age'", "long", "'owner'", "boolean", "double")
    for command in ("data", "plan", "doctor"):
        done = decaf(command, config, **prefect_server)
        assert done.returncode != 0
        for word in words:
            assert word in done.stdout + done.stderr
    assert not (tmp_path / "warehouse").exists()


def test_types_that_hold_missing_values_are_accepted(served):
    for changed in ({}, {"age": "float"}, {"income": "long"}):
        look_at(served(**changed))
    look_at(served(COMPLETE, age="long", owner="boolean"))


def test_a_model_that_is_not_there_yet_does_not_stop_a_look_at_the_data(served, tmp_path):
    config = served(age="long")
    (tmp_path / "served" / "MLmodel").unlink()
    look_at(config)


def test_a_re_audit_names_the_column(served, write, decaf, tmp_path):
    settings = yaml.safe_load(served().read_text())
    card = card_of(tmp_path / "registry" / "m" / "1", age="long")
    del card["id"]
    registry = {"kind": "folder", "root": str(tmp_path / "registry")}
    settings["registry"] = {**registry, "cards": {"m": {**card, "model": "."}}}
    settings["models"] = []
    done = decaf("reaudit", write(settings), "--plan")
    assert all(word in done.stdout + done.stderr for word in ("'age'", "long"))


def schema(frame):
    return FrameSchema.of(frame)


def test_a_value_that_a_path_removes_is_never_sent(tmp_path):
    """A category has no missing value in the table, and one on a removal path."""
    frame = pd.DataFrame({"n": pd.Categorical([1, 2]), "x": [0.5, 1.5]})
    columns = schema(frame)
    card = MlflowServerCard.model_validate(
        card_of(tmp_path / "m", columns={"n": "long", "x": "double"})
        | {"python": None, "url": "http://127.0.0.1:9/invocations"}
    )
    model = card.load_for("cpu", columns)
    rows = columns.encode(frame)
    rows[0, :2] = 0
    with pytest.raises(ModelError, match="'n'"):
        model.of_frames(columns).outputs(torch.from_numpy(rows))


def test_fractions_that_mlflow_cuts_off_are_remarked(served):
    rows = COMPLETE.replace("62", "62.0")
    for text, kind, is_told in (
        (rows, "long", True),
        (rows, "double", False),
        (COMPLETE, "long", False),
    ):
        remarks = look_at(served(text, age=kind))["remarks"]
        assert any("'age' (long)" in remark for remark in remarks) == is_told


def test_an_endpoint_whose_signature_nobody_knows(tmp_path):
    frame = pd.DataFrame({"owner": [True, None, False], "age": [1.0, np.nan, 2.0]})
    card = {"id": "e", "family": "any", "source": "endpoint", "url": "http://127.0.0.1:9/"}
    card |= {"version": "1", "output": "value"}
    served, plain = (EndpointCard(**card, encoding=encoding) for encoding in ("mlflow", "records"))
    (remark,) = served.check_columns(schema(frame))
    assert "'owner'" in remark
    assert "'age'" not in remark
    assert served.check_columns(schema(frame.dropna().astype({"owner": bool}))) == ()
    assert plain.check_columns(schema(frame)) == ()


ASKED = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
import mlflow
from fastapi.testclient import TestClient
from mlflow.models import ModelSignature
from mlflow.pyfunc.scoring_server import init
from mlflow.types.schema import ColSpec, Schema

class Echo(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return [repr(value) for value in model_input["x"].tolist()]

answers = []
for number, (kind, required, values) in enumerate(json.load(sys.stdin)):
    signature = ModelSignature(inputs=Schema([ColSpec(kind, "x", required=required)]))
    folder = f"{sys.argv[1]}/{number}"
    mlflow.pyfunc.save_model(
        folder, python_model=Echo(), signature=signature, pip_requirements=[]
    )
    client = TestClient(init(mlflow.pyfunc.load_model(folder)))
    records = [{"x": value} for value in values]
    answer = client.post("/invocations", json={"dataframe_records": records})
    answers.append([answer.status_code, answer.json().get("predictions")])
print(json.dumps(answers))
"""
"""Asks MLflow's scoring server for the values that reach a model."""


@pytest.mark.mlflow
@pytest.mark.slow
def test_mlflow_treats_missing_values_as_the_table_of_types_says(tmp_path):
    kinds = {
        "boolean": [True, None],
        "integer": [3, None],
        "long": [3, None],
        "binary": ["YQ==", None],
        "float": [1.5, None],
        "double": [1.5, None],
        "string": ["a", None],
    }
    asked = [(kind, required, values) for kind, values in kinds.items() for required in (1, 0)]
    fractions = [(kind, 1, [57.5, 0.0]) for kind in WITHOUT_FRACTIONS]
    done = subprocess.run(
        [mlflow_python(), "-c", ASKED, str(tmp_path)],
        input=json.dumps([*asked, *fractions]),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = json.loads(done.stdout.splitlines()[-1])
    for (kind, _, _), (status, values) in zip(asked, answers, strict=False):
        if kind == "boolean":
            assert values == ["True", "False"]
        else:
            assert (status == 400) == (kind in WITHOUT_MISSING)
            assert status == 400 or values[1] == "nan"
    cut = [values for _, values in answers[len(asked) :]]
    assert cut == [["True", "False"], ["57", "0"], ["57", "0"]]
