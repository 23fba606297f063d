"""What a change makes of the rows of a table: small frames by hand, and products of any numbers."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from decaf.data.frames import FrameSchema
from decaf.data.table_changes import Change


def applied(change, columns, frame, groups=None):
    """Values of all rows as the change makes them."""
    return columns.spread(change.apply(columns, columns.pack(frame), groups))


def test_a_swap_exchanges_two_columns():
    frame = pd.DataFrame({"x": [1, 2], "y": [5, 2], "z": [0, 0]})
    columns = FrameSchema.of(frame)
    changed = applied(Change(swap=("x", "y")), columns, frame)
    assert changed.tolist() == [[5, 1, 0], [2, 2, 0]]


def test_a_permutation_stays_within_its_group():
    count = 40
    frame = pd.DataFrame({"x": np.arange(count), "y": np.arange(count)})
    columns = FrameSchema.of(frame)
    group = np.arange(count) % 4
    permute = {"column": "x", "within": "g", "seed": 3}
    change = Change.model_validate({"permute": permute})
    changed = applied(change, columns, frame, {"g": group}.get)
    moved = changed[:, 0].astype(int)
    assert (group[moved] == group).all()
    assert sorted(moved) == list(range(count))
    assert (moved != np.arange(count)).any()
    assert (changed[:, 1] == np.arange(count)).all()
    again = applied(change, columns, frame, {"g": group}.get)
    assert (again == changed).all()


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1),
    st.floats(-1e3, 1e3, width=32),
    st.sampled_from(["float64", "float32", "int64", "Int64"]),
)
def test_products_are_those_of_the_numbers(values, factor, dtype):
    rounded = np.rint(values) if dtype in ("int64", "Int64") else np.array(values)
    frame = pd.DataFrame({"x": pd.Series(rounded).astype(dtype)})
    columns = FrameSchema.of(frame)
    rows = columns.encode(frame)
    changed = applied(Change(multiply={"x": factor}), columns, frame)
    exact = rows[:, 0].astype(float) * factor
    expected = np.rint(exact) if "nt" in dtype else exact.astype(rows.dtype)
    np.testing.assert_array_equal(changed[:, 0], expected)
    if dtype != "float32":  # where what is too small to hold keeps its sign
        assert not (np.signbit(changed) & (changed == 0)).any()


def test_a_missing_value_changes_places_too():
    frame = pd.DataFrame({"x": [1.0, np.nan], "y": [3, 4]})
    columns = FrameSchema.of(frame)
    rows = columns.encode(frame)
    assert rows.tolist() == [[1, 1, 3], [0, 0, 4]]
    changes = [Change(permute={"column": "x", "seed": seed}) for seed in range(8)]
    moved = [applied(change, columns, frame).tolist() for change in changes]
    assert rows.tolist() in moved
    assert [[0, 0, 3], [1, 1, 4]] in moved
