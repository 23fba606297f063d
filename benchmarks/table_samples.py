"""Rows of a table, their counterfactuals, and models of them, drawn for `tables.py`."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

FITTED = 5_000
TEXTS = {"t0": 5, "t1": 8, "t2": 12, "t3": 20}


def rows_of(count: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """(count,) rows of six floats, two whole numbers and four texts, and their labels."""
    drawn = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"x{number}": drawn.normal(size=count) for number in range(6)}
    columns |= {"age": drawn.integers(18, 80, count), "years": drawn.integers(0, 40, count)}
    for name, level_count in TEXTS.items():
        levels = np.array([f"level_{level}" for level in range(level_count)])
        columns[name] = levels[drawn.integers(0, level_count, count)]
    rows = pd.DataFrame(columns)
    value = rows.x0 + (rows.age - 49) / 40 + (rows.t0 == "level_2") + drawn.normal(size=count) / 2
    return rows, (value > 0).astype(int)


def changes(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Three counterfactuals of every row: of a float, of a whole number, and of a category."""
    level = pd.Series("level_2", rows.index).astype(rows.t0.dtype)
    return [rows.assign(x0=rows.x0 + 1), rows.assign(age=rows.age + 10), rows.assign(t0=level)]


def with_categories(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose texts are pandas categories."""
    dtypes = {
        name: pd.CategoricalDtype(sorted(f"level_{level}" for level in range(count)))
        for name, count in TEXTS.items()
    }
    return rows.astype(dtypes)


def pipeline() -> Any:
    """Fitted pipeline of one-hot columns, scaled numbers and a logistic regression."""
    rows, labels = rows_of(FITTED, 0)
    numbers = [name for name in rows if name not in TEXTS]
    columns = ColumnTransformer(
        [("texts", OneHotEncoder(), list(TEXTS)), ("numbers", StandardScaler(), numbers)]
    )
    return make_pipeline(columns, LogisticRegression(max_iter=500)).fit(rows, labels)


def booster() -> Any:
    """Fitted XGBoost, a hundred rounds on categories."""
    rows, labels = rows_of(FITTED, 0)
    model = XGBClassifier(n_estimators=100, enable_categorical=True, n_jobs=1)
    return model.fit(with_categories(rows), labels)


def forest() -> Any:
    """Fitted pipeline of one-hot columns and 300 trees."""
    rows, labels = rows_of(FITTED, 0)
    columns = ColumnTransformer([("texts", OneHotEncoder(), list(TEXTS))], remainder="passthrough")
    trees = RandomForestClassifier(300, n_jobs=1, random_state=0)
    return make_pipeline(columns, trees).fit(rows, labels)
