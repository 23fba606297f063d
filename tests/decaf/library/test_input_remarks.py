"""Remarks on inputs of the library that the user probably did not mean."""

import numpy as np
import pytest

import decaf as library

UNIT = np.random.default_rng(1).random((3, 1, 8, 8), np.float32)


def test_ranges_on_one_scale_are_not_remarked_on():
    score = lambda x: x.mean(axis=tuple(range(1, x.ndim)))  # noqa: E731
    signals = np.random.default_rng(0).normal(size=(4, 2, 9))
    for factual, counterfactual in (
        (UNIT, UNIT / 30),  # a dark image
        (UNIT, UNIT * 0),
        (UNIT, UNIT * 1.2 - 0.1),
        (signals, signals * 4),
        (signals, signals * 0),
        (signals[:, 0], signals[:, 0] * 1000),  # columns of a table
    ):
        library.audit(score, factual, counterfactual, path=library.Blend(sigma=0), epsilon=1e-9)


def test_one_image_without_a_batch_axis_is_remarked_on():
    image = np.random.default_rng(0).random((3, 16, 24), np.float32)
    with pytest.warns(library.DataWarning, match=r"3 inputs .*x_plus\[None\]"):
        library.audit(lambda x: x.mean((1, 2)), image, image[:, ::-1] / 2)
