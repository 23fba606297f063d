"""The user's own functions as models."""

import sys

import pytest
import torch

from decaf.errors import ModelError, UnknownName
from decaf.models.sources.function import FunctionCard

MODULE = """
import numpy as np

def brightness(batch):
    assert batch.dtype == np.float32
    return batch.reshape(len(batch), -1).mean(axis=1)

def brighter(by):
    return lambda batch: np.stack([brightness(batch), brightness(batch) + by], axis=1)

def words(batch):
    return ["bright"] * len(batch)

def ragged(batch):
    return [[1.0], [1.0, 2.0]]

NUMBER = 3
"""
BATCH = torch.tensor([[[[0.0, 1.0]]], [[[0.5, 1.0]]]])


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_functions", raising=False)
    path = tmp_path / "own_functions.py"
    path.write_text(MODULE)
    return path


def card(function="brightness", **changes):
    settings = {"id": "one", "family": "any", "source": "function", "output": "value"}
    return FunctionCard(function=f"own_functions:{function}", **{**settings, **changes})


def test_a_function_is_called_with_arrays(own_module, tmp_path):
    model = card().load("cpu")
    assert model.output == "value"
    assert model.outputs(BATCH).tolist() == [[0.5], [0.75]]


def test_arguments_make_the_function_first(own_module, tmp_path):
    model = card("brighter", arguments={"by": 0.25}).load("cpu")
    assert model.outputs(BATCH).tolist() == [[0.5, 0.75], [0.75, 1.0]]


@pytest.mark.parametrize(
    ("function", "message"), [("words", "str192"), ("ragged", "own_functions:ragged")]
)
def test_what_is_not_an_array_of_numbers_is_refused(own_module, tmp_path, function, message):
    with pytest.raises(ModelError, match=message):
        card(function).load("cpu").outputs(BATCH)


def test_what_is_not_a_function_is_refused(own_module, tmp_path):
    with pytest.raises(ModelError, match="int"):
        card("NUMBER").load("cpu")
    with pytest.raises(UnknownName, match="did you mean 'brightness'"):
        card("brightnes").load("cpu")


def test_the_identity_is_the_code_and_what_it_reads(own_module, tmp_path):
    (tmp_path / "table.csv").write_text("1,2")
    with_file = card(files=(tmp_path / "table.csv",))
    digests = [card().weights_digest(), with_file.weights_digest()]
    (tmp_path / "table.csv").write_text("1,23")
    digests.append(with_file.weights_digest())
    own_module.write_text(MODULE + "\n# changed\n")
    digests.append(card().weights_digest())
    assert len(set(digests)) == 4

    (tmp_path / "table.csv").unlink()
    with pytest.raises(ModelError, match=r"table\.csv .*'files:'"):
        with_file.weights_digest()


def test_the_name_is_no_part_of_the_identity():
    assert card().preprocessing_digest == card(id="two", family="other").preprocessing_digest
