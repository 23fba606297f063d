"""Data frames as plain arrays and back: examples by hand, then round trips of both libraries."""

import json
import re

import numpy as np
import pandas as pd
import polars
import pytest
from ended_commands import run_code, succeeded
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from polars.testing import assert_frame_equal as assert_equal

from decaf.data.frame_columns import Column
from decaf.data.frames import FrameSchema, library_of
from decaf.errors import DataError

JOBS = pd.CategoricalDtype(["cook", "smith", "miner"])
FRAME = pd.DataFrame(
    {
        "age": pd.Series([40, 31], dtype="int64"),
        "pay": pd.Series([2.5, None], dtype="float64"),
        "owner": pd.Series([True, False]),
        "job": pd.Series(["smith", None], dtype=JOBS),
        "town": pd.Series(["Ulm", "Bonn"]),
    }
)
VALUES = [
    [40, 2.5, 1, 1, 0, 1, 0, 0, 1],  # age, pay and if it is there, owner, jobs, towns
    [31, 0.0, 0, 0, 0, 0, 0, 1, 0],
]


@pytest.fixture
def schema():
    return FrameSchema.of(FRAME)


def decoded(schema, *rows):
    return schema.decode(np.array(rows, np.float64))


def test_a_frame_is_these_values_and_back(schema):
    encoded = schema.encode(FRAME)
    assert encoded.tolist() == VALUES
    assert encoded.dtype == np.float64
    assert_frame_equal(schema.decode(encoded), FRAME)
    assert schema.regions.tolist() == [1, 2, 2, 3, 4, 4, 4, 5, 5]
    assert schema.non_number_names == ["pay", "job", "town"]
    assert json.loads(json.dumps(schema.identity))["columns"][3]["categories"] == [*JOBS.categories]


def test_a_number_is_divided_by_how_far_it_is_there():
    frame = pd.DataFrame({"pay": [2.0, None], "n": pd.array([7, None], "Int64")})
    schema = FrameSchema.of(frame, frame)
    found = decoded(schema, [1.5, 0.75, 3.5, 0.5], [5.0, 1.25, 7.0, 0.49], [0.4, 0.0, 0.0, 0.0])
    assert found["pay"].to_list()[:2] == [2, 4]
    assert found["n"].to_list()[0] == 7
    assert found.isna().to_numpy().tolist() == [[False, False], [False, True], [True, True]]
    same = schema.decode_distinct(np.array([[0.4, 0.2, 7, 1], [0.1, 0.0, 7, 1]]))
    assert same.places.inverse.tolist() == [0, 0]


def test_columns_are_found_by_name(schema):
    assert schema.encode(FRAME[FRAME.columns[::-1]]).tolist() == VALUES


def test_between_two_rows_both_branches_share_the_start(schema):
    """Half way: 35.5 to the even 36, pay stays, true, of smith and none smith, Ulm ties Bonn."""
    middle = np.mean(VALUES, axis=0)
    found = decoded(schema, middle).iloc[0]
    assert found.to_list() == [36, 2.5, True, "smith", "Bonn"]
    ahead, behind = (decoded(schema, middle + 0.1 * (row - middle)).iloc[0] for row in VALUES)
    assert ahead.to_list() == [36, 2.5, True, "smith", "Ulm"]
    assert behind["age"] == 35
    assert not behind["owner"]
    assert behind.isna().to_list() == [False, True, False, True, False]


def test_a_category_is_missing_where_less_than_half_of_it_is_there(schema):
    rows = np.array([VALUES[0]] * 3)
    rows[:, 4:7] = [0, 0.4, 0.1], [0.2, 0.2, 0.09], [-1, 0.8, 0.8]
    found = decoded(schema, *rows)["job"]
    assert found.isna().to_list() == [False, True, False]
    assert found[0] == "smith"
    assert found[2] == "smith"  # the first of equal ones


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [("uint8", -3.0, 0), ("int8", 200.0, 127), ("int64", 1e300, 2**53 - 1), ("int16", 0.5, 0)],
)
def test_whole_numbers_stay_within_their_type(dtype, value, expected):
    frame = pd.DataFrame({"n": pd.Series([1], dtype=dtype)})
    assert decoded(FrameSchema.of(frame), [value])["n"].to_list() == [expected]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_frame_of_floats_is_its_own_array(dtype):
    array = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    frame = pd.DataFrame(array, columns=list("abc"))
    schema = FrameSchema.of(frame)
    encoded = schema.encode(frame)
    assert encoded.dtype == dtype
    assert schema.non_number_names == []
    assert encoded.tobytes() == array.tobytes()
    assert schema.decode(encoded).to_numpy().tobytes() == array.tobytes()


def test_text_has_the_categories_of_all_frames():
    schema = FrameSchema.of(pd.DataFrame({"t": ["b"]}), pd.DataFrame({"t": ["c", "a"]}))
    assert schema.columns[0].categories == ("a", "b", "c")


def test_none_and_nan_in_objects_stay_what_they_are():
    for gone in (None, np.nan):
        frame = pd.DataFrame({"t": pd.Series(["x", gone], dtype=object)})
        schema = FrameSchema.of(frame)
        assert schema.decode(schema.encode(frame))["t"][1] is gone


def of(**columns):
    return pd.DataFrame(columns)


REFUSED = {
    "another type": ((of(x=[1]), of(x=["a"])), "column 'x' is int64 in one frame and str in"),
    "another column": ((of(x=[1]), of(y=[1])), "missing x, unexpected y"),
    "dates": ((of(x=pd.to_datetime(["2020-01-01"])),), "column 'x' holds datetime64; expected num"),
    "lists": ((of(x=[[1], [2]]),), "column 'x' holds mixed; expected numbers"),
    "nothing": ((of(x=pd.Series([None, None], dtype=object)),), "column 'x' holds empty"),
    "many": ((of(x=[f"{n}" for n in range(1001)]),), "has 1,001 categories; expected 1 to 1,000"),
    "two marks": ((of(x=pd.Series(["a", None, np.nan], dtype=object)),), "both None and NaN"),
    "twice": ((pd.DataFrame([[1, 2]], columns=["x", "x"]),), "'x'; expected names that are text"),
    "number": ((pd.DataFrame([[1, 2]]),), "a column 0; expected names that are text, each once"),
    "declared": (
        (of(x=pd.Categorical(["a"])), of(x=pd.Categorical(["b"]))),
        "categories=x_plus['x'].cat.categories)",
    ),
    "arrays": ((np.zeros((2, 2)),), "frames are of numpy; expected all of pandas, or all of pol"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_frames_that_cannot_be_described_say_why(name):
    frames, words = REFUSED[name]
    with pytest.raises(DataError, match=re.escape(words)):
        FrameSchema.of(*frames)


STRANGE = {
    "infinite": ({"pay": [np.inf, 1.0]}, "column 'pay' is inf in row 1; expected finite"),
    "unknown": ({"town": ["Ulm", "Rom"]}, "column 'town' has the value 'Rom'; expected one of Bo"),
    "large": ({"age": [1, 2**53]}, "column 'age' is 9.0072e+15 in row 2; expected finite numbers"),
    "type": ({"age": [1.5, 2.5]}, "column 'age' is float64; expected int64"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_rows_of_another_kind_are_refused(schema, name):
    changes, words = STRANGE[name]
    with pytest.raises(DataError, match=re.escape(words)):
        schema.encode(FRAME.assign(**changes))


def test_a_missing_number_is_refused_where_there_was_none():
    full = of(x=[1.0, 2.0])
    with pytest.raises(DataError, match="column 'x' .* row 2"):
        FrameSchema.of(full).encode(of(x=[1.0, None]))


def test_values_of_another_width_are_refused(schema):
    with pytest.raises(DataError, match=r"\(1, 3\); .* \(rows, 9\)"):
        decoded(schema, [1, 2, 3])


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=3)
OPTIONAL = {
    "float64": st.floats(allow_infinity=False),
    "Float32": st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32),
    "Int16": st.none() | st.integers(-(2**15), 2**15 - 1),
    "int64": st.integers(1 - 2**53, 2**53 - 1),
    "uint8": st.integers(0, 255),
    "bool": st.booleans(),
    "boolean": st.none() | st.booleans(),
    "str": st.none() | TEXT,
    "string": st.none() | TEXT,
    "category": st.none() | TEXT,
}
"""Values of every pandas type."""


@st.composite
def pandas_frames(draw):
    count = draw(st.integers(1, 5))
    columns = {}
    for place, dtype in enumerate(draw(st.lists(st.sampled_from(sorted(OPTIONAL)), min_size=1))):
        values = draw(st.lists(OPTIONAL[dtype], min_size=count, max_size=count))
        if all(value is None for value in values):
            values[0] = draw(OPTIONAL[dtype].filter(lambda value: value is not None))
        columns[f"c{place}"] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns)


@settings(max_examples=25)
@given(pandas_frames())
def test_every_pandas_frame_comes_back(frame):
    schema = FrameSchema.of(frame)
    encoded = schema.encode(frame)
    assert encoded.shape == (len(frame), schema.width)
    assert np.isfinite(encoded).all()
    assert_frame_equal(schema.decode(encoded), frame)
    assert FrameSchema.of(frame) == schema


@settings(max_examples=15)
@given(st.data())
def test_every_polars_frame_comes_back(data):
    levels = ["red", "green", "blue"]
    kinds = {
        polars.Float32: st.floats(allow_infinity=False, width=32),
        polars.Float64: st.none() | st.floats(allow_nan=False, allow_infinity=False),
        polars.Int64: st.none() | st.integers(1 - 2**53, 2**53 - 1),
        polars.UInt8: st.integers(0, 255),
        polars.Boolean: st.none() | st.booleans(),
        polars.String: st.none() | TEXT,
        polars.Categorical: st.none() | st.sampled_from(levels),
        polars.Enum(levels): st.none() | st.sampled_from(levels),
    }
    count = data.draw(st.integers(1, 5))
    columns = {"some": polars.Series(["x"] * count)}
    for dtype, values in kinds.items():
        drawn = data.draw(st.lists(values, min_size=count, max_size=count))
        if any(value is not None for value in drawn):
            columns[str(dtype)] = polars.Series(drawn, dtype=dtype, strict=False)
    frame = polars.DataFrame(columns)
    schema = FrameSchema.of(frame)
    encoded = schema.encode(frame)
    assert np.isfinite(encoded).all()
    back = schema.decode(encoded)
    assert back.schema == frame.schema
    assert_equal(back, frame, categorical_as_str=True)  # as such, older polars compares none


def test_no_library_of_frames_is_imported_to_find_out():
    code = (
        "import sys, numpy; from decaf.data.frames import library_of, FrameSchema, Column;"
        "assert library_of(numpy.zeros(2)) is None;"
        "print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    assert succeeded(run_code(code)) == "set()\n"
    assert library_of(FRAME) == "pandas"
    assert library_of(FRAME["age"]) is None
    assert Column("x", "float64", "number", missing="nan").width == 2


def test_rows_that_decode_to_the_same_row_are_built_once(schema):
    first, second = np.array(VALUES, np.float64)
    batch = schema.decode_distinct(np.stack([second, first, first + 0.4 * (first == 40), second]))
    assert batch.places.first.tolist() == [0, 1]
    assert batch.places.inverse.tolist() == [0, 1, 1, 0]
    assert_frame_equal(batch.frame, FRAME[::-1].reset_index(drop=True))


@settings(max_examples=30)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 0.2, 0.3, 0.5, 0.6, 1.0]), min_size=9, max_size=9),
        min_size=1,
        max_size=12,
    )
)
def test_distinct_rows_are_those_of_decode(rows):
    schema, values = FrameSchema.of(FRAME), np.array(rows)
    decoded, (frame, places) = schema.decode(values), schema.decode_distinct(values)
    assert_frame_equal(frame.iloc[places.inverse].reset_index(drop=True), decoded)
    for row, values_of_row in enumerate(values):
        jobs, towns = values_of_row[4:7], values_of_row[7:9]
        for name, block, categories in (
            ("job", jobs, JOBS.categories),
            ("town", towns, ["Bonn", "Ulm"]),
        ):
            expected = categories[block.argmax()] if block.sum() >= 0.5 else None
            value = decoded[name][row]
            assert value == expected or (expected is None and pd.isna(value))
