"""Frames in an audit: the model is called with what it was fitted on."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from decaf import DataWarning, Removal, audit
from decaf.errors import DataError

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
COLUMNS = {"n": [4.0, 0.0], "c": ["x", "y"]}


class Remembering:
    """A score of frames, n plus ten where c is y, that remembers what it was called with."""

    def __init__(self):
        self.frames = []

    def __call__(self, frame):
        self.frames.append(frame)
        is_y = np.array([value == "y" for value in frame["c"]])
        return np.asarray(frame["n"]) + 10 * is_y


def turned(frame):
    """Rows in reverse order, paired by position."""
    rows = frame[::-1]
    return rows.reset_index(drop=True) if isinstance(rows, pd.DataFrame) else rows


@pytest.mark.parametrize("library", LIBRARIES)
class TestOfBothLibraries:
    def test_a_number_and_a_missing_one_change_places_at_once(self, library):
        """A model that is monotone in n, and takes a missing n as 10, never contradicts itself."""
        plus = LIBRARIES[library]({"n": [30.0, 4.1, None, 12.0, 10.01], "c": ["x"] * 5})
        minus = LIBRARIES[library]({"n": [None, None, 25.0, 20.0, None], "c": ["x"] * 5})

        def score(frame):
            n = np.asarray(frame["n"], float)
            return np.where(np.isnan(n), 10, n) / 100

        audited = audit(score, plus, minus)
        d = np.array([0.2, -0.059, -0.15, -0.08, 0.0001])
        at_once, in_steps = [0, 1, 2, 4], 3
        steps = np.linspace(0, 1, 9)
        expected = np.where(steps > 0, d[at_once, None], 0)
        np.testing.assert_allclose(audited.response[at_once, 0], expected, atol=1e-15)
        np.testing.assert_allclose(audited.response[in_steps, 0], steps * d[in_steps], atol=1e-15)
        profiles = audited.profiles
        evidence = [0.1875, 0.0553125, 0.140625, 0.04, 0]  # 15/16 of d, and half of the fourth
        np.testing.assert_allclose(profiles.evidence, evidence, atol=1e-15)
        assert profiles.contradiction.tolist() == [0] * 5
        np.testing.assert_allclose(profiles.fragility, [0] * 4 + [15 / 16 * 1e-4], atol=1e-15)

    def test_a_category_and_a_missing_one_change_places_at_once(self, library):
        plus = LIBRARIES[library]({"n": [0.0] * 3, "c": ["x", None, "y"]})
        minus = LIBRARIES[library]({"n": [0.0] * 3, "c": [None, "y", "x"]})
        values = {"x": 0.5, "y": 0.3}
        audited = audit(
            lambda frame: np.array([values.get(c, 0.1) for c in frame["c"]]), plus, minus
        )
        expected = np.outer([0.4, -0.2, -0.2], np.arange(9) > 0)
        np.testing.assert_allclose(audited.response[:, 0], expected, atol=1e-15)

    def test_removing_a_column_is_by_hand(self, library):
        # The typical row is n = 2 and, the first of equal ones, c = x.
        frame = LIBRARIES[library](COLUMNS)
        audited = audit(Remembering(), frame, stages=2)
        assert audited.ids == ("0/n", "0/c", "1/n", "1/c")
        assert audited.attributions("endpoint_delta").tolist() == [[2, 0], [-2, 10]]
        assert audited.attributions("endpoint_magnitude").tolist() == [[2, 0], [2, 10]]
        assert audited.profiles.to_columns()["feature"].tolist() == ["n", "c"] * 2
        both = audit(Remembering(), frame, stages=2, regions=[1, 1])
        assert both.attributions("endpoint_delta").tolist() == [[2], [8]]
        assert both.ids == ("0/1", "1/1")
        with pytest.raises(DataError, match=r"\(3,\); .* 2 "):
            audit(Remembering(), frame, stages=2, regions=[1, 1, 2])

    def test_the_model_gets_columns_types_and_categories(self, library):
        frame = LIBRARIES[library]({"m": [1, 2], **COLUMNS, "f": np.array([1, 2], np.float32)})
        if library == "pandas":
            frame["c"] = pd.Categorical(frame["c"], ["y", "x", "z"])
            types = frame.dtypes.equals
        else:
            frame = frame.with_columns(pl.col("c").cast(pl.Enum(["y", "x", "z"])))
            types = list(frame.dtypes).__eq__
        score = Remembering()
        audit(score, frame, turned(frame), batch_size=3)
        assert sum(map(len, score.frames)) > 9
        for batch in score.frames:
            assert list(batch.columns) == list(frame.columns)
            assert types(batch.dtypes)
            assert set(batch["c"]) <= {"x", "y"}

    def test_columns_are_found_by_name(self, library):
        frame = LIBRARIES[library](COLUMNS)
        other = LIBRARIES[library]({"c": ["y", "y"], "n": [1.0, 2.0]})
        score = Remembering()
        delta = audit(score, frame, other).profiles.endpoint_delta
        assert delta.tolist() == [4 - 11, 10 - 12]
        assert all(list(batch.columns) == ["n", "c"] for batch in score.frames)

    def test_numbers_alone_are_audited_as_arrays_are(self, library):
        plus, minus = np.random.default_rng(0).normal(size=(2, 6, 2))
        context = np.random.default_rng(1).normal(size=(2, 6, 2))
        frames = [
            LIBRARIES[library](dict(zip("ab", values.T, strict=True)))
            for values in (plus, minus, *context)
        ]

        def product(frame):
            return np.asarray(frame["a"] * frame["b"])

        for options in ({}, {"context": True}):
            of_frames = {"context": tuple(frames[2:])} if options else {}
            of_arrays = {"context": tuple(context)} if options else {}
            found = audit(product, *frames[:2], **of_frames)
            expected = audit(lambda x: x[:, 0] * x[:, 1], plus, minus, **of_arrays)
            np.testing.assert_array_equal(found.response, expected.response)
            assert found.forward_rows == expected.forward_rows

    def test_a_pipeline_that_picks_columns_by_name_is_audited(self, library):
        frame = LIBRARIES[library]({"n": [0.0, 1.0, 2.0, 3.0], "c": ["x", "y", "x", "y"]})
        columns = ColumnTransformer([("n", StandardScaler(), ["n"]), ("c", OneHotEncoder(), ["c"])])
        model = make_pipeline(columns, LogisticRegression()).fit(frame, ["a", "b", "b", "b"])
        other = LIBRARIES[library]({"c": ["y", "x", "y", "y"], "n": [1.0, 1.0, 2.0, 4.0]})
        audited = audit(model, frame, other, target="b")
        expected = model.predict_proba(frame)[:, 1] - model.predict_proba(other)[:, 1]
        np.testing.assert_allclose(audited.profiles.endpoint_delta, expected, atol=1e-12)
        assert all(word in repr(audited) for word in ("predict_proba", "Pipeline", "'b'"))
        assert audit(model, frame, target="b").attributions().shape == (4, 2)

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            ({"n": [1.0, 2.0]}, "missing c"),
            ({**COLUMNS, "d": [1, 2]}, "unexpected d"),
            ({**COLUMNS, "n": [1, 2]}, "column 'n'"),
            ({"n": [1.0], "c": ["x"]}, "x_minus has shape"),
        ],
    )
    def test_frames_that_do_not_fit_are_refused(self, library, other, message):
        with pytest.raises(DataError, match=message):
            audit(Remembering(), LIBRARIES[library](COLUMNS), LIBRARIES[library](other))

    def test_frames_and_arrays_are_not_paired(self, library):
        with pytest.raises(DataError, match="pandas.* polars"):
            audit(Remembering(), LIBRARIES[library](COLUMNS), np.ones((2, 2)))


def test_a_typical_number_is_one_of_those_that_are_there():
    frame = pd.DataFrame({"n": [2.0, np.nan, 6.0, 4.0]})
    seen = []

    def score(batch):
        seen.append(batch)
        return batch["n"].fillna(-1.0)

    audited = audit(score, frame, stages=2)
    assert audited.attributions("endpoint_delta").ravel().tolist() == [-2, -5, 2, 0]
    own = audit(score, frame, path=Removal(value=(3.0, 1.0)), stages=2)
    assert own.attributions("endpoint_delta").ravel().tolist() == [-1, -4, 3, 1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_that_the_estimator_does_not_use(library):
    """Only a change of nothing else is remarked on; dates and new words in them do not matter."""
    count = 60
    rows = {"sex": ["f", "m"] * 30, "age": [*range(count)], "day": [f"d{n}" for n in range(count)]}
    encode_sex = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")
    fitted = LIBRARIES[library]({name: rows[name] for name in ("sex", "age")})
    labels = [n % 3 > 0 for n in range(count)]
    model = make_pipeline(encode_sex, LogisticRegression(max_iter=1000)).fit(fitted, labels)

    def warned(plus, minus):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            frames = map(LIBRARIES[library], (plus, minus))
            audit(model, *frames, target=True, stages=2, epsilon=1e-9)
        assert {one.category for one in caught} <= {DataWarning}
        return [str(one.message) for one in caught]

    other = rows | {"gender": rows["sex"], "town": ["Ulm"] * count}
    changed = {"gender": ["m", "f"] * 30, "town": ["Bonn"] * count}
    unused, proxy = warned(other, other | changed)
    assert "only in gender, town" in unused
    assert "'gender' but not 'sex'" in proxy
    assert warned(other, other | changed | {"sex": ["m", "f"] * 30}) == []
    assert warned(rows, rows | {"sex": ["m", "f"] * 30}) == []
    (remark,) = warned(rows, rows | {"day": ["new"] * count})
    assert "only in day" in remark


def test_a_change_without_a_function_of_the_column():
    rows = pd.DataFrame({"sex": ["f", "m"] * 15, "title": ["Ms", "Mr"] * 15})
    turned_sex = rows.assign(sex=["m", "f"] * 15)

    def warned(minus):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            audit(lambda frame: (frame["title"] == "Ms") * 0.5, rows, minus, stages=3)
        return [str(one.message) for one in caught if "'sex' but not 'title'" in str(one.message)]

    assert len(warned(turned_sex)) == 1
    assert warned(turned_sex.assign(title=["Mr", "Ms"] * 15)) == []


class TestLabels:
    """A model that looks its rows up elsewhere: equal rows are not equal to it."""

    side = pd.Series({"p": 1.0, "q": 10.0, "r": 100.0})

    def score(self, frame):
        return frame["n"] * self.side[frame.index].to_numpy()

    def test_a_batch_has_the_labels_of_its_rows(self):
        frame = pd.DataFrame({"n": [1.0, 1.0, 1.0]}, index=["p", "q", "r"])
        other = pd.DataFrame({"n": [0.0, 0.0, 0.0]})
        audited = audit(self.score, frame, other, batch_size=4)
        assert audited.profiles.endpoint_delta.tolist() == [1, 10, 100]
        assert audited.forward_rows == audited.naive_rows - 3

    def test_removal_has_a_baseline_for_each(self):
        frame = pd.DataFrame({"n": [1.0, 3.0]}, index=["q", "r"])
        audited = audit(self.score, frame, stages=2)
        assert audited.attributions("endpoint_delta").ravel().tolist() == [-10, 100]
        assert audited.q_minus[:, 0].tolist() == [[20, 20], [200, 200]]

    def test_rows_that_have_numbers_alone_share_states(self):
        frame = pd.DataFrame({"n": [1.0] * 3})
        audited = audit(lambda frame: frame["n"], frame, frame - 1)
        assert audited.forward_rows == 17


ROWS = pd.DataFrame({"n": [1.0, 2.0, 4.0]}, index=["a", "b", "c"])
NEXT = ROWS + 1


def first_column(frame):
    return frame["n"]


@pytest.mark.parametrize(
    ("plus", "minus"),
    [
        (ROWS, NEXT[::-1]),
        (ROWS.reset_index(drop=True), NEXT.reset_index(drop=True)[::-1]),
        (ROWS.set_axis(["a", "a", "b"]), NEXT.set_axis(["a", "b", "a"])),
        (
            ROWS.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
            NEXT.set_axis(pd.MultiIndex.from_tuples([("a", 2), ("a", 1), ("b", 1)])),
        ),
    ],
)
def test_row_labels_in_another_order_are_refused(plus, minus):
    with pytest.raises(DataError, match=r"x_minus has .* row [12]\b.*set_axis"):
        audit(first_column, plus, minus, stages=2)
    by_position = audit(first_column, plus, minus.set_axis(plus.index), stages=2)
    expected = (plus["n"].to_numpy() - minus["n"].to_numpy()).tolist()
    assert by_position.profiles.endpoint_delta.tolist() == expected


@pytest.mark.parametrize(
    ("plus_labels", "minus_labels"),
    [
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a", "a", "b"], ["a", "a", "b"]),
        (["a", "b", "c"], [0, 1, 2]),
        ([0, 1, 2], ["a", "b", "c"]),
        ([7, 8, 9], [8, 7, 5]),  # rows matched to neighbours
    ],
)
def test_other_row_labels_are_paired_by_position(plus_labels, minus_labels):
    plus, minus = ROWS.set_axis(plus_labels), NEXT.set_axis(minus_labels)
    assert audit(first_column, plus, minus, stages=2).profiles.endpoint_delta.tolist() == [-1] * 3


@pytest.mark.parametrize("name", ["clusters", "weights", "target"])
def test_series_in_another_order_are_refused(name):
    series = pd.Series([1, 0, 1], index=ROWS.index)
    score = first_column
    if name == "target":
        score = LogisticRegression().fit(ROWS, [0, 1, 1])
    else:
        series += 1
    audit(score, ROWS, NEXT, stages=2, **{"target": None, name: series})
    audit(score, ROWS, NEXT, stages=2, **{name: series[::-1].reset_index(drop=True)})
    with pytest.raises(DataError, match=rf"{name} has .* row 1\b.*set_axis"):
        audit(score, ROWS, NEXT, stages=2, **{name: series[::-1]})


def test_contexts_in_another_order_are_refused():
    with pytest.raises(DataError, match=r"context\[1\] has"):
        audit(first_column, ROWS, NEXT, context=(ROWS, NEXT[::-1]), stages=2)


@pytest.mark.parametrize("library", LIBRARIES)
class TestRemarksOnChanges:
    count = 40

    def columns(self):
        numbers = np.arange(self.count)
        return {"n": numbers + 0.5, "m": numbers // 5, "c": ["x", "y"] * (self.count // 2)}

    def audit_changed(self, library, **changed):
        frame = LIBRARIES[library]
        return audit(Remembering(), frame(self.columns()), frame({**self.columns(), **changed}))

    def test_an_intended_change_needs_none(self, library):
        self.audit_changed(library, c=["y", "x"] * (self.count // 2))  # a warning is an error

    def test_another_unit_in_one_frame_is_remarked(self, library):
        with pytest.warns(DataWarning, match=r"'n' 0\.5 to 39\.5 \(100 % outside\)"):
            self.audit_changed(library, n=np.arange(self.count) * 1000 + 500.0)

    def test_a_change_from_one_number_to_another_needs_none(self, library):
        frame = LIBRARIES[library]
        plus, minus = (frame({**self.columns(), "n": np.full(self.count, n)}) for n in (0.0, 1.0))
        audit(Remembering(), plus, minus)

    def test_shuffled_rows_are_remarked(self, library):
        columns = {name: np.roll(values, 1) for name, values in self.columns().items()}
        with pytest.warns(DataWarning, match="3 of 3 columns .* order"):
            self.audit_changed(library, **columns)

    def test_other_rows_are_remarked(self, library):
        columns = self.columns()
        changed = {"n": columns["n"] / 2 + 0.3, "m": columns["m"] // 2 + 1}
        with pytest.warns(DataWarning, match="every column differs"):
            self.audit_changed(library, **changed, c=["y", "x"] * (self.count // 2))
