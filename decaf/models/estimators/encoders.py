"""Find category encoders inside a fitted estimator, and compare a table with their categories.

An encoder with ``handle_unknown="ignore"`` answers for a category that it was not fitted on, so
that a misspelt value only moves the score.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from decaf.data.frame_columns import Column
from decaf.errors import DataError, abridge, suggestion

KEEPS_COLUMNS = "SimpleImputer"
"""Step of a pipeline whose columns are those of its input."""


def encoded_categories(estimator: Any) -> dict[str, frozenset[Any]]:
    """Categories by column of the fit, for each column that an encoder of scikit-learn encodes.

    Looks into pipelines, column transformers, unions and searches. Columns of several encoders have
    the categories of all. Empty for other estimators.
    """
    categories: dict[str, frozenset[Any]] = {}
    for name, values in _find(estimator, None):
        categories[name] = categories.get(name, frozenset()) | values
    return categories


def remark_unknown_categories(
    categories: Mapping[str, frozenset[Any]], columns: Mapping[str, Column]
) -> tuple[str, ...]:
    """Remark on values of columns, by their name in the model, that its encoders do not know."""
    remarks = []
    for name in categories.keys() & columns.keys():
        strange = [value for value in columns[name].categories if value not in categories[name]]
        if strange:
            hint = suggestion(str(strange[0]), map(str, categories[name]))
            remarks.append(
                f"column {columns[name].name!r} has {abridge([*map(repr, strange)])}, which the "
                f"model's encoder was not fitted on{hint}"
            )
    return tuple(sorted(remarks))


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


def _find(part: Any, names: Sequence[str] | None) -> Iterator[tuple[str, frozenset[Any]]]:
    """Columns and categories of the encoders in a part whose input has these columns."""
    names = getattr(part, "feature_names_in_", names)
    if hasattr(part, "best_estimator_"):
        yield from _find(part.best_estimator_, names)
    elif hasattr(part, "steps"):
        for _, step in part.steps:
            yield from _find(step, names)
            is_kept = type(step).__name__ == KEEPS_COLUMNS
            names = getattr(step, "feature_names_in_", names) if is_kept else None
    elif hasattr(part, "transformers_"):
        for _, transformer, _ in part.transformers_:
            yield from _find(transformer, None)
    elif hasattr(part, "transformer_list"):
        for _, transformer in part.transformer_list:
            yield from _find(transformer, names)
    elif names is not None and len(getattr(part, "categories_", [])) == len(names):
        for name, values in zip(names, part.categories_, strict=True):
            yield str(name), frozenset(np.asarray(values).tolist())
