"""Categories that the encoders of a model know, compared with those of the rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
import torch
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import decaf
from decaf.data.frames import FrameSchema
from decaf.errors import DataError, ModelError
from decaf.models.estimators.encoders import encoded_categories
from decaf.models.sources.estimator import EstimatorCard

ROWS = pd.DataFrame(
    {"area": ["09455", "08014"] * 4, "job": ["cook", "cook", "smith", "smith"] * 2, "age": range(8)}
)
GRANTED = [0, 1] * 4
AREAS, JOBS = frozenset({"08014", "09455"}), frozenset({"cook", "smith"})


def pipeline(encoder):
    columns = ColumnTransformer(
        [("text", encoder, ["area", "job"]), ("number", StandardScaler(), ["age"])]
    )
    return make_pipeline(columns, LogisticRegression())


def ignoring():
    return OneHotEncoder(handle_unknown="ignore")


@pytest.mark.parametrize(
    "encoder",
    [
        ignoring(),
        OrdinalEncoder(),
        make_pipeline(SimpleImputer(strategy="most_frequent"), ignoring()),
        FeatureUnion([("one", ignoring()), ("two", OrdinalEncoder())]),
    ],
    ids=["one hot", "ordinal", "imputed", "union"],
)
def test_categories_of_encoders(encoder):
    model = pipeline(encoder).fit(ROWS, GRANTED)
    filled = {None} if "SimpleImputer" in str(encoder) else set()
    assert encoded_categories(model) == {"area": AREAS | filled, "job": JOBS | filled}
    searched = GridSearchCV(model, {"logisticregression__C": [1.0]}, cv=2).fit(ROWS, GRANTED)
    assert encoded_categories(searched) == encoded_categories(model)


def test_estimators_without_known_columns_have_no_categories():
    texts = ROWS[["area", "job"]]
    assert encoded_categories(None) == {}
    assert encoded_categories(LogisticRegression()) == {}
    assert encoded_categories(ignoring().fit(texts.to_numpy())) == {}
    reduced = make_pipeline(ColumnTransformer([("x", "passthrough", ["job"])]), ignoring())
    assert encoded_categories(reduced.fit(texts)) == {}


def warned(score, plus, minus, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", ".* pairs x_minus equals x_plus")
        decaf.audit(score, plus, minus, stages=2, **options)
    assert {one.category for one in caught} <= {decaf.DataWarning}
    return [str(one.message) for one in caught]


def test_the_library_warns_of_a_category_that_the_encoder_lacks():
    model = pipeline(ignoring()).fit(ROWS, GRANTED)
    (remark,) = warned(model, ROWS, ROWS.assign(area="9455"), target=1)
    assert "'area' has '9455'" in remark
    assert "did you mean '09455'" in remark
    method = model.decision_function
    assert len(warned(method, ROWS, ROWS.assign(job="coock", area="9455"))) == 2
    # The encoder knows a value that no row of x_plus has.
    cooks = ROWS[ROWS.job == "cook"]
    assert warned(model, cooks, cooks.assign(job="smith"), target=1) == []
    assert warned(model, ROWS, ROWS.assign(area="09455"), target=1) == []


def ages(frame):
    return np.asarray(frame["age"], float)


@pytest.mark.parametrize("library", [pd.DataFrame, lambda rows: pl.DataFrame(rows.to_dict("list"))])
def test_without_an_encoder_values_of_x_minus_are_compared(library):
    plus, minus = library(ROWS), library(ROWS.assign(area="9455"))
    (remark,) = warned(ages, plus, minus)
    assert "x_minus: column 'area' has '9455'" in remark
    assert "did you mean '09455'" in remark
    assert warned(ages, plus, library(ROWS.assign(area="09455"))) == []


def test_values_without_repetition_and_declared_ones_are_no_typing_errors():
    assert warned(ages, ROWS[:1], ROWS[:1].assign(area="new")) == []
    texts = ROWS.assign(area=[f"free text {n}" for n in range(8)])
    assert warned(ages, texts, texts.assign(area="another")) == []
    declared = ROWS.astype({"area": pd.CategoricalDtype(["08014", "09455", "01014"])})
    other = declared.assign(area=pd.Categorical(["01014"] * 8, declared.area.cat.categories))
    assert warned(ages, declared, other) == []


def test_numbers_in_place_of_text_are_refused(tmp_path):
    model = pipeline(ignoring()).fit(ROWS, GRANTED)
    numbers = ROWS.astype({"area": "int64"})
    match = r"'area' \(int64, and not '08014'\).*dtypes: \{area: str\}"
    with pytest.raises(DataError, match=match):
        decaf.audit(model, numbers, numbers.assign(area=9455), target=1)
    skops.io.dump(model, tmp_path / "m.skops")
    card = EstimatorCard(id="m", family="any", source="estimator", file=tmp_path / "m.skops")
    with pytest.raises(DataError, match=match):
        card.load_for("cpu", FrameSchema.of(numbers))
    on_numbers = pipeline(ignoring()).fit(numbers, GRANTED)
    assert warned(on_numbers, numbers, numbers.assign(area=9455), target=1) == []


@pytest.mark.parametrize(("area", "count"), [("09455", 0), ("9455", 1)])
def test_a_card_remarks_on_unknown_categories(tmp_path, area, count):
    skops.io.dump(pipeline(ignoring()).fit(ROWS, GRANTED), tmp_path / "m.skops")
    card = EstimatorCard(id="m", family="any", source="estimator", file=tmp_path / "m.skops")
    model = card.load_for("cpu", FrameSchema.of(ROWS, ROWS.assign(area=area)))
    assert len(model.remarks) == count
    assert all("'9455'" in remark and "'09455'" in remark for remark in model.remarks)


def test_an_encoder_that_refuses_a_missing_value_names_its_column(tmp_path):
    skops.io.dump(pipeline(OneHotEncoder()).fit(ROWS, GRANTED), tmp_path / "m.skops")
    card = EstimatorCard(id="m", family="any", source="estimator", file=tmp_path / "m.skops")
    schema = FrameSchema.of(rows := ROWS.assign(job=[None, *ROWS.job[1:]]))
    with pytest.raises(ModelError, match="column 'job' has missing values"):
        card.load_for("cpu", schema).outputs(torch.from_numpy(schema.encode(rows)))


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize(
    ("encoder", "fitted_gap", "is_remarked"),
    [
        (ignoring(), "cook", True),
        (ignoring(), np.nan, False),
        (ignoring(), None, False),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), ignoring()), "cook", False),
    ],
    ids=["ignored", "fitted on NaN", "fitted on None", "imputed"],
)
def test_a_missing_value_that_the_encoder_lacks(tmp_path, gap, encoder, fitted_gap, is_remarked):
    jobs = ROWS.job.astype(object)
    model = pipeline(encoder).fit(ROWS.assign(job=[fitted_gap, *jobs[1:]]), GRANTED)
    skops.io.dump(model, tmp_path / "m.skops")
    card = EstimatorCard(
        id="m", family="any", source="estimator", file=tmp_path / "m.skops", trusted=["numpy.dtype"]
    )
    rows = ROWS.assign(job=pd.Series([gap, *jobs[1:]], dtype=object))
    remarks = card.load_for("cpu", FrameSchema.of(rows)).remarks
    assert [("'job'" in remark, "missing" in remark) for remark in remarks] == (
        [(True, True)] if is_remarked else []
    )
