"""Remarks of the one-call audit on its pairs and scores."""

import numpy as np
import pandas as pd
import pytest
import torch

from decaf import DataWarning, audit

ROWS = np.random.default_rng(0).random((4, 3))


def total(x):
    return x.sum(1)


@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_equal_pairs_are_counted(of):
    minus = ROWS * [-1, 1, 1]
    minus[:3] = ROWS[:3]
    with pytest.warns(DataWarning, match="3 of 4 pairs are equal"):
        audit(total, of(ROWS), of(minus), epsilon=0.1)


@pytest.mark.parametrize("inputs", [ROWS, pd.DataFrame(ROWS, columns=list("abc"))])
def test_pairs_that_are_all_equal_have_a_stronger_remark(inputs):
    score = total if isinstance(inputs, np.ndarray) else lambda frame: frame["a"].to_numpy()
    with pytest.warns(DataWarning, match=r"all of 4 pairs.*copy\(\)"):
        audit(score, inputs, inputs.copy(), epsilon=0.1)
