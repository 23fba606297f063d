"""Registries: what they list, and which entries become models."""

import json
import pickle
import re
from functools import partial

import numpy as np
import pytest
import torch
import yaml
from model_server import serving
from registry_folder import put_small_cnn as put
from registry_folder import registry_study, resolved
from sklearn.linear_model import LogisticRegression

from decaf.errors import ConfigError, RegistryError, UnknownEntry
from decaf.plan.resolution import list_entries, models_of, resolve
from decaf.registry.entries import CARD_FILE

RECIPE = {"recipe": "scene_shortcut", "shortcut": 0.9, "seed": 1}
TOKEN = "t0p-s3cret"


@pytest.fixture
def study(tmp_path):
    """Read a study with a registry: study(registry, **more)."""
    return partial(registry_study, tmp_path)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "zoo"


def test_a_folder_of_models_with_and_without_versions(study, folder):
    put(folder / "plain")
    for version in ("9", "10"):
        put(folder / "versioned" / version, seed=int(version))
    (folder / "versioned" / "aliases.yaml").write_text("champion: 9\n")
    (folder / ".git").mkdir()
    follow = ["latest", "champion", "challenger"]
    found = resolved(study({"kind": "folder", "root": str(folder), "follow": follow}))
    assert {label: one.entry.version for label, one in found.items() if label != "plain"} == {
        "versioned": "10",
        "versioned@champion": "9",
    }
    assert {one.problem for one in found.values()} == {None}
    assert found["plain"].card.weights == folder / "plain" / "net.safetensors"
    assert found["plain"].card.family == "plain"
    assert len({one.model_id for one in found.values()}) == 3


def test_what_is_uploaded_twice_is_one_model(study, folder):
    put(folder / "net" / "1")
    put(folder / "net" / "2")
    (folder / "net" / "2" / "README.md").write_text("the same again")
    (folder / "net" / "aliases.yaml").write_text("champion: 1\n")
    opened = study({"kind": "folder", "root": str(folder), "follow": ["latest", "champion"]})
    found = resolved(opened)
    assert found["net"].entry.digest != found["net@champion"].entry.digest
    assert found["net"].model_id == found["net@champion"].model_id
    assert len(models_of(opened, list(found.values())).models) == 1
    put(folder / "net" / "2", mean=[0.4, 0.5, 0.5])
    changed = resolved(opened)["net"]
    assert changed.model_id != found["net"].model_id
    assert (changed.weights, changed.preprocessing != found["net"].preprocessing) == (
        found["net"].weights,
        True,
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": "mine"}, "has an 'id'; leave it out"),
        ({"weights": "../elsewhere.safetensors"}, "'weights': .* outside of the folder"),
        ({"weights": "/etc/hosts"}, "outside of the folder of its card"),
        ({"weights": "gone.safetensors"}, "gone.safetensors"),
        ({"maen": 1}, "unknown key 'maen'; did you mean 'mean'"),
        (
            {"architecture": "factory:subprocess:run"},
            "names subprocess:run, whose code would run here",
        ),
        ({"architecture": "factory:decaf.networksx:run"}, "names decaf.networksx:run"),
        ({"weights": None, "training": RECIPE}, "has 'training:'; an entry of a registry"),
        ({"mean": ["${HOME}"]}, "'mean.0': expected a number"),
    ],
)
def test_a_card_that_cannot_be_used_fails_alone(study, folder, changed, message):
    put(folder / "good")
    put(folder / "other", **changed)
    found = resolved(study({"kind": "folder", "root": str(folder)}))
    assert found["good"].problem is None
    assert found["other"].model_id is None
    assert re.search(message, found["other"].problem), found["other"].problem


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"source": "function", "function": "os:system", "output": "value"}, "names os:system"),
        (
            {"source": "endpoint", "url": "http://h/", "version": "1", "output": "value"},
            "'source: endpoint'",
        ),
        (
            {"source": "mlflow_server", "model": ".", "python": "/bin/sh", "output": "value"},
            "'source: mlflow_server'",
        ),
        (
            {"source": "estimator", "file": "a.skops", "trusted": ["os.system"]},
            "names os.system, whose code would run here",
        ),
    ],
)
def test_cards_that_would_run_code_or_send_inputs_away_are_refused(study, folder, card, message):
    (folder / "net").mkdir(parents=True)
    (folder / "net" / "a.skops").touch()
    (folder / "net" / CARD_FILE).write_text(yaml.safe_dump(card))
    found = resolved(study({"kind": "folder", "root": str(folder)}))
    assert message in found["net"].problem


def test_an_entry_without_a_card_or_of_another_kind_fails_alone(study, folder):
    (folder / "empty").mkdir(parents=True)
    (folder / "list").mkdir()
    (folder / "list" / CARD_FILE).write_text("- a\n")
    put(folder / "net" / "1")
    (folder / "net" / "aliases.yaml").write_text("champion: 7\n")
    follow = ["latest", "champion"]
    found = resolved(study({"kind": "folder", "root": str(folder), "follow": follow}))
    assert "decaf.yaml" in found["empty"].problem
    assert "list" in found["list"].problem
    assert "7; known: 1" in found["net@champion"].problem
    assert found["net"].problem is None


def test_an_alias_that_is_not_followed_is_named_with_its_remedy(study, folder):
    put(folder / "net" / "1")
    (folder / "net" / "aliases.yaml").write_text("challenger: 1\n")
    registry = study({"kind": "folder", "root": str(folder)}).registry
    with pytest.raises(UnknownEntry, match="challenger.*'follow:'"):
        list_entries(registry, ["net@challenger"])
    assert [entry.label for entry in list_entries(registry, ["net@champion"])] == ["net"]


def test_the_configuration_has_cards_for_entries_without_one(study, folder):
    made = put(folder / "net")
    own = yaml.safe_load((made / CARD_FILE).read_text())
    (made / CARD_FILE).unlink()
    put(folder / "other")

    def found(**card):
        registry = {"kind": "folder", "root": str(folder), "cards": {"net": own | card}}
        opened = study(registry)
        return list_entries(opened.registry), resolved(opened)

    entries, models = found()
    assert {one.problem for one in models.values()} == {None}
    assert models["net"].card.weights == made / "net.safetensors"
    changed, others = found(mean=[0.1, 0.5, 0.5])
    assert [one.name for one in entries if one not in changed] == ["net"]
    assert models["net"].model_id != others["net"].model_id
    # The owner's card may name what a stranger's may not, but no file outside of the entry.
    _, odd = found(weights="../other/net.safetensors")
    assert "'weights': " in odd["net"].problem
    _, mistyped = found(maen=[0.5])
    assert "unknown key 'maen'" in mistyped["net"].problem


def test_a_pickle_is_opened_where_it_is_trusted_by_name(study, folder, tmp_path):
    (folder / "line").mkdir(parents=True)
    estimator = LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
    (folder / "line" / "model.pkl").write_bytes(pickle.dumps(estimator))
    card = {"source": "estimator", "file": "model.pkl"}

    def found(card, **more):
        registry = {"kind": "folder", "root": str(folder), "cards": {"line": card}} | more
        return resolved(study(registry))["line"]

    assert "'unpickle: true'" in found(card).problem
    refused = found(card | {"unpickle": True}, trust=["lines"]).problem
    assert "'trust: [line]'" in refused
    trusted = found(card | {"unpickle": True}, trust=["line"])
    answers = trusted.card.load("cpu").outputs(torch.eye(4)).numpy()
    assert np.array_equal(answers, estimator.predict_proba(np.eye(4, dtype=np.float32)))
    (folder / "line" / CARD_FILE).write_text(yaml.safe_dump(card | {"unpickle": True}))
    own = resolved(study({"kind": "folder", "root": str(folder)}))["line"]
    assert "'trust: [line]'" in own.problem


def test_a_folder_that_is_not_there(study, folder):
    with pytest.raises(RegistryError, match="No such file"):
        list_entries(study({"kind": "folder", "root": str(folder)}).registry)


NAMES = {"kind": "names", "input_size": 224, "mean": [0.5], "std": [0.5]}


def test_names_are_listed_without_their_libraries(study, tmp_path):
    names = ["torchvision:resnet18.IMAGENET1K_V1", "timm:vit_tiny_patch16_224.augreg_in21k_ft_in1k"]
    opened = study(NAMES | {"names": names, "checkpoints": str(tmp_path)})
    entries = list_entries(opened.registry)
    assert [entry.name for entry in entries] == [name.partition(":")[2] for name in names]
    fed = study(NAMES | {"names": names, "checkpoints": str(tmp_path), "input_size": 192})
    digests = {entry.digest for entry in [*entries, *list_entries(fed.registry)]}
    assert len(digests) == 4
    for one in resolve(opened, entries):
        assert str(tmp_path) in one.problem


def test_a_name_that_no_library_has_is_suggested(study):
    names = {"kind": "names", "names": ["torchvision:resnet51.IMAGENET1K_V2"]}
    (one,) = resolved(study(names)).values()
    said = r"cannot be used: unknown torchvision model 'resnet51'; did you mean 'resnet50'\?"
    assert re.search(said, one.problem), one.problem


def test_two_entries_with_one_name(study):
    names = ["torchvision:resnet50.a1_in1k", "timm:resnet50.a1_in1k"]
    with pytest.raises(RegistryError, match=r"lists 'resnet50.a1_in1k' twice: torchvision:.*timm:"):
        list_entries(study(NAMES | {"names": names}).registry)


def endpoint(server, name="remote", **more):
    return {"id": name, "family": "any", "url": server.url, "output": "probabilities"} | more


def test_endpoints_tell_their_version(study, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TOKEN", TOKEN)
    said = {"X-Model-Version": "7"}

    def behave(request, number):
        is_known = request.headers.get("Authorization") == f"Bearer {TOKEN}"
        return (200, "{}", said) if is_known else (401, "who?", {})

    with serving(behave) as server:
        headers = {"Authorization": "Bearer ${TOKEN}"}
        models = [endpoint(server, headers=headers), endpoint(server, "stranger")]
        opened = study({"kind": "endpoints", "endpoints": models})
        first = resolved(opened)
        said["X-Model-Version"] = "8"
        second = resolved(opened)
        del said["X-Model-Version"]
        silent = resolved(opened)
    away = resolved(opened)
    assert (first["remote"].entry.version, second["remote"].entry.version) == ("7", "8")
    assert first["remote"].card.version == "7"
    assert first["remote"].model_id != second["remote"].model_id
    assert "refuses the credentials (status 401)" in first["stranger"].problem
    assert "without the header X-Model-Version" in silent["remote"].problem
    assert "gave no answer: ConnectError" in away["remote"].problem
    kept = opened.model_dump_json() + first["remote"].card.model_dump_json()
    assert TOKEN not in kept + str(opened) + str(first)


def mlflow(server):
    return {"kind": "mlflow", "uri": server.url.removesuffix("/predict")}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((401, "", {}), "refuses the credentials .*MLFLOW_TRACKING_TOKEN"),
        ((500, "", {}), "with status 500"),
        ((200, "<html>", {}), "MLflow .*Invalid JSON"),
        ((200, "[]", {}), "MLflow .*object"),
    ],
)
def test_an_mlflow_server_that_refuses(study, answer, message, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(lambda *_: answer) as server:
        opened = study(mlflow(server))
        with pytest.raises(RegistryError, match=message):
            list_entries(opened.registry)
    with pytest.raises(RegistryError, match="/api.*: ConnectError"):
        list_entries(opened.registry)


def test_models_without_the_alias_that_is_followed_are_counted(study, tmp_path):
    for place in ("net/1", "net/2", "other/1"):
        put(tmp_path / "zoo" / place)
    opened = study({"kind": "folder", "root": str(tmp_path / "zoo"), "follow": ["champion"]})
    with pytest.raises(RegistryError, match="2 models .*'champion'"):
        list_entries(opened.registry)


def test_credentials_of_mlflow_come_from_its_variables(study, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    seen = []

    def behave(request, number):
        seen.append(request.headers.get("Authorization"))
        return 200, json.dumps({}), {}

    with serving(behave) as server:
        opened = study(mlflow(server))
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "word")
        assert opened.registry.entries() == []
        monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", TOKEN)
        with pytest.raises(RegistryError):
            list_entries(opened.registry)
    assert seen == ["Basic bWU6d29yZA=="] * 2 + [f"Bearer {TOKEN}"] * 2


@pytest.mark.parametrize(
    ("registry", "more", "message"),
    [
        ({"kind": "foldr"}, {}, r"'foldr'; .* 'folder'"),
        ({"kind": "mlflow", "uri": "http://u:p@h"}, {}, "put credentials into"),
        ({"kind": "names", **NAMES, "names": ["resnet50"]}, {}, "registry.names.*pattern"),
        ({"kind": "endpoints", "endpoints": [{"id": "a"}]}, {}, "(?s)^(?!.*at least 1).*this key"),
        (None, {}, "give 'models' .*'registry'"),
        (
            {"kind": "folder", "root": "x"},
            {"gates": {"contradicton": {"increase": 1}}},
            "'contradicton'.* 'contradiction'",
        ),
        (
            {"kind": "folder", "root": "x"},
            {"gates": {"evidence": {"confidence": 0.9}}},
            "'increase'",
        ),
    ],
)
def test_settings_that_cannot_be(study, registry, more, message):
    with pytest.raises(ConfigError, match=message):
        study(registry, **more)
