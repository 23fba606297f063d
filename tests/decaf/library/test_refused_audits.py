"""Misuse of the one-call audit: each is refused in decaf's own words, or right."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import decaf
from decaf import Blend, ContextChannel, Removal
from decaf.errors import BadInput, DataError, DecafError, ModelError, ResponseError, UnknownName
from decaf.library.inputs import pair_inputs

ROWS = np.random.default_rng(0).random((4, 3))
IMAGES = np.random.default_rng(0).random((4, 3, 8, 8))
BEYOND = 2**53 + 1
DATA_SET = TensorDataset(torch.from_numpy(ROWS), torch.zeros(4))


def total(x):
    return x.sum(axis=tuple(range(1, x.ndim)))


def masked(x, is_hidden=True):
    return np.ma.masked_array(x, np.broadcast_to(is_hidden, x.shape))


OUTPUTS = {
    "complex": (lambda x: total(x) + 1j, "complex128"),
    "complex tensor": (lambda x: torch.zeros(len(x)) + 1j, "complex64"),
    "truths": (lambda x: total(x) > 1, "bool"),
    "words": (lambda x: ["much"] * len(x), "str"),
    "bytes": (lambda x: [b"much"] * len(x), "bytes"),
    "nothing": (lambda x: None, "object"),
    "dicts": (lambda x: [{"q": 1}] * len(x), "object"),
    "dates": (lambda x: total(x).astype("datetime64[s]"), "datetime64"),
    "records": (lambda x: np.zeros(len(x), "f8,i4"), "void"),
    "huge": (lambda x: np.full(len(x), -BEYOND), "2^53"),
    "huge, unsigned": (lambda x: np.full(len(x), 2**63, np.uint64), "2^53"),
    "huge in a tensor": (lambda x: torch.full((len(x),), BEYOND), "2^53"),
    "larger than any type": (lambda x: [10**40] * len(x), "object"),
    "masked": (lambda x: masked(total(x)), "masked"),
    "masked in a list": (lambda x: [masked(row.ravel()[:1]) for row in x], "masked"),
    "ragged": (lambda x: [[1.0], *[[1.0, 2.0]] * (len(x) - 1)], "shapes"),
    "a list of tensors": (lambda x: [torch.ones(1)] * len(x), "torch.stack"),
    "one number": (lambda x: x.sum(), "()"),
    "a row less": (lambda x: total(x)[1:], "(4,)"),
    "a row more": (lambda x: np.append(total(x), 0), "(6,)"),
    "no column": (lambda x: np.zeros((len(x), 0)), "0 columns"),
    "two columns": (lambda x: np.zeros((len(x), 2)), "'target'"),
    "three axes": (lambda x: np.zeros((len(x), 1, 1)), "(5, 1, 1)"),
    "always NaN": (lambda x: total(x) * np.nan, "finite"),
    "always infinite": (lambda x: total(x) + np.inf, "finite"),
}
"""Scores of a batch of five rows, and a value that their message has."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_that_are_no_real_numbers_are_refused(name):
    score, words = OUTPUTS[name]
    with pytest.raises(ModelError) as refusal:
        decaf.audit(score, ROWS, ROWS[::-1], stages=3, batch_size=5)
    assert words in str(refusal.value)


INPUTS = {
    "masked": (masked(ROWS), ROWS, "x_plus", "masked"),
    "masked in one place": (ROWS, masked(ROWS, [True, False, False]), "x_minus", "masked"),
    "a list of masked rows": ([masked(row) for row in ROWS], ROWS, "x_plus", "masked"),
    "beyond 2^53": (np.full((4, 3), BEYOND), np.zeros((4, 3), int), "2^53"),
    "beyond 2^53, tensor": (torch.full((4, 3), BEYOND), ROWS, "2^53"),
    "ragged": ([[1.0], [1.0, 2.0]], ROWS, "x_plus", "shapes"),
    "images of two sizes": ([IMAGES[0], IMAGES[0, :, :4]], IMAGES, "x_plus", "shapes"),
    "complex": (ROWS + 0j, ROWS, "x_plus", "complex128"),
    "truths": (ROWS, ROWS > 1, "x_minus", "bool"),
    "truths of a tensor": (torch.ones(4, 3), torch.ones(4, 3).bool(), "x_minus", "bool"),
    "words": ([["a"]], [["b"]], "x_plus", "str"),
    "objects": (ROWS.astype(object), ROWS, "x_plus", "object"),
    "whole numbers of images": (IMAGES.astype(int), IMAGES, "int64"),
    "half precision": (ROWS.astype(np.float16), ROWS, "float16"),
    "dates": (ROWS.astype("datetime64[s]"), ROWS, "datetime64"),
    "a number": (1.0, 2.0, "x_plus", "x[None]"),
    "one axis": (np.ones(3), np.ones(3), "x_plus", "x[None]"),
    "NaN": (ROWS * np.nan, ROWS, "x_plus", "(0, 0)"),
    "infinity in a tensor": (torch.ones(4, 3), torch.full((4, 3), torch.inf), "x_minus", "(0, 0)"),
    "no input": (ROWS[:0], ROWS[:0], "(0, 3)"),
    "no feature": (ROWS[:, :0], ROWS[:, :0], "(4, 0)"),
    "fewer counterfactuals": (ROWS, ROWS[1:], "x_minus", "(3, 3)"),
    "another number of features": (ROWS, ROWS[:, :2], "x_minus", "(4, 2)"),
    "another type": (ROWS, ROWS.astype(np.float32), "x_minus", "float32", "float64"),
    "another library": (ROWS, torch.from_numpy(ROWS), "x_minus", "torch", "numpy"),
    "a list of tensors": ([torch.ones(3)] * 4, ROWS, "torch.stack"),
    "a data loader": (DataLoader(DATA_SET), ROWS, "x_plus", "DataLoader", "torch.cat"),
    "a data set": (torch.ones(4, 3), DATA_SET, "x_minus", "TensorDataset", "torch.stack"),
    "a dict": ({"a": 1}, ROWS, "x_plus"),
    "channels last": (np.zeros((1, 8, 8, 3), np.uint8), None, "(1, 8, 8, 3)"),
}
"""Both inputs, and values that the message of their refusal has."""


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_that_are_no_real_numbers_are_refused(name):
    plus, minus, *values = INPUTS[name]
    with pytest.raises(DataError) as refusal:
        decaf.audit(total, plus, minus, stages=3)
    assert all(value in str(refusal.value) for value in values)


def test_inputs_on_two_devices_are_refused():
    inputs = {"x_plus": torch.ones(1, 2), "x_minus": torch.ones(1, 2, device="meta")}
    with pytest.raises(DataError, match="x_minus .* meta; .* cpu"):
        pair_inputs(inputs, ["0"])


OPTIONS = {
    "no score": ({"score": "predict"}, ModelError, "str"),
    "a class": ({"score": torch.nn.Linear}, ModelError, "class Linear"),
    "a network that trains": ({"score": torch.nn.Linear(3, 1)}, ModelError, "score (Linear)"),
    "no stage": ({"stages": 0}, ResponseError, "stages"),
    "one stage": ({"stages": 1}, ResponseError, "stages"),
    "stages that end early": ({"stages": [0, 0.5]}, ResponseError, "[0, 1]"),
    "stages that go back": ({"stages": [0, 0.7, 0.3, 1]}, ResponseError, "increase"),
    "NaN as a stage": ({"stages": [0, np.nan, 1]}, ResponseError, "non-finite"),
    "no gate": ({"epsilon": 0}, ResponseError, "epsilon"),
    "a negative gate": ({"epsilon": -1}, ResponseError, "epsilon"),
    "NaN as a gate": ({"epsilon": np.nan}, ResponseError, "epsilon"),
    "an infinite gate": ({"epsilon": np.inf}, ResponseError, "epsilon"),
    "a gate in words": ({"epsilon": "small"}, ResponseError, "epsilon"),
    "a target in words": ({"target": "dog"}, ResponseError, "target"),
    "a negative target": ({"target": -1}, ResponseError, "target"),
    "half a target": ({"target": 0.5}, ResponseError, "target"),
    "a truth as a target": ({"target": True}, ResponseError, "target"),
    "a target that is no column": ({"target": 5}, ModelError, "column 5"),
    "too few targets": ({"target": [0]}, DataError, "target"),
    "too few clusters": ({"clusters": [1]}, DataError, "clusters"),
    "too few ids": ({"ids": ["a"]}, DataError, "ids"),
    "ids twice": ({"ids": ["a", "a", "b", "c"]}, DataError, "ids"),
    "no batch": ({"batch_size": 0}, ResponseError, "batch_size"),
    "half a batch": ({"batch_size": 1.5}, ResponseError, "batch_size"),
    "an unknown path": ({"path": "blond"}, UnknownName, "'blend'"),
    "an unknown path by name": ({"path": {"mine": "blond"}}, UnknownName, "'blend'"),
    "no path": ({"path": {}}, ResponseError, "path"),
    "a class of paths": ({"path": Blend}, ResponseError, "path"),
    "a blur of rows": ({"path": Blend(sigma=1)}, ResponseError, "leave 'sigma' out"),
    "patches of rows": ({"path": "patches"}, BadInput, "images"),
    "removal of a pair": ({"path": Removal()}, DataError, "x_minus"),
    "regions of a pair": ({"regions": [1, 1, 2]}, DataError, "x_minus"),
    "no context": ({"path": ContextChannel()}, DataError, "context"),
    "half a context": ({"context": (ROWS,)}, DataError, "context"),
    "a masked context": ({"context": (ROWS, masked(ROWS))}, DataError, "context[1]"),
    "a context of another shape": ({"context": (ROWS, ROWS[:, :1])}, DataError, "context[1]"),
}
"""Options, the class of their refusal, and a value that its message has."""


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_mean_nothing_are_refused(name):
    options, kind, words = OPTIONS[name]
    given = {"score": total, "x_plus": ROWS, "x_minus": ROWS[::-1], "stages": 3} | options
    with pytest.raises(kind) as refusal:
        decaf.audit(**given)
    assert words in str(refusal.value)
    assert isinstance(refusal.value, DecafError)


ROW, IMAGE = ROWS[:1, :2], IMAGES[:1]
FEATURES = {
    "a path of pairs": (ROW, {"path": "blend"}, "x_minus"),
    "a context": (ROW, {"context": (ROW, ROW)}, "context"),
    "two grids": (IMAGE, {"path": {"a": Removal(side=2), "b": Removal(side=4)}}, "features"),
    "an image whole": (IMAGE, {"path": Removal()}, "'side'"),
    "regions of a grid": (
        IMAGE,
        {"path": Removal(side=2), "regions": np.ones((8, 8), int)},
        "'side'",
    ),
    "a grid of a row": (ROW, {"path": Removal(side=2)}, "images"),
    "a grid of few pixels": (IMAGE[..., :3], {"path": Removal(side=4)}, "4 px"),
    "a number too many": (ROW, {"regions": [1, 2, 3]}, "(3,)", "(2,)"),
    "fractions": (ROW, {"regions": [1.0, 2.0]}, "float64"),
    "none": (ROW, {"regions": [0, 0]}, "0 to 0"),
    "below none": (ROW, {"regions": [-1, 1]}, "-1 to 1"),
    "65 columns": (np.ones((1, 65)), {}, "1 to 65"),
    "masks of another width": (ROW, {"regions": np.ones((2, 3), bool)}, "(2, 3)"),
    "65 masks": (ROW, {"regions": np.ones((65, 2), bool)}, "64"),
    "no mask": (ROW, {"regions": np.ones((0, 2), bool)}, "64"),
    "a mask without its axis": (ROW, {"regions": np.ones(2, bool)}, "(2,)"),
    "a mask of an image": (IMAGE, {"regions": np.ones((8, 8), bool)}, "(8, 8)"),
    "masks of nothing": (ROW, {"regions": np.zeros((2, 2), bool)}, "'0'"),
    "an input without one": (np.ones((2, 2)), {"regions": [[1, 2], [0, 0]]}, "'1'"),
}
"""An input and options of removal, and values that the message of the refusal has."""


@pytest.mark.parametrize("name", FEATURES)
def test_features_that_do_not_fit_are_refused(name):
    x, options, *values = FEATURES[name]
    with pytest.raises(DataError) as refusal:
        decaf.audit(total, x, **options)
    assert all(value in str(refusal.value) for value in values)


def test_a_score_does_not_say_its_mean():
    with pytest.raises(ModelError, match="'value:'"):
        decaf.audit(total, ROW, path=Removal(baseline="mean"))


def test_attributions_need_features_and_a_metric_that_exists():
    with pytest.raises(ResponseError):
        decaf.audit(total, ROW, ROW + 1).attributions()
    with pytest.raises(UnknownName, match="'evidence'"):
        decaf.audit(total, ROW).attributions("evidenc")


@pytest.mark.parametrize(
    "like",
    [
        np.float16,
        np.float32,
        np.longdouble,
        np.int8,
        np.uint64,
        lambda values: masked(values, False),  # noqa: FBT003 - nothing is masked
        lambda values: values[:, None],
        list,
        torch.from_numpy,
        lambda values: torch.from_numpy(values).to(torch.bfloat16),
        lambda values: torch.from_numpy(values).requires_grad_(),
    ],
)
def test_real_numbers_of_any_type_are_taken(like):
    whole = np.arange(12.0).reshape(4, 3)
    audited = decaf.audit(lambda x: like(x.sum(axis=1)), whole, whole[::-1], stages=[0, 1])
    assert audited.q_plus[:, 0, -1].tolist() == [3, 12, 21, 30]


@pytest.mark.parametrize(
    "clusters", [np.ma.masked_array([1, 2, 3, 4], [0, 0, 0, 1]), [1, 2, None, 4], [1, 1, "1", "1"]]
)
def test_clusters_that_name_no_source_are_refused(clusters):
    with pytest.raises(ResponseError, match="clusters has"):
        decaf.audit(total, ROWS, ROWS[::-1], clusters=clusters)


def test_masked_targets_are_refused():
    target = np.ma.masked_array([0, 0, 0, 0], [0, 0, 0, 1])
    with pytest.raises(DataError, match="target has masked"):
        decaf.audit(lambda x: x, ROWS, ROWS[::-1], target=target)


@pytest.fixture
def normalised():
    """A network whose running statistics and draws depend on its mode, in evaluation mode."""
    layers = torch.nn.BatchNorm1d(3), torch.nn.Dropout(), torch.nn.Linear(3, 1)
    return torch.nn.Sequential(*layers).double().eval()


def state_of(network):
    """Every tensor of a network, and the mode of each module."""
    tensors = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    return tensors, [module.training for module in network.modules()]


@pytest.mark.parametrize("called", ["network", "method"])
@pytest.mark.parametrize(("name", "kind"), [("0", "BatchNorm1d"), ("1", "Dropout")])
def test_a_module_in_training_mode_is_named_and_left_as_it_is(normalised, called, name, kind):
    normalised.get_submodule(name).train()
    tensors, modes = state_of(normalised)
    score = normalised if called == "network" else normalised.forward
    with pytest.raises(ModelError, match=rf"{name} \({kind}\).*score\.eval"):
        decaf.audit(score, ROWS, ROWS[::-1].copy(), stages=3)
    _assert_state(normalised, tensors, modes)


def test_an_audit_leaves_a_network_as_it_is(normalised):
    tensors, modes = state_of(normalised)
    minus = torch.from_numpy(ROWS[::-1].copy())
    decaf.audit(normalised, torch.from_numpy(ROWS), minus, stages=3, epsilon=0.02)
    _assert_state(normalised, tensors, modes)


def _assert_state(network, tensors, modes):
    after, modes_after = state_of(network)
    assert all(torch.equal(after[name], tensor) for name, tensor in tensors.items())
    assert modes_after == modes
