"""Value that counts as missing for a model of XGBoost, whose file does not hold it."""

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from decaf.errors import ModelError
from decaf.models.estimators.boosters import declare_missing, final_step

NAN = "nan"


def _name_nan(given: Any) -> Any:
    """YAML's `.nan` as text, which JSON and equality can hold."""
    return NAN if isinstance(given, float) and math.isnan(given) else given


MissingValue = Annotated[float | Literal["nan"] | None, BeforeValidator(_name_nan)]
"""A number; ``nan`` if only NaN counts as missing; None if a card does not state it."""


def missing_number(value: float | str | None) -> float:
    """The number that counts as missing; NaN if there is none."""
    return math.nan if value in (None, NAN) else float(value)


def set_missing(estimator: Any, value: float | str | None) -> None:
    """Let a value of a card count as missing for an opened booster, or a class of XGBoost.

    Classes of XGBoost keep the value that they were fitted with in a file of skops or joblib.
    Raises ModelError if the estimator states another value, or is not an XGBoost model.
    """
    if value is None:
        return
    number = missing_number(value)
    if hasattr(estimator, "save_config"):
        declare_missing(estimator, number)
        return
    step = final_step(estimator)
    if not hasattr(step, "get_booster"):
        raise ModelError(
            f"'missing' is {value}, and {type(step).__name__} is not an XGBoost model: remove "
            "'missing'"
        )
    fitted = float(step.missing)
    if math.isnan(fitted):
        step.missing = number
    elif fitted != number:
        raise ModelError(
            f"'missing' is {value}, and the file says that {fitted:g} counts as missing: correct "
            "'missing', or leave it out"
        )
