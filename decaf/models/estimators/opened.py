"""An opened estimator: its method, and its columns in the order of the study's classes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_libraries import Frame
from decaf.models.card import Output
from decaf.models.estimators.targets import several_targets

TWO = 2
"""Number of classes that one decision value separates."""


class Opened(NamedTuple):
    """Content of an estimator file."""

    answer: Callable[[NDArray[np.float32] | Frame], Any]
    output: Output
    order: list[int] | None
    """Column of every class of the study; None if columns need no order."""
    estimator: Any
    """scikit-learn's estimator, or XGBoost's booster."""
    frame_columns: Sequence[str] | None
    """Columns of the frame that it was fitted on; None if it was fitted on an array."""
    version: str | None = None
    """Version of scikit-learn that saved it, if known and not the installed one; else None."""

    def in_order(self, answer: Any) -> NDArray[Any]:
        """Columns of an answer in the order of the study's classes.

        Raises ValueError when there is not one column for each class (an SVC of one against one,
        for example), or an answer for each of several targets.
        """
        if isinstance(answer, list) and any(np.ndim(part) > 1 for part in answer):
            raise ValueError(several_targets(len(answer)))
        columns = np.asarray(answer)
        if self.output == "value" and columns.ndim == 2 and columns.shape[1] > 1:
            raise ValueError(several_targets(columns.shape[1]))
        if self.order is None:
            return columns
        if columns.ndim == 1 and len(self.order) == TWO and self.output == "logits":
            return columns if self.order == [0, 1] else -columns
        if columns.ndim != 2 or columns.shape[1] != len(self.order):
            raise ValueError(f"it returned shape {columns.shape} for {len(self.order)} classes")
        return columns[:, self.order]
