"""Find category encoders inside a fitted estimator, and compare a table with their categories.

An encoder with ``handle_unknown="ignore"`` accepts a category or a missing value that it was not
fitted on, so that a misspelt or empty value changes the score without an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from decaf.data.frame_columns import Column
from decaf.errors import DataError, abridge, suggestion

IMPUTER = "SimpleImputer"
"""Step of a pipeline that fills missing values, and keeps the columns of its input."""


def encoded_categories(estimator: Any) -> dict[str, frozenset[Any]]:
    """Categories by column of the fit, for each column that an encoder of scikit-learn encodes.

    Looks into pipelines, column transformers, unions and searches. Columns of several encoders have
    the categories of all. None is among them if a missing value was in the fit, or if an imputer
    comes before the encoder. Empty for other estimators.
    """
    categories: dict[str, frozenset[Any]] = {}
    for name, values in _find(estimator, None):
        categories[name] = categories.get(name, frozenset()) | values
    return categories


def remark_unknown_categories(
    categories: Mapping[str, frozenset[Any]], columns: Mapping[str, Column]
) -> dict[str, list[str]]:
    """Remarks on values that the model's encoders do not know, by column that has such values.

    ``categories`` and ``columns`` are by the names of columns in the model.
    """
    remarks: dict[str, list[str]] = {}
    for name in sorted(categories.keys() & columns.keys()):
        column, fitted_values = columns[name], categories[name]
        strange = [value for value in column.categories if value not in fitted_values]
        if strange:
            hint = suggestion(str(strange[0]), map(str, fitted_values - {None}))
            remarks.setdefault(column.name, []).append(
                f"column {column.name!r} has {abridge([*map(repr, strange)])}, which the "
                f"model's encoder was not fitted on{hint}"
            )
        if column.missing and None not in fitted_values:
            remarks.setdefault(column.name, []).append(
                f"column {column.name!r} has missing values, and the model's encoder was fitted on "
                "none: fill these values or leave the rows out, as for the fit"
            )
    return remarks


def refuse_numbers_for_text(
    categories: Mapping[str, frozenset[Any]], columns: Mapping[str, Column]
) -> None:
    """Raise DataError if columns hold numbers, and the model's encoders were fitted on text.

    pandas reads the postcode 09455 as the number 9455.
    """
    numeric: dict[str, str] = {}
    for name in sorted(categories.keys() & columns.keys()):
        texts = sorted(value for value in categories[name] if isinstance(value, str))
        column = columns[name]
        if texts and not column.categories:
            numeric[column.name] = f"{column.name!r} ({column.dtype}, and not {texts[0]!r})"
    if numeric:
        keys = ", ".join(f"{name}: str" for name in numeric)
        raise DataError(
            f"the rows have no text in {abridge([*numeric.values()])}; the model's encoder was "
            f"fitted on text there: in a study, set 'dtypes: {{{keys}}}' under 'data:'; in Python, "
            "read the file with dtype=str for these columns, since astype(str) restores no leading "
            "zeros"
        )


def _find(
    part: Any, names: Sequence[str] | None, *, is_imputed: bool = False
) -> Iterator[tuple[str, frozenset[Any]]]:
    """Columns and categories of the encoders in a part whose input has these columns.

    ``is_imputed`` is true if an earlier step filled the missing values.
    """
    names = getattr(part, "feature_names_in_", names)
    if hasattr(part, "best_estimator_"):
        yield from _find(part.best_estimator_, names, is_imputed=is_imputed)
    elif hasattr(part, "steps"):
        for _, step in part.steps:
            yield from _find(step, names, is_imputed=is_imputed)
            is_imputer = type(step).__name__ == IMPUTER
            names = getattr(step, "feature_names_in_", names) if is_imputer else None
            is_imputed |= is_imputer
    elif hasattr(part, "transformers_"):
        for _, transformer, _ in part.transformers_:
            yield from _find(transformer, None, is_imputed=is_imputed)
    elif hasattr(part, "transformer_list"):
        for _, transformer in part.transformer_list:
            yield from _find(transformer, names, is_imputed=is_imputed)
    elif names is not None and len(getattr(part, "categories_", [])) == len(names):
        for name, values in zip(names, part.categories_, strict=True):
            fitted_values = frozenset(
                None if value != value else value for value in np.asarray(values).tolist()
            )
            yield str(name), fitted_values | {None} if is_imputed else fitted_values
