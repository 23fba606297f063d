"""Columns that are functions of a changed column, by hand."""

import numpy as np
import pandas as pd

from decaf.data.column_functions import list_functions
from decaf.data.frames import FrameSchema


def functions_in(frame, *names):
    columns = FrameSchema.of(frame)
    return list_functions(columns, columns.pack(frame), names)


def frame_of(count=24, rows_per_value=3):
    place = np.arange(count) // rows_per_value
    return pd.DataFrame(
        {
            "code": [f"c{n:02d}" for n in place],
            "region": [f"r{n // 4}" for n in place],
            "height": place * 2.5,
            "same": 1.0,
            "own": np.arange(count) * 1.0,
        }
    )


def test_functions_of_a_column_are_listed():
    frame = frame_of()
    assert functions_in(frame, "code", "region", "own") == {"code": ("region", "height")}
    frame.loc[1, "region"] = "r1"
    assert functions_in(frame, "code") == {"code": ("height",)}


def test_missing_values_of_the_named_column_do_not_count():
    frame = frame_of()
    frame.loc[[0, 3], "height"] = np.nan
    assert functions_in(frame, "height") == {"height": ("code", "region")}


def test_few_repeats_and_few_rows_suggest_nothing():
    assert functions_in(frame_of(18), "code") == {}
    frame = frame_of(24, 2)
    assert functions_in(frame, "code") == {"code": ("region", "height")}
    frame.loc[0, "code"] = "another"  # 13 values in 24 rows
    assert functions_in(frame, "code") == {}
