"""decaf's own members keep the contracts that strangers' have to keep."""

import json

import featured_images
import funny_birds
import numpy as np
import part_photos
import pytest
import skops.io
from applicants import section
from covertype_table import made_up, write
from model_server import serving, well
from own_data import COLUMNS, rows_of_squares, signals, write_table
from registry_folder import put
from sklearn.linear_model import LogisticRegression

from decaf.contracts.base import COMMON, title
from decaf.contracts.checking import check, check_free_name
from decaf.foundation.plugins import members, name_of
from decaf.plan.places import BASES

MEMBERS = [member for base in BASES for member in members(base)]
NEEDS_A_SERVER = {"endpoints", "mlflow", "mlflow_server"}
"""Tried against a real server in their own tests; here they are only made."""


MODEL = {"id": "one", "family": "any"}
FIXTURES = {
    **{name: name for name in ("network", "function", "estimator", "endpoint", "folder")},
    **{name: name for name in ("image_pairs", "arrays")},
    "superclass_probability": "class_map",
}
FED = {"input_size": 32, "mean": [0.5], "std": [0.5]}
GATE = {"mechanism": "gate", "strength": 0.75}
SETTINGS = {
    "covertype_classifier": {"classifier": "xgboost", **GATE, "seed": 1},
    "endpoints": {"endpoints": [{**MODEL, "url": "http://127.0.0.1:1", "output": "logits"}]},
    "gaussian": {"seeds": [1]},
    "imagenet9_fine_tune": {"root": "photos", "regime": "original", "seed": 1, "pretrained": "x"},
    "kernel_shap": {"rows": 4, "samples": 16, "background": 8},
    "lime": {"rows": 4, "samples": 64},
    "mlflow": {"uri": "http://127.0.0.1:1"},
    "mlflow_server": {**MODEL, "model": "x", "python": "python3", "output": "value"},
    "names": {"names": ["timm:resnet18.a1_in1k"], **FED},
    "part_classifier": {"root": "birds", "seed": 1},
    "scene_shortcut": {"shortcut": 0.9, "seed": 1},
    "scene_task": {"task": "object_color", "seed": 1},
    "scene_variant": {"variant": "robust", "seed": 1},
    "shapes3d": {"sources": 8},
}


@pytest.fixture
def table(tmp_path):
    return {"file": str(write(tmp_path / "covtype.csv", made_up(60))), "drawn_per_class": 40}


@pytest.fixture
def network(tmp_path):
    folder = put(tmp_path / "models" / "leaning" / "1", 0)
    card = {"architecture": "factory:leaning:build", **FED}
    return {**MODEL, **card, "weights": str(folder / "leaning.safetensors")}


@pytest.fixture
def function(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "contract_function.py").write_text("def mean(x):\n    return x[:, 0] * 2\n")
    return {**MODEL, "function": "contract_function:mean", "output": "value"}


@pytest.fixture
def estimator(tmp_path):
    rows = np.random.default_rng(0).random((40, 4))
    skops.io.dump(LogisticRegression().fit(rows, np.arange(40) % 2), tmp_path / "line.skops")
    return {**MODEL, "file": str(tmp_path / "line.skops")}


@pytest.fixture
def endpoint():
    with serving(well) as server:
        yield {**MODEL, "url": server.url, "version": "1", "output": "logits"}


@pytest.fixture
def folder(network, tmp_path):
    return {"root": str(tmp_path / "models")}


@pytest.fixture
def image_pairs(tmp_path):
    write_table(tmp_path / "pairs.csv", rows_of_squares(tmp_path, range(2)))
    return {"pairs": str(tmp_path / "pairs.csv"), "columns": COLUMNS}


@pytest.fixture
def arrays(tmp_path):
    for name, array in zip(("factual", "counterfactual"), signals(3), strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    return {name: str(tmp_path / f"{name}.npy") for name in ("factual", "counterfactual")}


@pytest.fixture
def class_map(tmp_path):
    (tmp_path / "map.json").write_text(json.dumps({str(n): n % 3 for n in range(10)}))
    return {"class_map": str(tmp_path / "map.json"), "classes": 3}


@pytest.fixture
def example(request, member):
    """Settings of a member that has no example of its own, or a slow one; else None."""
    name = name_of(member)
    if member.place.name == "attribution":  # a baseline may have its name
        return None
    if name in FIXTURES:
        return request.getfixturevalue(FIXTURES[name])
    if name in ("covertype", "covertype_classifier"):
        return {"table": request.getfixturevalue("table")} | SETTINGS.get(name, {})
    if name == "table_pairs":
        return section(request.getfixturevalue("tmp_path"), removed=["age"])
    if name == "image_features":
        folder = request.getfixturevalue("tmp_path")
        names = featured_images.photos(folder / "photos")
        coco = featured_images.coco(folder / "parts.json", names)
        return {"images": str(folder / "photos"), "features": coco, "resize": 20, "crop": 16}
    if name == "funnybirds":
        root = funny_birds.write(request.getfixturevalue("tmp_path"), shown=1)
        return {"root": str(root), "operators": ["texture"], "native": True, "dilate": 1}
    if name == "partimagenet":
        root = part_photos.write(request.getfixturevalue("tmp_path"))
        return {"root": str(root), "classes": ["n00000000", "n00000001"], "crop": 8}
    if name == "imagenet9":
        return {"root": str(request.getfixturevalue("photo_root"))}
    return SETTINGS.get(name)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda one: f"{one.place.name}.{name_of(one)}")
def test_a_member_keeps_its_contracts(member, example):
    outcomes = check(member, None if example is None else [example])
    if name_of(member) in NEEDS_A_SERVER:
        outcomes = [one for one in outcomes if one.contract in map(title, COMMON)]
    assert [one for one in outcomes if one.problem] == []
    assert len(outcomes) >= len(COMMON)
    assert check_free_name(member).problem is None
