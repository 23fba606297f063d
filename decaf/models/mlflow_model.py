"""Content of an `MLmodel` file: flavours and signature of a model.

The file is untrusted: it is read as data, and no code that it names is imported or run.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.files import describe_link, is_inside
from decaf.foundation.yaml_source import plain_mapping

MLMODEL = "MLmodel"
OF_ROWS = ("sklearn", "xgboost", "lightgbm", "catboost")
PYFUNC = "python_function"
"""Flavour that MLflow's scoring server answers."""


class Column(NamedTuple):
    """An input or output: its name, or empty, and MLflow's word for its type."""

    name: str
    type: str
    dimensions: int = 0
    """Shape of a tensor."""


class MlflowModel(NamedTuple):
    """Description of a model in its `MLmodel` file."""

    flavours: dict[str, dict[str, Any]]
    inputs: tuple[Column, ...]
    """Columns of a table, or one nameless column of a tensor; empty without a signature."""
    outputs: tuple[Column, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the model takes; empty if a column has no name."""
        names = tuple(column.name for column in self.inputs)
        return names if all(names) else ()

    @property
    def takes_rows(self) -> bool:
        """True if inputs are rows of features, by the signature or else by the flavour."""
        if not self.inputs:
            return not self.flavours.keys().isdisjoint(OF_ROWS)
        return self.inputs[0].dimensions in (0, 2)


def read_mlmodel(folder: Path) -> MlflowModel:
    """Read the `MLmodel` of a folder.

    Raises ConfigError if it is not plain YAML, and ModelError if it is missing or not written by
    MLflow.
    """
    path = folder / MLMODEL
    if not is_inside(path, folder) or not path.exists():
        reason = describe_link(path, folder) or (
            "MLflow did not write this model; write its card by hand, as in docs/models.md"
        )
        raise ModelError(f"there is no {MLMODEL} in {folder}: {reason}")
    content = plain_mapping(path)
    try:
        signature = content.get("signature") or {}
        flavours = {name: dict(of or {}) for name, of in content["flavors"].items()}
        inputs, outputs = (_columns(signature.get(name)) for name in ("inputs", "outputs"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError(
            f"{path} is not an MLmodel of MLflow ({type(error).__name__}: {error}); log the model "
            "again"
        ) from error
    return MlflowModel(flavours, inputs, outputs)


def _columns(text: str | None) -> tuple[Column, ...]:
    """Columns that a signature lists in JSON; of a tensor, its type."""
    return tuple(_column(entry) for entry in json.loads(text or "[]"))


def _column(entry: dict[str, Any]) -> Column:
    if entry.get("type") == "tensor":
        spec = entry["tensor-spec"]
        return Column("", str(spec["dtype"]), len(spec["shape"]))
    return Column(str(entry.get("name", "")), str(entry.get("type", "")))
