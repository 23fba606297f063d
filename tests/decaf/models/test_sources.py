"""What every source of models has to keep: its card is known by whatever changes outputs."""

from pathlib import Path

import pytest

from decaf.foundation.plugins import members
from decaf.models.card import ModelCard
from decaf.models.sources.endpoint import EndpointCard
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.function import FunctionCard
from decaf.models.sources.mlflow_server import MlflowServerCard
from decaf.models.sources.network import NetworkCard
from decaf.models.stochastic import Stochastic

FED = {"input_size": None, "mean": [0.5] * 3, "std": [0.5] * 3}
NETWORK = NetworkCard(
    id="one", family="any", architecture="timm:resnet18", weights="one.safetensors", **FED
)
ESTIMATOR = EstimatorCard(id="one", family="any", source="estimator", file="one.skops")
AVERAGE_RANKS = "decaf.statistics.ranks:average_ranks"
FUNCTION = FunctionCard(
    id="one", family="any", source="function", function=AVERAGE_RANKS, output="value"
)
ENDPOINT = EndpointCard(
    id="one", family="any", source="endpoint", url="http://a", version="1", output="value"
)
SERVED = MlflowServerCard(
    id="one", family="any", source="mlflow_server", model="one", python="python3", output="value"
)
CHANGED = (
    (
        NETWORK,
        {
            "architecture": "timm:resnet34",
            "arguments": {"num_classes": 3},
            "entry": "state_dict",
            "prefix": "module.",
            "leave_out": ("criterion.",),
            "pretrained": "a1_in1k",
            "input_size": 96,
            "shorter_side": 256,
            "interpolation": "nearest",
            "mean": (0.4,) * 3,
            "std": (0.4,) * 3,
            "compile_mode": "default",
            "precision": "bfloat16",
            "memory_format": "channels_last",
            "output": "probabilities",
        },
    ),
    (
        ESTIMATOR,
        {
            "method": "predict",
            "classes": (1, 0),
            "missing": -1.0,
            "columns": "by_position",
            "output": "logits",
        },
    ),
    (
        FUNCTION,
        {
            "function": "decaf.statistics.ranks:spearman",
            "arguments": {},
            "files": (Path(__file__),),
            "output": "logits",
            "input": "frame",
        },
    ),
    (
        ENDPOINT,
        {
            "url": "http://b",
            "version": "2",
            "encoding": "base64",
            "output": "logits",
            "columns": ("a",),
            "flatten": True,
        },
    ),
    (SERVED, {"output": "logits", "missing": -1.0}),
)
NAMES = {"id", "family", "source", "sha256"}
BY_CONTENT = {"weights", "training", "epoch", "epoch_rule", "checkpoints", "file", "trusted"}
BY_CONTENT |= {"unpickle", "model", "url"}
TRANSPORT = {"rows_per_request", "timeout_seconds", "deadline_seconds", "headers"}
TRANSPORT |= {"retries", "backoff_seconds", "longest_backoff_seconds", "timeout"}
TRANSPORT |= {"python", "start_seconds"}


def identity(card):
    """Both digests, the first where it does not depend on a file alone."""
    by_file = isinstance(card, NetworkCard | EstimatorCard | MlflowServerCard)
    return None if by_file else card.weights_digest(), card.scoring_digest


CASES = [(card, field, value) for card, changes in CHANGED for field, value in changes.items()]
CASES += [(card, "stochastic", Stochastic(repeats=3)) for card, _ in CHANGED]


@pytest.mark.parametrize(("card", "field", "value"), CASES)
def test_what_changes_outputs_changes_the_identity(card, field, value):
    other = card.model_copy(update={field: value})
    assert identity(card) != identity(other)
    assert identity(card) == identity(card.model_copy())


@pytest.mark.parametrize(("card", "changes"), CHANGED)
def test_every_field_either_changes_outputs_or_does_not(card, changes):
    unchanged = type(card).model_fields.keys() - changes.keys()
    assert unchanged <= NAMES | BY_CONTENT | TRANSPORT | {"stochastic"}


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ("python3", "python3"),  # found by PATH
        ("env/bin/python", "{here}/env/bin/python"),
        ("/opt/mlflow/bin/python", "/opt/mlflow/bin/python"),
    ],
)
def test_an_interpreter_is_the_same_for_a_worker_in_another_folder(
    tmp_path, monkeypatch, given, called
):
    monkeypatch.chdir(tmp_path)
    card = MlflowServerCard.model_validate(SERVED.model_dump() | {"python": given})
    assert str(card.python) == called.format(here=tmp_path)


def test_no_source_is_left_out():
    assert {type(card) for card, _ in CHANGED} == set(members(ModelCard))
