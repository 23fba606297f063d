"""Models of rows of a table: called with the frame that they were fitted on, or with an array."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from model_server import serving
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from decaf.data.frames import FrameSchema
from decaf.errors import ModelError
from decaf.models.sources.endpoint import EndpointCard
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.function import FunctionCard

FRAME = pd.DataFrame({"age": [40, 31], "pay": [2.5, None], "job": ["smith", None]})
COLUMNS = FrameSchema.of(FRAME)
ROWS = torch.from_numpy(COLUMNS.encode(FRAME))
MODULE = """
def kinds(frame):
    return [[len(frame.columns), frame["age"].iloc[row]] for row in range(len(frame))]

def sizes(frame):
    return [[len(frame), age] for age in frame["age"]]

def width(rows):
    return [[*rows.shape]] * len(rows)

def of_array(file, columns):
    import skops.io

    estimator = skops.io.load(file, trusted=["numpy.dtype"])
    return lambda frame: estimator.predict_proba(frame[columns].to_numpy(float))
"""
GIVEN = {"id": "one", "family": "any"}


@pytest.fixture
def card(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "frame_functions.py").write_text(MODULE)

    def made(name, **settings):
        given = {**GIVEN, "source": "function", "output": "value", **settings}
        return FunctionCard(function=f"frame_functions:{name}", **given)

    return made


def test_a_function_is_called_with_the_frame(card):
    model = card("kinds", input="frame").load_for("cpu", COLUMNS)
    assert model.outputs(ROWS).tolist() == [[3, 40], [3, 31]]


def test_rows_that_decode_to_the_same_row_are_asked_once(card):
    """Ages 40.2 and 39.9 are 40; the function says how many rows it gets."""
    model = card("sizes", input="frame").load_for("cpu", COLUMNS)
    rows = ROWS[[0, 0, 1]]
    rows[:, 0] = torch.tensor([40.2, 39.9, 31.0])
    assert model.outputs(rows).tolist() == [[3, 40], [3, 40], [3, 31]]
    assert model.distinct_outputs(rows).tolist() == [[2, 40], [2, 40], [2, 31]]


def test_a_model_of_arrays_gets_the_array_where_columns_are_numbers(card):
    numbers = FRAME[["age"]].assign(height=[1.5, 1.75])
    columns = FrameSchema.of(numbers)
    model = card("width").load_for("cpu", columns)
    assert model.outputs(torch.from_numpy(columns.encode(numbers))).tolist() == [[2, 2], [2, 2]]


def test_what_fits_neither_is_refused(card):
    with pytest.raises(ModelError, match="pay, job"):
        card("width").load_for("cpu", COLUMNS)
    with pytest.raises(ModelError, match="model one"):
        card("kinds", input="frame").load_for("cpu", None)


def test_a_function_calls_a_model_of_arrays_with_missing_values(card, tmp_path):
    rows = np.array([[40, 2.5], [31, np.nan], [25, 1.5], [60, np.nan]])
    fitted = make_pipeline(SimpleImputer(), LogisticRegression()).fit(rows, [0, 1, 0, 1])
    skops.io.dump(fitted, tmp_path / "m.skops")
    estimator = {"source": "estimator", "file": tmp_path / "m.skops", "trusted": ["numpy.dtype"]}
    alone = EstimatorCard(**GIVEN, **estimator)
    with pytest.raises(ModelError, match=r"'input: frame'.*frame\.to_numpy\(\)"):
        alone.load_for("cpu", COLUMNS)
    arguments = {"file": str(tmp_path / "m.skops"), "columns": ["age", "pay"]}
    own = card("of_array", input="frame", output="probabilities", arguments=arguments)
    expected = fitted.predict_proba(rows[:2])
    np.testing.assert_allclose(own.load_for("cpu", COLUMNS).outputs(ROWS), expected)


def test_an_estimator_gets_its_own_columns_by_name(tmp_path):
    numbers = pd.DataFrame({"height": [1.0, 2.0, 3.0], "age": [40, 31, 22]})
    fitted = LinearRegression().fit(numbers, [0.0, 1.0, 0.5])
    skops.io.dump(fitted, tmp_path / "line.skops")
    given = {**GIVEN, "source": "estimator", "method": "predict"}
    estimator = EstimatorCard(file=tmp_path / "line.skops", **given)
    table = numbers[["age", "height"]].assign(job=["a", "b", None])
    columns = FrameSchema.of(table)
    model = estimator.load_for("cpu", columns)
    found = model.outputs(torch.from_numpy(columns.encode(table)))
    assert found[:, 0].tolist() == fitted.predict(numbers).tolist()
    lacking = FrameSchema.of(table[["age", "job"]].rename(columns={"job": "heights"}))
    with pytest.raises(ModelError, match="height; .* 'heights'"):
        estimator.load_for("cpu", lacking)


@pytest.mark.parametrize(("kind", "count"), [(LogisticRegression, 1), (LinearRegression, 0)])
def test_labels_of_a_classifier_as_a_score_are_remarked_on(tmp_path, kind, count):
    skops.io.dump(kind().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.skops")
    given = {**GIVEN, "source": "estimator", "method": "predict"}
    remarks = EstimatorCard(file=tmp_path / "m.skops", **given).load_for("cpu", None).remarks
    assert sum("returns labels of classes" in remark for remark in remarks) == count


def test_an_endpoint_is_sent_records(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def ages(request, number):
        rows = json.loads(request.body)["inputs"]
        return 200, json.dumps({"outputs": [[row["age"]] for row in rows]}), {}

    given = {**GIVEN, "source": "endpoint", "version": "1", "output": "value"}
    with serving(ages) as server:
        remote = EndpointCard(url=server.url, encoding="records", **given)
        found = remote.load_for("cpu", COLUMNS).outputs(ROWS)
        (request,) = server.requests
    assert found.tolist() == [[40], [31]]
    assert json.loads(request.body)["inputs"] == [
        {"age": 40, "pay": 2.5, "job": "smith"},
        {"age": 31, "pay": None, "job": None},
    ]
    with pytest.raises(ModelError, match="model one"):
        remote.load_for("cpu", None)
    with pytest.raises(ModelError, match="'encoding: records'"):
        EndpointCard(url=server.url, **given).load_for("cpu", COLUMNS)
    assert np.isfinite(ROWS.numpy()).all()
