"""Boosters of XGBoost, which predict as XGBoost's own classes do.

A file of XGBoost does not hold the value that counted as missing when it was fitted. decaf keeps
this value as an attribute of the opened booster, for all code that predicts with it.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_columns import Column
from decaf.data.frame_libraries import Frame
from decaf.errors import MOST_KNOWN, DataError, ModelError, abridge, suggestion
from decaf.foundation.extras import optional
from decaf.foundation.names import quote

MISSING = "decaf_missing"
"""Attribute of a booster: the value that counts as missing, besides NaN."""
SAVED_BY = "decaf_saved_by"
"""Attribute of a booster: the version of XGBoost that saved its file."""
IN_BINARY = re.compile(rb"version\[#L.{8}i(.)i(.)i(.)", re.DOTALL)
"""Version of XGBoost in the binary format, also inside a pickle."""
IN_JSON = re.compile(rb'"version":\s*\[(\d+),\s*(\d+),\s*(\d+)\]')
CATEGORICAL = "c"
"""XGBoost's type of a column of categories."""
LINEAR = "gblinear"
PLACE_IN_SOURCE = re.compile(r"^\[[\d:]+\] \S+:\d+: ")
"""Prefix of errors of XGBoost's library: the time, and a line of its source."""

Rows = NDArray[np.floating] | Frame
Predictor = Callable[[Rows], NDArray[np.float32]]


class BoosterKind(NamedTuple):
    """Description of a booster by its configuration."""

    objective: str
    class_count: int
    """Number of classes if there are several, else 0."""
    target_count: int
    is_linear: bool


def open_booster(path: Path) -> Any:
    """Booster of a file that XGBoost's ``save_model`` wrote.

    Raises ModelError when XGBoost cannot read it.
    """
    with optional():
        import xgboost

    try:
        booster = xgboost.Booster(model_file=path)
        describe_booster(booster)
        note_version(booster, path)
    except (ValueError, KeyError) as error:
        raise ModelError(
            f"{path} is not an XGBoost model ({error_text(error)}); save it again with save_model"
        ) from error
    return booster


def describe_booster(booster: Any) -> BoosterKind:
    """Read the configuration of a booster."""
    learner = json.loads(booster.save_config())["learner"]
    parameters = learner["learner_model_param"]
    return BoosterKind(
        learner["objective"]["name"],
        int(parameters["num_class"]),
        int(parameters.get("num_target", 1)),
        learner["gradient_booster"]["name"] == LINEAR,
    )


def declare_missing(booster: Any, value: float | None) -> None:
    """Let a value count as missing when the booster predicts; by default only NaN counts."""
    if value is not None and not math.isnan(value):
        booster.set_attr(**{MISSING: repr(value)})


def make_predictor(booster: Any, kind: Literal["value", "margin"]) -> Predictor:
    """Function that predicts rows with the rounds up to the best one, as XGBoost's classes do.

    Linear boosters use all rounds. ``margin`` is the value before the link function. The function
    raises ValueError when XGBoost refuses the rows.
    """
    is_linear = describe_booster(booster).is_linear
    rounds, missing = best_rounds(booster), _missing_value(booster)

    def predict(rows: Rows) -> NDArray[np.float32]:
        try:
            if is_linear:  # XGBoost predicts in place only with trees
                return booster.predict(make_matrix(booster, rows), output_margin=kind == "margin")
            return booster.inplace_predict(
                rows, iteration_range=rounds, predict_type=kind, missing=missing
            )
        except ValueError as error:
            raise ValueError(error_text(error)) from error

    return predict


def make_matrix(booster: Any, rows: Rows, **options: Any) -> Any:
    """Rows as XGBoost's DMatrix; rows of an array get the booster's feature names."""
    with optional():
        import xgboost

    names = booster.feature_names if isinstance(rows, np.ndarray) else None
    return xgboost.DMatrix(
        rows,
        missing=_missing_value(booster),
        feature_names=names,
        enable_categorical=True,
        **options,
    )


def note_version(estimator: Any, path: Path) -> None:
    """Note in an estimator's booster, if it has one, which XGBoost saved the file at ``path``."""
    booster = _booster_of(final_step(estimator))
    if booster is None:
        return
    content = path.read_bytes()
    if binary := IN_BINARY.search(content):
        numbers = [group[0] for group in binary.groups()]
    elif text := IN_JSON.search(content):
        numbers = [int(group) for group in text.groups()]
    else:
        return
    booster.set_attr(**{SAVED_BY: ".".join(map(str, numbers))})


def remark_unnamed_categories(estimator: Any, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Remark on columns whose category names the booster does not store.

    ``columns`` are columns of the table, by their name in the model. XGBoost stores names since
    3.1, but truncates those with non-ASCII letters. Looks into pipelines that end with XGBoost, and
    searches: a column of categories of the same name came through their earlier steps. Empty for
    models without such columns, and for estimators of other libraries.
    """
    booster = _booster_of(final_step(estimator))
    named = named_columns(booster, columns)
    names = [
        quote(columns[name].name)
        for name in _category_columns(booster)
        if name not in named and name in columns and columns[name].categories
    ]
    if not names:
        return ()
    saved_by = booster.attr(SAVED_BY)
    writer = f", saved by XGBoost {saved_by}," if saved_by else ""
    fault = (
        "has truncated category names, because XGBoost truncates names with non-ASCII letters"
        if _stored_names(booster)
        else "has no category names, which XGBoost stores since version 3.1"
    )
    remark = (
        f"the model{writer} {fault}: list the categories of {abridge(names)} under 'categories:' "
        "in the order in which the model was trained; any other order gives wrong scores without "
        "an error"
    )
    return (remark,)


def named_columns(estimator: Any, columns: Mapping[str, Column]) -> frozenset[str]:
    """Names in the model of the columns whose category names a booster of XGBoost stores.

    ``columns`` are columns of the table, by their name in the model. Any order of such categories
    gives the same scores, and XGBoost refuses an unknown category. Empty for other estimators.
    """
    booster = _booster_of(estimator)
    stored_names = _stored_names(booster)
    return frozenset(
        name
        for name in _category_columns(booster)
        if name in columns
        and name in stored_names
        and _has_intact_names(stored_names[name], columns[name].categories)
    )


def refuse_unfit_columns(estimator: Any, columns: Mapping[str, Column]) -> None:
    """Raise DataError for a column whose values XGBoost was not fitted on.

    ``columns`` are columns of the table, by their name in the model. Refused are categories where
    the model expects numbers, numbers where it expects named categories, and unknown categories.
    Codes of categories are accepted if no column has categories. Accepts all columns for estimators
    of other libraries.
    """
    booster = _booster_of(estimator)
    if booster is None or not any(column.categories for column in columns.values()):
        return
    stored_names, named = _stored_names(booster), named_columns(estimator, columns)
    kinds = zip(booster.feature_names or (), booster.feature_types or (), strict=False)
    for name, kind in kinds:
        if name not in columns:
            continue
        column = columns[name]
        if kind != CATEGORICAL and column.categories:
            raise DataError(
                f"column {quote(column.name)} has {_list_values(column.categories)}, but the model "
                f"was fitted on numbers ({kind}): replace the values by the numbers used in "
                "training"
            )
        if name not in stored_names or (column.categories and name not in named):
            continue
        fitted = [
            value.decode(errors="replace") if isinstance(value, bytes) else value
            for value in stored_names[name]
        ]
        if not column.categories:
            raise DataError(
                f"column {quote(column.name)} is {column.dtype}, but the model was fitted on the "
                f"categories {_list_values(fitted)}: replace the values by these categories, or "
                "set the column's type under 'dtypes:' or 'categories:'"
            )
        if strange := [value for value in column.categories if value not in fitted]:
            raise DataError(
                f"column {quote(column.name)} has {_list_values(strange)}, and XGBoost was not "
                f"fitted on them{suggestion(str(strange[0]), map(str, fitted))}; correct the "
                "values, or leave these rows out"
            )


def refuse_texts(estimator: Any, columns: Mapping[str, Column]) -> None:
    """Raise DataError for columns of text, which XGBoost's estimators refuse in a data frame.

    Accepts columns that the estimator was not fitted on, and all columns for estimators of other
    libraries.
    """
    booster = _booster_of(estimator)
    fitted = booster.feature_names or () if booster is not None else ()
    texts = {name: "category" for name in fitted if name in columns and columns[name].is_text}
    if texts:
        raise DataError(
            f"columns {abridge([*map(quote, texts)])} are text, but XGBoost takes only numbers, "
            f"truth values and categories: give both frames as frame.astype({texts})"
        )


def _list_values(values: Sequence[Any]) -> str:
    return abridge([*map(repr, values)], MOST_KNOWN)


def _category_columns(booster: Any) -> list[str]:
    """Names of a booster's columns of categories; empty for None."""
    if booster is None or booster.feature_types is None:
        return []
    columns = zip(booster.feature_names or (), booster.feature_types, strict=False)
    return [name for name, kind in columns if kind == CATEGORICAL]


def _stored_names(booster: Any) -> dict[str, list[Any]]:
    """Names of categories that a booster stores, by column: bytes of text, or numbers.

    XGBoost stores none before 3.1.
    """
    if not _category_columns(booster) or not hasattr(booster, "get_categories"):
        return {}
    if booster.get_categories().empty():
        return {}
    stored = booster.get_categories(export_to_arrow=True).to_arrow()
    # Truncated text may not be UTF-8.
    return {
        name: (array.cast("binary") if array.type == "string" else array).to_pylist()
        for name, array in stored
        if array is not None
    }


def _has_intact_names(stored_names: Sequence[Any], categories: Sequence[Any]) -> bool:
    """False if stored names may be truncated.

    XGBoost 3.2 counts letters instead of bytes, so every name from the first one with a non-ASCII
    letter on is wrong. Names are trusted if all are ASCII, or if they include every category of the
    table and one of these is not ASCII.
    """
    texts = [name for name in stored_names if isinstance(name, bytes)]
    if all(text.isascii() for text in texts):
        return True
    table_texts = {str(category).encode() for category in categories}
    return table_texts <= set(texts) and not all(text.isascii() for text in table_texts)


def _booster_of(estimator: Any) -> Any:
    """Booster of XGBoost, or of a fitted estimator of its classes; None for any other estimator."""
    if hasattr(estimator, "get_booster"):
        return estimator.get_booster() if estimator.__sklearn_is_fitted__() else None
    return estimator if hasattr(estimator, "inplace_predict") else None


def final_step(estimator: Any) -> Any:
    """Estimator at the end of pipelines, or the best one of a search."""
    while True:
        steps = getattr(estimator, "steps", None)
        inner = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
        if inner is None:
            return estimator
        estimator = inner


def best_rounds(booster: Any) -> tuple[int, int]:
    """Range of the rounds up to the best one; (0, 0) stands for all."""
    best = booster.attr("best_iteration")
    return 0, 0 if best is None else int(best) + 1


def error_text(error: Exception) -> str:
    """Error message of XGBoost without its source position and stack trace."""
    text = str(error).partition("\nStack trace")[0].strip()
    return PLACE_IN_SOURCE.sub("", text)


def _missing_value(booster: Any) -> float:
    value = booster.attr(MISSING)
    return math.nan if value is None else float(value)
