"""A model of applicants, as a function of a data frame: its numbers are known by hand."""

import numpy as np
import pandas


def chances(frame):
    """(n, 2) probabilities of no and yes: smiths are hired with 3/4, those without a job never."""
    assert isinstance(frame, pandas.DataFrame)
    assert frame.columns.to_list() == ["age", "pay", "owner", "job", "town"]
    assert list(map(str, frame.dtypes)) == ["int64", "float64", "bool", "category", "str"]
    yes = np.where(frame["job"].isna(), 0.0, np.where(frame["job"] == "smith", 0.75, 0.25))
    return np.stack([1 - yes, yes], axis=1)


def total(rows):
    """(n,) sum of rows of numbers."""
    return rows.sum(axis=1)
