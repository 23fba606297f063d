"""Summaries and remarks of scores far from 1, and close to epsilon."""

import numpy as np
import pytest

import decaf

X = np.array([[1.0], [3.0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::decaf.DataWarning")
@pytest.mark.parametrize(
    ("factor", "mean"),
    [(1e-12, "2.000e-12"), (1e12, "2.000e+12"), (1.0, "2.000"), (1e306, "2.000e+306")],
)
def test_scores_of_any_scale_have_four_digits(factor, mean):
    summary = decaf.audit(lambda x: factor * x[:, 0], X, 0 * X, epsilon=factor / 2).summary()
    assert mean in str(summary).splitlines()[1].split()


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::decaf.DataWarning")
def test_a_mean_beyond_the_largest_float_is_printed():
    audited = decaf.audit(lambda x: 1.7e308 * np.tanh(9 * x[:, 0]), X, 0 * X, epsilon=1e298)
    assert "inf" in str(audited.summary()).splitlines()[1].split()


def test_the_largest_difference_is_told_from_epsilon():
    with pytest.warns(decaf.DataWarning, match=r"epsilon 0\.02.* \|d\| is 0\.01999"):
        decaf.audit(lambda x: 0.01999999 / 3 * x[:, 0], X, 0 * X, epsilon=0.02)
