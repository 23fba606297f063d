"""Paths that break their contract are refused before the score is called."""

import numpy as np
import pytest
from broken_paths import BROKEN, Renamed, Rise

from decaf import audit
from decaf.errors import ResponseError

PLUS, MINUS = np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([[1.0, 1.0], [0.25, 0.5]])


def never(x):
    raise AssertionError("the score was called")


@pytest.mark.parametrize("name", BROKEN)
def test_a_path_that_breaks_its_contract_is_refused(name):
    path, words = BROKEN[name]
    with pytest.raises(ResponseError) as refusal:
        audit(never, PLUS, MINUS, path=path, stages=3)
    assert words in str(refusal.value)
    assert f"kind: {name}" in str(refusal.value)


def test_equal_states_may_have_other_content():
    fade, renamed = (
        audit(lambda x: x[:, 0] ** 2, PLUS, MINUS, path=path, stages=3)
        for path in (Rise(), Renamed())
    )
    np.testing.assert_array_equal(renamed.response, fade.response)
    # x is 1/2 + t (0 - 1/2) and 1/2 + t (1 - 1/2): at t = 1/2 the squares are 1/16 and 9/16.
    assert fade.response[0, 0].tolist() == [0, -0.5, -1]
