"""Check that paths and models take inputs of the data's shape, before inputs are stored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.adapters.base import Adapter
from decaf.data.coded import first_rows
from decaf.data.input_store import channels_first, input_file, inputs_at, is_stored
from decaf.data.pairs import InputSet
from decaf.errors import DataError, abridge
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.scoring.path_checks import check_paths
from decaf.scoring.planner import plan_states
from tasks.units.fit import fitted_paths
from tasks.units.scope import Scope


def check_shape(scope: Scope, cards: Sequence[ModelCard]) -> tuple[str, ...]:
    """Try every path on random inputs of the shape of the data's; returns remarks on images.

    If shapes differ, the smallest and the largest are tried, and the others only checked. Raises
    BadInput if a path cannot reveal inputs of a shape or breaks its contract, or if attributions or
    labels need images.
    """
    study, pairs = scope.study, scope.pairs
    shapes = pairs.input_set.shapes
    paths = fitted_paths(study.paths, study.workspace, pairs.input_set.digest)
    # The rule of a fitted path may need the fit, which comes after the inputs are stored.
    ready_paths = {
        name: path
        for name, path in paths.items()
        if study.paths[name].fitted_file(study.workspace, pairs.input_set.digest) is None
    }
    _require_one_shape(study, pairs.input_set)
    types = pairs.pairs.pair_types
    last_rows = len(pairs.pairs) - 1 - first_rows(types.codes[::-1], len(types.values))
    block = pairs.block(last_rows)
    count, random = len(block.input_positions), np.random.default_rng(0)
    for number in pairs.input_set.extremes:
        try:
            example = channels_first(sample(study.data, study.workspace, pairs.input_set, number)())
            levels = random.integers(0, 256, (count, *example.shape[1:]), np.uint8)
            probes = levels.astype(example.dtype)
            if pairs.masks:
                mask = study.data.read_mask(pairs.masks[number])
                if mask.shape != example.shape[2:]:
                    return ()  # storing the masks names all files of another size
                regions = np.broadcast_to(np.zeros((), mask.dtype), (count, *mask.shape))
                block = replace(block, regions=regions)
        except DataError:
            return ()  # storing the inputs names all unreadable ones
        _require_images(scope.study, probes)
        plan_states(block, probes, paths, study.grid)
        check_paths(ready_paths, block, probes, study.grid)
    taken_shapes = [
        channels_first(np.empty((0, *example), probes.dtype)).shape for example in shapes
    ]
    for path in paths.values():
        for shape in taken_shapes:
            path.check(shape)
    if probes.ndim != 4:
        return ()
    sizes = [example[2:] for example in taken_shapes or [probes.shape]]
    return _remark_resized(cards, sizes)


def sample(
    data: Adapter, workspace: Path, inputs: InputSet, number: int
) -> Callable[[], NDArray[Any]]:
    """Function that reads a clean input, (1, …), from the input store.

    If inputs are not stored yet, the input is read now. Raises DataError if it cannot be read.
    """
    if is_stored(workspace, inputs):
        file = input_file(workspace, inputs).absolute()
        return partial(inputs_at, file, inputs.places[[number]], inputs.shape_of(number))
    return partial(np.asarray, data.read_input(inputs.inputs[number])[None])


def _require_one_shape(study: Study, inputs: InputSet) -> None:
    """Raise DataError for inputs of several shapes if a path is fitted to all inputs together."""
    for name, path in study.paths.items():
        is_fitted = path.has_drawn_start or path.fitted_file(study.workspace, inputs.digest)
        if is_fitted and inputs.shapes:
            shapes = [*inputs.shapes]
            raise DataError(
                f"path {name} (kind: {path.kind}) needs inputs of one shape; found "
                f"{len(shapes)} shapes, from {shapes[0]} to {shapes[-1]}; set 'resize:' and "
                "'crop:', or choose another path"
            )


def _require_images(study: Study, inputs: NDArray[Any]) -> None:
    """Raise DataError if attributions or labels need images and (n, …) inputs are not images."""
    if (study.attributions or (study.labels and study.labels.variants)) and inputs.ndim != 4:
        raise DataError(
            "'attributions:' and labels of changed images are measured on images; inputs of the "
            f"data set have shape {inputs.shape[1:]}: leave 'attributions:' and 'labels:' out"
        )


def _remark_resized(
    cards: Sequence[ModelCard], sizes: Sequence[tuple[int, ...]]
) -> tuple[str, ...]:
    """Remarks on models that resize images, one for each target size."""
    of_side: dict[int, list[str]] = {}
    for card in cards:
        side = getattr(card, "input_size", None)
        if side is not None and any(size != (side, side) for size in sizes):
            of_side.setdefault(side, []).append(card.id)
    first, last = (f"{width} x {height} px" for height, width in (sizes[0], sizes[-1]))
    of = first if len(sizes) == 1 else f"{len(sizes)} sizes, {first} to {last},"
    return tuple(
        f"images of {of} are resized to {side} x {side} px by the preprocessing of "
        f"{abridge(models)}"
        for side, models in of_side.items()
    )
