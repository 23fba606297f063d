"""Compare tables with the signature of an MLflow model, to which its server converts columns.

The server converts each column to the type of the signature. It refuses a missing value in an
integer, long or binary column, and reads a missing boolean as False. An optional column may be
absent, but a missing value in it is treated in the same way. Fractions in an integer or long column
are cut off, and any number but 0 in a boolean column is True.
"""

from collections.abc import Iterable, Mapping

from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.errors import ModelError, abridge
from decaf.foundation.names import quote
from decaf.models.mlflow_model import MlflowModel

WITHOUT_MISSING = {
    "boolean": "reads a missing value as False",
    "integer": "refuses a missing value",
    "long": "refuses a missing value",
    "binary": "refuses a missing value",
}
"""Types of columns that hold no missing value, and how MLflow treats a missing value."""
WITHOUT_FRACTIONS = ("boolean", "integer", "long")
MOST_SHOWN = 10
"""Most columns that a remark lists."""


def complete_columns(model: MlflowModel) -> dict[str, str]:
    """Type by name of the columns that hold no missing value."""
    return {
        column.name: column.type
        for column in model.inputs
        if column.name and column.type in WITHOUT_MISSING
    }


def refuse_missing(model: MlflowModel, columns: FrameSchema, model_id: str) -> None:
    """Raise ModelError if the table has missing values in columns that cannot hold them."""
    names = [column.name for column in columns.columns if column.missing is not None]
    _refuse(complete_columns(model), names, f"model {model_id}", "leave out these rows")


def refuse_missing_values(types: Mapping[str, str], frame: Frame, name: str) -> None:
    """Raise ModelError if a path reveals a missing value in a column that cannot hold it.

    A path that removes a category makes it missing, even if no row of the table lacks it.
    """
    names = [column for column in frame if column in types and frame[column].isna().any()]
    _refuse(types, names, f"{name}, on the path", "choose a path that does not remove them")


def _refuse(types: Mapping[str, str], names: Iterable[str], where: str, remedy: str) -> None:
    faults = [
        f"column {quote(name)} has missing values and is {types[name]} in the signature, where "
        f"MLflow {WITHOUT_MISSING[types[name]]}"
        for name in names
        if name in types
    ]
    if faults:
        raise ModelError(
            f"{where}: {'; '.join(faults)}. Log the model with a double column for numbers and "
            f"truth values, or a string column for text, or {remedy}"
        )


def remark_fractions(
    model: MlflowModel, columns: FrameSchema | None, model_id: str
) -> tuple[str, ...]:
    """Remark on columns whose fractions on a path MLflow cuts off, if there are any."""
    numbers = [] if columns is None else [c.name for c in columns.columns if c.kind == "number"]
    names = [
        f"{quote(column.name)} ({column.type})"
        for column in model.inputs
        if column.name
        and column.type in WITHOUT_FRACTIONS
        and (columns is None or column.name in numbers)
    ]
    if not names:
        return ()
    return (
        f"model {model_id}: a path reveals fractions of {abridge(names, MOST_SHOWN)}; MLflow cuts "
        "off the fractions of whole numbers, and converts any number other than 0 to True: log "
        "the model with double columns, or declare whole numbers and truth values under 'dtypes:'",
    )


def remark_unknown_signature(columns: FrameSchema, model_id: str) -> tuple[str, ...]:
    """Remark on missing truth values and whole numbers that are sent to an unknown signature."""
    names = [
        quote(column.name)
        for column in columns.columns
        if column.missing is not None
        and (column.kind in ("truth", "whole") or bool in map(type, column.categories))
    ]
    if not names:
        return ()
    return (
        f"model {model_id}: {abridge(names, MOST_SHOWN)} have missing values; MLflow reads a "
        "missing value as False in a boolean column and refuses it in an integer or long column: "
        "check the signature of the served model",
    )
