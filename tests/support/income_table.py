"""Sixty applicants with an age and an income, and cards of estimators that were fitted on them."""

import numpy as np
import pandas as pd
import torch
import xgboost

from decaf.data.frames import FrameSchema
from decaf.models.sources.estimator import EstimatorCard

MISSING = -999.0
COLUMNS = ["age", "income"]


def rows(income="income", hole=None):
    """Sixty applicants; a third of them without an income where a hole is given."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 60).astype(float),
            income: rng.normal(3000, 800, 60).round(2),
        }
    )
    if hole is not None:
        frame.loc[::3, income] = hole
    return frame


FRAME = rows()
LABELS = (FRAME["income"] > FRAME["income"].median()).astype(int).to_numpy()
TARGETS = np.stack([LABELS, 1 - LABELS], axis=1)
HOLES = rows(hole=MISSING)


def card(path, **keys):
    return EstimatorCard(id="m", family="f", source="estimator", file=path, **keys)


def scores(given, frame):
    """Outputs of a card for rows of a table."""
    columns = FrameSchema.of(frame)
    model = given.load_for("cpu", columns)
    return model.outputs(torch.from_numpy(columns.encode(frame))).numpy()


def remarks(given, frame):
    return given.load_for("cpu", FrameSchema.of(frame)).remarks


def boosted(kind=xgboost.XGBClassifier, **keys):
    return kind(n_estimators=8, max_depth=2, **keys)
