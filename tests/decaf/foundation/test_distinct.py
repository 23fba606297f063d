"""Distinct rows: examples by hand, then any rows against a loop, also where mixed bits collide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.foundation import distinct
from decaf.foundation.distinct import find_distinct


def columns_of(rows):
    return list(np.array(rows, np.uint64).T)


def test_first_places_ascend():
    first, inverse = find_distinct(columns_of([[3, 1], [2, 1], [3, 1], [1, 2], [2, 1]]))
    assert first.tolist() == [0, 1, 3]
    assert inverse.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("mixing", [distinct.MIXING, 0])
@settings(max_examples=40)
@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=30))
def test_rows_are_those_of_a_loop(mixing, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "MIXING", mixing)  # 0 mixes all rows into the same bits
        first, inverse = find_distinct(columns_of(rows))
    known = list(dict.fromkeys(rows))
    assert [rows[place] for place in first] == known
    assert inverse.tolist() == [known.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in known]
