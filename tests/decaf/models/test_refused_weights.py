"""Weights that a network would take with a silent cast, and those that it takes by right."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from decaf.errors import ModelError
from decaf.models.checkpoint import load_into
from decaf.models.sources.network import NetworkCard, NetworkModel

CAST = {
    "int8": torch.int8,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "bool": torch.bool,
    "complex64": torch.complex64,
}


def network():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def saved(tmp_path, **changed):
    state = {name: tensor.clone() for name, tensor in network().state_dict().items()} | changed
    save_file(state, tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


@pytest.mark.parametrize("kind", CAST)
def test_weights_of_another_kind_are_refused(tmp_path, kind):
    file = saved(tmp_path, **{"0.weight": torch.ones(2, 2).to(CAST[kind])})
    with pytest.raises(ModelError) as refusal:
        load_into(network(), file)
    assert f"0.weight is {kind}, the architecture has float32" in str(refusal.value)


def test_a_counter_of_floats_is_refused(tmp_path):
    file = saved(tmp_path, **{"1.num_batches_tracked": torch.tensor(1.5)})
    with pytest.raises(ModelError, match="float32, .* int64"):
        load_into(network(), file)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_floats_of_another_width_and_counters_are_taken(tmp_path, kind):
    file = saved(tmp_path, **{"0.weight": torch.full((2, 2), 0.5).to(kind)})
    taken = network()
    load_into(taken, file)
    assert taken[0].weight.tolist() == [[0.5, 0.5]] * 2
    assert taken[1].num_batches_tracked.dtype == torch.int64


def test_a_complex_network_is_refused():
    card = NetworkCard(
        id="one",
        family="any",
        architecture="factory:torch.nn:Linear",
        weights="net.safetensors",
        input_size=None,
        mean=(0.0,),
        std=(1.0,),
    )
    with pytest.raises(ModelError, match="complex"):
        NetworkModel(nn.Linear(2, 2, dtype=torch.complex64), card, torch.device("cpu"))
