"""Misuse of the one-call audit: each is refused in decaf's own words, or right."""

import numpy as np
import pytest
import torch

import decaf
from decaf.errors import BadInput, DataError, DecafError, ModelError, ResponseError, UnknownName

ROWS = np.random.default_rng(0).random((4, 3))
IMAGES = np.random.default_rng(0).random((4, 3, 8, 8))
BEYOND = 2**53 + 1


def total(x):
    return x.sum(axis=tuple(range(1, x.ndim)))


def masked(x, is_hidden=True):
    return np.ma.masked_array(x, np.broadcast_to(is_hidden, x.shape))


class Texts:
    """No array, and NumPy cannot make one of it."""

    def __array__(self, *_, **__):
        raise TypeError("no array")


OUTPUTS = {
    "complex": (lambda x: total(x) + 1j, "type complex128; expected real numbers"),
    "complex tensor": (lambda x: torch.zeros(len(x)) + 1j, "type complex64; expected real"),
    "truths": (lambda x: total(x) > 1, "type bool; expected real numbers"),
    "truths of a tensor": (lambda x: torch.ones(len(x)).bool(), "type bool; expected real"),
    "words": (lambda x: ["much"] * len(x), "expected real numbers"),
    "bytes": (lambda x: [b"much"] * len(x), "expected real numbers"),
    "mixed": (lambda x: [1.0, "much"] * (len(x) // 2), "expected real numbers"),
    "nothing": (lambda x: None, "type object; expected real numbers"),
    "objects": (lambda x: [object()] * len(x), "type object; expected real numbers"),
    "missing": (lambda x: [None] * len(x), "type object; expected real numbers"),
    "dicts": (lambda x: [{"q": 1}] * len(x), "type object; expected real numbers"),
    "dates": (lambda x: total(x).astype("datetime64[s]"), "type datetime64"),
    "spans": (lambda x: total(x).astype("timedelta64[s]"), "type timedelta64"),
    "records": (lambda x: np.zeros(len(x), "f8,i4"), "expected real numbers"),
    "huge": (lambda x: np.full(len(x), BEYOND), "whole numbers from 2^53 on"),
    "huge and negative": (lambda x: np.full(len(x), -BEYOND), "whole numbers from 2^53 on"),
    "huge, unsigned": (lambda x: np.full(len(x), 2**63, np.uint64), "numbers from 2^53 on"),
    "huge in a tensor": (lambda x: torch.full((len(x),), BEYOND), "numbers from 2^53 on"),
    "huge in a list": (lambda x: [BEYOND] * len(x), "whole numbers from 2^53 on"),
    "larger than any type": (lambda x: [10**40] * len(x), "type object; expected real"),
    "masked": (lambda x: masked(total(x)), "masked entries"),
    "masked in a list": (lambda x: [masked(row.ravel()[:1]) for row in x], "masked entries"),
    "ragged": (lambda x: [[1.0], *[[1.0, 2.0]] * (len(x) - 1)], "rows of different shapes"),
    "a list of tensors": (lambda x: [torch.ones(1)] * len(x), "torch.stack"),
    "one number": (lambda x: 1.0, "returned shape () for"),
    "a row less": (lambda x: total(x)[1:], "returned shape"),
    "a row more": (lambda x: np.append(total(x), 0), "returned shape"),
    "no row": (lambda x: total(x)[:0], "returned shape (0,)"),
    "no column": (lambda x: np.zeros((len(x), 0)), "returned 0 columns"),
    "two columns": (lambda x: np.zeros((len(x), 2)), "returned 2 columns; say which is q"),
    "three axes": (lambda x: np.zeros((len(x), 1, 1)), "returned shape"),
    "a generator": (lambda x: (value for value in total(x)), "type object"),
    "a network's own class": (lambda x: torch.nn.Identity(), "type object"),
    "always NaN": (lambda x: total(x) * np.nan, "every pair has scores that are not finite"),
    "always infinite": (lambda x: total(x) + np.inf, "every pair has scores that are not finite"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_that_are_no_real_numbers_are_refused(name):
    score, words = OUTPUTS[name]
    with pytest.raises(ModelError) as refusal:
        decaf.audit(score, ROWS, ROWS[::-1], stages=3)
    assert words in str(refusal.value)


INPUTS = {
    "masked": (masked(ROWS), ROWS, "x_plus has masked entries"),
    "masked in one place": (ROWS, masked(ROWS, [True, False, False]), "x_minus has masked"),
    "a list of masked rows": ([masked(row) for row in ROWS], ROWS, "x_plus has masked entries"),
    "beyond 2^53": (np.full((4, 3), BEYOND), np.zeros((4, 3), int), "numbers from 2^53 on"),
    "beyond 2^53, tensor": (torch.full((4, 3), BEYOND), ROWS, "numbers from 2^53 on"),
    "ragged": ([[1.0], [1.0, 2.0]], ROWS, "x_plus holds rows of different shapes"),
    "ragged in depth": ([[[1.0]], [[1.0, 2.0]]], ROWS, "rows of different shapes"),
    "complex": (ROWS + 0j, ROWS, "x_plus has type complex128"),
    "truths": (ROWS > 0, ROWS > 1, "x_plus has type bool"),
    "words": ([["a"]], [["b"]], "x_plus has type str"),
    "objects": (ROWS.astype(object), ROWS, "x_plus has type object"),
    "numbers and words": ([[1.0, "a"]], [[1.0, 2.0]], "x_plus has type str"),
    "nothing": (None, None, "one row for each input"),
    "a number": (1.0, 2.0, "one row for each input"),
    "half precision": (ROWS.astype(np.float16), ROWS, "type float16"),
    "dates": (ROWS.astype("datetime64[s]"), ROWS, "type datetime64"),
    "NaN": (ROWS * np.nan, ROWS, "not finite, the first at (0, 0)"),
    "infinity": (ROWS, ROWS + np.inf, "not finite"),
    "no input": (ROWS[:0], ROWS[:0], "is empty"),
    "no feature": (ROWS[:, :0], ROWS[:, :0], "is empty"),
    "fewer counterfactuals": (ROWS, ROWS[1:], "x_minus has shape (3, 3)"),
    "another type": (ROWS, ROWS.astype(np.float32), "x_minus has type float32"),
    "another library": (ROWS, torch.from_numpy(ROWS), "x_minus has library torch"),
    "a list of tensors": ([torch.ones(3)] * 4, ROWS, "torch.stack"),
    "a dict": ({"a": 1}, ROWS, "one row for each input"),
    "channels last": (np.zeros((1, 8, 8, 3), np.uint8),) * 2 + ("channels last",),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_that_are_no_real_numbers_are_refused(name):
    plus, minus, words = INPUTS[name]
    with pytest.raises(DataError) as refusal:
        decaf.audit(total, plus, minus, stages=3)
    assert words in str(refusal.value)


OPTIONS = {
    "no score": ({"score": None}, ModelError, "score is a NoneType; expected a callable"),
    "a network that trains": ({"score": torch.nn.Linear(3, 1)}, ModelError, "training mode"),
    "no stage": ({"stages": 0}, ResponseError, "stages"),
    "one stage": ({"stages": 1}, ResponseError, "stages"),
    "stages that end early": ({"stages": [0, 0.5]}, ResponseError, "0"),
    "stages that go back": ({"stages": [0, 0.7, 0.3, 1]}, ResponseError, "strictly increase"),
    "NaN as a stage": ({"stages": [0, np.nan, 1]}, ResponseError, "non-finite"),
    "no gate": ({"epsilon": 0}, ResponseError, "epsilon"),
    "a negative gate": ({"epsilon": -1}, ResponseError, "epsilon"),
    "NaN as a gate": ({"epsilon": np.nan}, ResponseError, "epsilon"),
    "an infinite gate": ({"epsilon": np.inf}, ResponseError, "epsilon"),
    "a gate in words": ({"epsilon": "small"}, ResponseError, "epsilon"),
    "a target in words": ({"target": "dog"}, ResponseError, "target"),
    "a negative target": ({"target": -1}, ResponseError, "target"),
    "a target that is no column": ({"target": 5}, ModelError, "no column of the score"),
    "half a target": ({"target": 0.5}, ResponseError, "target"),
    "too few targets": ({"target": [0]}, DataError, "target"),
    "too few clusters": ({"clusters": [1]}, DataError, "clusters"),
    "too few ids": ({"ids": ["a"]}, DataError, "ids"),
    "ids twice": ({"ids": ["a", "a", "b", "c"]}, DataError, "distinct"),
    "no batch": ({"batch_size": 0}, ResponseError, "batch_size"),
    "half a batch": ({"batch_size": 1.5}, ResponseError, "batch_size"),
    "an unknown path": ({"path": "blond"}, UnknownName, "did you mean 'blend'"),
    "no path": ({"path": {}}, ResponseError, "at least one reveal path"),
    "a path of another kind": ({"path": 3}, ResponseError, "expected a reveal path"),
    "patches of rows": ({"path": "patches"}, BadInput, "patches need images"),
    "regions of a pair": ({"regions": [1, 1, 2]}, DataError, "leave x_minus out"),
    "half a context": ({"context": (ROWS,)}, DataError, "context must be two arrays"),
    "a masked context": ({"context": (ROWS, masked(ROWS))}, DataError, "context[1] has masked"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_mean_nothing_are_refused(name):
    options, kind, words = OPTIONS[name]
    given = {"score": total, "x_plus": ROWS, "x_minus": ROWS[::-1], "stages": 3} | options
    with pytest.raises(kind) as refusal:
        decaf.audit(**given)
    assert words in str(refusal.value)
    assert isinstance(refusal.value, DecafError)


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
