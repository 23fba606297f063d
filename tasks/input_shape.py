"""What paths and models make of inputs of the data's shape, before any input is stored."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, input_file, is_stored, open_inputs
from decaf.errors import DataError, listed
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.scoring.planner import plan_states
from tasks.units.fit import fitted_paths
from tasks.units.scope import Scope


def check_shape(scope: Scope, cards: Sequence[ModelCard]) -> tuple[str, ...]:
    """Try every path on zeros of the shape of the data's inputs; remarks on models that resize.

    Raises BadInput where a path cannot reveal such inputs, or attributions and labels ask for
    images.
    """
    study, pairs = scope.study, scope.pairs
    block = pairs.block(tuple({one.pair_type: row for row, one in enumerate(pairs.pairs)}.values()))
    count = len(block.input_positions)
    try:
        zeros = channels_first(_zeros(scope, count))
        if pairs.masks:
            mask = study.data.read_mask(pairs.masks[0])
            regions = np.broadcast_to(np.zeros((), mask.dtype), (count, *mask.shape))
            block = replace(block, regions=regions)
    except DataError:
        return ()  # where inputs are stored, all that cannot be read are named
    _require_images(scope.study, zeros)
    plan_states(block, zeros, fitted_paths(study, pairs.input_set.digest), study.grid)
    return () if zeros.ndim != 4 else _resized(cards, *zeros.shape[2:])


def _zeros(scope: Scope, count: int) -> NDArray[np.uint8] | NDArray[np.floating]:
    """(count, …) as the inputs that are stored, or else as the first one that can be read."""
    data, inputs = scope.study.data, scope.pairs.input_set
    workspace = scope.study.workspace
    if is_stored(workspace, inputs):
        one = open_inputs(input_file(workspace, inputs))[0]
    else:
        one = data.read_input(inputs.inputs[0])
    return np.broadcast_to(np.zeros((), one.dtype), (count, *one.shape))


def _require_images(study: Study, inputs: NDArray[Any]) -> None:
    """Check that (n, …) clean inputs are images where the study measures something on them.

    Raises DataError when they are not.
    """
    if (study.attributions or (study.labels and study.labels.variants)) and inputs.ndim != 4:
        raise DataError(
            "'attributions:' and labels of changed images are measured on images; inputs of the "
            f"data set have shape {inputs.shape[1:]}: leave 'attributions:' and 'labels:' out"
        )


def _resized(cards: Sequence[ModelCard], height: int, width: int) -> tuple[str, ...]:
    """A remark for each size that models resize images to."""
    of_side: dict[int, list[str]] = {}
    for card in cards:
        side = getattr(card, "input_size", None)
        if side is not None and (height, width) != (side, side):
            of_side.setdefault(side, []).append(card.id)
    return tuple(
        f"images of {width} x {height} px are resized to {side} x {side} px by the preprocessing "
        f"of {listed(models)}"
        for side, models in of_side.items()
    )
