"""Contracts of scores."""

import json
from typing import NamedTuple, get_args

import numpy as np
import torch

from decaf.contracts.base import Broken, Trial, require
from decaf.errors import BadInput
from decaf.models.card import Output

ROWS = 5
ROUNDING = 1e-9
"""Distance from the bounds that counts as within them, score units."""
WIDTHS = (1, 2, 10, 1000)
"""Numbers of outputs that are tried in turn, after the score's own number of classes."""


class Scored(NamedTuple):
    """Outputs that the score takes."""

    outputs: torch.Tensor
    output: Output
    values: torch.Tensor


def gives_one_row_of_float64_each(trial: Trial) -> None:
    """values() turns (n, outputs) into (n, columns), finite, float64."""
    for scored in _accepted_outputs(trial):
        values = scored.values
        require(
            isinstance(values, torch.Tensor) and values.ndim == 2 and len(values) == ROWS,
            f"values() of {tuple(scored.outputs.shape)} {scored.output} returned "
            f"{tuple(getattr(values, 'shape', ()))}; expected ({ROWS}, columns)",
        )
        require(
            values.dtype == torch.float64,
            f"values() returned {values.dtype}; expected float64: turn the outputs with .double()",
        )
        require(
            torch.isfinite(values).all(), "values() of finite outputs are not finite; guard the log"
        )


def scores_a_row_by_itself(trial: Trial) -> None:
    """The score of a row does not depend on the other rows of the batch."""
    for scored in _accepted_outputs(trial):
        alone = torch.cat(
            [trial.member.values(scored.outputs[[n]], scored.output) for n in range(ROWS)]
        )
        require(
            torch.allclose(alone, scored.values, atol=1e-9, rtol=1e-9),
            "values() of rows one by one differ from those of the batch; use no mean over rows",
        )


def keeps_its_bounds(trial: Trial) -> None:
    """values() lie within the bounds of the class, also for outputs a hundred times as large."""
    if trial.member.bounds is None:
        return
    low, high = trial.member.bounds
    require(low < high, f"'bounds' is ({low:g}, {high:g}); expected the smaller value first")
    for scored in _accepted_outputs(trial):
        values = [scored.values]
        if scored.output != "probabilities":
            values.append(trial.member.values(100 * scored.outputs, scored.output))
        smallest, largest = (float(end) for end in torch.cat(values).aminmax())
        require(
            low - ROUNDING <= smallest and largest <= high + ROUNDING,
            f"values() of {scored.output} run from {smallest:g} to {largest:g}, outside of "
            f"'bounds', {low:g} to {high:g}; widen 'bounds', or set None if q has none",
        )


def finds_the_column_of_a_pair(trial: Trial) -> None:
    """columns() gives each pair a column of values(), or refuses its class as bad input."""
    for scored in _accepted_outputs(trial):
        width = scored.values.shape[1]
        classes = np.arange(min(width, 3))
        columns = np.asarray(trial.member.columns(classes))
        require(
            columns.shape == classes.shape and columns.dtype.kind in "iu",
            f"columns() of {classes.size} classes returned {columns.dtype} {columns.shape}; "
            f"expected {classes.size} whole numbers",
        )
        require(
            ((columns >= 0) & (columns < width)).all(),
            f"columns() gave {columns.tolist()}; values() has the columns 0 to {width - 1}",
        )


def has_an_identity(trial: Trial) -> None:
    """identity() is JSON that defines the score, including its direction."""
    turned = "decreasing" if trial.member.direction == "increasing" else "increasing"
    turned_score = trial.member.model_copy(update={"direction": turned})
    identity, turned_identity = (
        json.dumps(score.identity(), sort_keys=True) for score in (trial.member, turned_score)
    )
    require(
        identity != turned_identity,
        "identity() is the same for both directions; include 'direction'",
    )


def _accepted_outputs(trial: Trial) -> list[Scored]:
    """Outputs of one width that the score takes, of each kind."""
    random = torch.Generator().manual_seed(0)
    for width in dict.fromkeys((getattr(trial.member, "classes", 1), *WIDTHS)):
        scored = []
        for output in get_args(Output):
            outputs = torch.randn(ROWS, width, generator=random)
            outputs = outputs.softmax(dim=1) if output == "probabilities" else outputs
            try:
                scored.append(Scored(outputs, output, trial.member.values(outputs, output)))
            except BadInput as error:
                refusal = str(error)
        if scored:
            return scored
    raise Broken(f"values() refuses all outputs that were tried, the last with: {refusal}")
