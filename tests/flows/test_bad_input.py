"""Each kind of bad input: exit code, message, nothing half-written."""

import in_process
import numpy as np
import pytest
import skops.io
import torch
from ended_commands import refused, succeeded
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn
from warehouse_answers import fetched

from decaf.errors import BadInput
from decaf.plan.study import Study


def committed(warehouse):
    return [path for path in (warehouse / "receipts").rglob("*.json") if "units" in path.parts]


def audited(warehouse):
    return fetched(warehouse, "SELECT DISTINCT model_id FROM stg_trajectories")


def test_a_misspelt_key(study, write, fresh_decaf, tmp_path):
    study["epsilom"] = 0.1
    refused(fresh_decaf("run", write(study)), "study.yaml:", "'epsilom'", "'epsilon'")
    assert not (tmp_path / "warehouse").exists()


def test_a_table_that_is_missing_leaves_no_warehouse(study, write, fresh_decaf, tmp_path):
    study["data"] = {
        "adapter": "image_pairs",
        "pairs": str(tmp_path / "none.csv"),
        "classes": [0, 1],
    }
    refused(fresh_decaf("run", write(study)), "none.csv")
    assert not (tmp_path / "warehouse").exists()


def test_a_checkpoint_of_another_architecture(study, write, decaf, prefect_server, tmp_path):
    study["models"][1]["architecture"] = study["models"][0]["architecture"]
    done = decaf("run", write(study), **prefect_server)
    told = refused(done, "small_vit", "does not fit", "check 'architecture:'", code=3)
    assert "small_vit is left out: " in told
    assert audited(tmp_path / "warehouse") == [("small_cnn",)]


@pytest.mark.slow
def test_models_that_cannot_be_opened_or_do_not_fit(study, write, decaf, prefect_server, tmp_path):
    torch.save(nn.Linear(3, 2), tmp_path / "whole.pt")
    pixels, labels = np.random.default_rng(0).random((20, 3072)), np.arange(20) % 2
    skops.io.dump(RandomForestClassifier(2).fit(pixels, labels), tmp_path / "forest.skops")
    skops.io.dump(LinearRegression().fit(pixels, labels), tmp_path / "line.skops")
    skops.io.dump(LogisticRegression().fit(pixels, labels + 5), tmp_path / "other.skops")
    estimator = {"family": "any", "source": "estimator"}
    line = str(tmp_path / "line.skops")
    cnn, vit = study["models"]
    study["models"] = [
        {**cnn, "id": "whole", "weights": str(tmp_path / "whole.pt")},
        {**cnn, "id": "misspelt", "architecture": "factory:decaf.models.networks.small_cnn:biuld"},
        {**cnn, "id": "wide", "arguments": {"width": 5}},
        {"id": "forest", **estimator, "file": str(tmp_path / "forest.skops")},
        {"id": "line", **estimator, "file": line, "method": "predict"},
        {"id": "other", **estimator, "file": str(tmp_path / "other.skops")},
    ]
    why = {
        "whole": "unpickling",
        "misspelt": "'biuld'",
        "wide": "Sequential",
        "forest": "trusted: [sklearn",
        "line": "value",
        "other": "[5, 6]",
    }
    told = []
    for command in (["plan"], ["run"]):
        done = decaf(*command, write(study), **prefect_server)
        told.append(refused(done).rpartition("error: ")[2].splitlines())
        lines = dict(line.split(": ", 1) for line in told[-1])
        assert lines.keys() == why.keys()
        assert all(words in lines[name] for name, words in why.items()), lines
    assert sorted(told[0]) == sorted(told[1])
    assert "is left out" not in done.stderr  # said once, where nothing else is done
    assert committed(tmp_path / "warehouse") == []
    succeeded(decaf("plan", write(study), "--skip-models"))

    # Outputs that are not the classes, of a network that is still to be trained, too.
    recipe = {"recipe": "scene_shortcut", "shortcut": 1, "seed": 1}
    plain = {key: value for key, value in cnn.items() if key != "weights"}
    untrained = {**plain, "id": "untrained", "training": recipe}
    score = {"kind": "class_probability", "classes": 3}
    done = decaf("plan", write({**study, "models": [cnn, vit, untrained], "score": score}))
    for name in ("small_cnn", "small_vit", "untrained"):
        refused(done, f"{name}: the model returned shape (1, 2)", "(rows, 3)")


def test_a_class_that_the_score_does_not_have(photo_study):
    photo_study["score"] = {"kind": "class_probability", "classes": 2}
    with pytest.raises(BadInput, match="class 2.* 2 classes"):
        in_process.planned(Study(**photo_study))


def test_a_command_without_arguments_names_its_options(decaf):
    refused(decaf("status", "study.yaml"), "--warehouse, --study")


@pytest.mark.parametrize("command", [["rnu"], ["run", "--fast", "x"]])
def test_a_misused_command(decaf, command):
    refused(decaf(*command), "decaf --help")
