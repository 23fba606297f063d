"""Columns that follow from a changed column, by hand."""

import numpy as np
import pandas as pd

from decaf.data.column_proxies import ChangedRows, list_proxies
from decaf.data.frames import FrameSchema


def proxies_in(frame, *names, rows=slice(None), **changed):
    """Functions of columns, of which ``rows`` get new values, else those of the table upside down.

    Changed columns are ``names`` and those of ``changed``.
    """
    columns = FrameSchema.of(frame)
    new = frame.copy()
    for name in names:
        new[name] = frame[name].to_numpy()[::-1]
    for name, values in changed.items():
        new.loc[rows, name] = values
    every_row = np.arange(len(frame))
    change = ChangedRows("turned", columns.pack(new), every_row, every_row)
    changed_columns = {"turned": [*names, *changed]}
    found = list_proxies(columns, columns.pack(frame), [change], changed_columns)
    return found.get("turned", {})


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


def test_columns_that_follow_from_another_are_listed():
    frame = frame_of()
    assert proxies_in(frame, "code") == {"code": ("region", "height")}
    # The region follows from each of them, so they cannot stay if it changes.
    assert proxies_in(frame, "region") == {"region": ("code", "height")}
    assert proxies_in(frame, "own") == {}


def test_a_column_that_changes_too_is_left_out():
    frame = frame_of()[["code", "region", "own"]]
    assert proxies_in(frame, "code", "region") == {}


def test_a_relation_that_the_changed_rows_keep_is_left_out():
    frame = frame_of()
    # Within each region, each row gets the code of the row one code further on.
    within = [*frame["code"][3:12], *frame["code"][:3], *frame["code"][15:], *frame["code"][12:15]]
    assert proxies_in(frame, code=within) == {"code": ("height",)}
    # Few rows change, and none of them fits.
    assert proxies_in(frame, rows=[0], code=["c05"]) == {"code": ("region", "height")}
    assert proxies_in(frame, rows=[0], code=["c01"]) == {"code": ("height",)}


def test_a_removed_column_has_all_its_proxies():
    frame = frame_of()
    columns, every_row = FrameSchema.of(frame), np.arange(24)
    parts = columns.pack(frame)
    change = ChangedRows("without region", parts, every_row, every_row, is_removal=True)
    found = list_proxies(columns, parts, [change], {"without region": ["region"]})
    assert found == {"without region": {"region": ("code", "height")}}


def test_proxies_of_several_changes_of_one_type_are_united():
    frame = frame_of()[["code", "region", "own"]]
    columns, every_row = FrameSchema.of(frame), np.arange(24)
    parts = columns.pack(frame)
    new = frame.assign(code=frame["code"].to_numpy()[::-1])
    breaking = ChangedRows("moved", columns.pack(new), every_row, every_row)
    keeping = ChangedRows("moved", parts, every_row, every_row)
    for changes in ([breaking, keeping], [keeping, breaking]):
        found = list_proxies(columns, parts, changes, {"moved": ["code"]})
        assert found == {"moved": {"code": ("region",)}}


def test_a_column_that_almost_follows_from_another_is_listed():
    frame = frame_of()  # 12 of 24 rows have the region r0
    frame.loc[1, "region"] = "r1"  # 13 have r1; of the 11 others, the code gives 10: 0.91
    assert proxies_in(frame, "code") == {"code": ("region", "height")}
    frame.loc[4, "region"] = "r1"  # 14 and 10, of which 8: 0.8
    assert proxies_in(frame, "code") == {"code": ("height",)}


def test_a_column_with_one_frequent_value_is_not_listed():
    frame = frame_of()
    frame["rare"] = [*("yes",), *("no",) * 23]  # every code gives "no", as do all rows
    assert proxies_in(frame, "code") == {"code": ("region", "height")}


def test_missing_values_of_the_changed_column_do_not_count():
    frame = frame_of()
    frame.loc[[0, 3], "height"] = np.nan
    assert proxies_in(frame, "height") == {"height": ("code", "region")}


def test_few_repeats_and_few_rows_suggest_nothing():
    columns = ["code", "region", "own"]
    assert proxies_in(frame_of(18)[columns], "code") == {}
    frame = frame_of(24, 2)[columns]
    assert proxies_in(frame, "code") == {"code": ("region",)}
    frame.loc[0, "code"] = "another"  # 13 values in 24 rows
    assert proxies_in(frame, "code") == {}
