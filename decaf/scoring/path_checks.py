"""Check a reveal path on one pair, once for each audit and shape of inputs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.errors import ResponseError
from decaf.foundation.arrays import as_taken, to_numpy
from decaf.reveal.path import RevealPath
from decaf.scoring.planner import describe_path, plan_states
from decaf.scoring.states import StateBuilder

NAME = "path"
TOLERANCE = 1e-5
"""Largest difference of states, as a share of the largest absolute input, or of 1."""


def check_paths(
    paths: Mapping[str, RevealPath],
    block: PairBlock,
    inputs: NDArray[Any],
    grid: NDArray[np.float64],
) -> None:
    """Raise ResponseError if a path breaks its contract on its first pair.

    Inputs, (n_inputs, …), and stages, (n_stages,), are those of :func:`plan_states`, which accepts
    the paths. A path that passes still needs `decaf check-plugin`, which tests more.
    """
    for name, path in paths.items():
        rows = block.rows_of_types(path.pair_types)[:1]
        if not rows.size:
            continue
        pair, pair_inputs = _select_inputs(block.of_rows(rows), inputs)
        try:
            check_full_content(path, pair, pair_inputs, grid)
            check_symmetry(path, pair, pair_inputs, grid)
        except ResponseError as error:
            raise ResponseError(
                f"{describe_path(name, path)}: {error}; `decaf check-plugin FILE` tests a path"
            ) from error


def check_full_content(
    path: RevealPath, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]
) -> None:
    """Raise ResponseError unless the rule makes the clean input of full content.

    The planner never asks the rule for it, so a wrong rule would make a jump before the last stage.
    """
    clean = as_taken(inputs)
    words = path.reveal(block, inputs, path.grid(grid)).content.shape[-1]
    content = np.broadcast_to(path.rule.full(words), (len(clean), words))
    states = to_numpy(path.rule.states(clean[::-1], clean, content, block.regions))
    if (difference := _difference(states, clean)) > TOLERANCE:
        raise ResponseError(
            f"states of full content differ by {difference:.2g} from the clean input; rule.states()"
            " has to return the clean input for the content rule.full(words)"
        )


def check_symmetry(
    path: RevealPath, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]
) -> None:
    """Raise ResponseError unless exchanging the inputs of pairs exchanges their branches.

    Paths whose start belongs to one of the inputs, or that have no common start, and pairs of one
    input without a feature need not be symmetrical.
    """
    exchanged = replace(block, plus=block.minus, minus=block.plus)
    start_inputs, exchanged_start_inputs = (
        np.sort(path.start_inputs(side), axis=1) for side in (block, exchanged)
    )
    is_one_sided = not np.array_equal(start_inputs, exchanged_start_inputs)
    if block.feature.any() or not path.has_common_start or is_one_sided:
        return
    revealed, turned = (path.reveal(side, inputs, path.grid(grid)) for side in (block, exchanged))
    is_equal = np.array_equal(revealed.input_position, turned.input_position[..., ::-1])
    is_equal &= np.array_equal(revealed.content, turned.content[..., ::-1, :])
    if is_equal and np.array_equal(revealed.draw, turned.draw):
        return
    # Other content may still be the same states.
    states, turned_states = (_build_all(path, side, inputs, grid) for side in (block, exchanged))
    if (difference := _difference(turned_states[..., ::-1, :], states)) > TOLERANCE:
        raise ResponseError(
            f"states differ by {difference:.2g} when the two inputs of a pair change places; "
            "reveal() has to show both at the same pace, with the same masks and draws"
        )


def _build_all(
    path: RevealPath, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]
) -> NDArray[Any]:
    """(n_pairs, n_repetitions, n_stages, 2, numbers) states of all stages and branches."""
    plan = plan_states(block, inputs, {NAME: path}, grid)
    states = to_numpy(StateBuilder(plan, as_taken(inputs)).build(np.arange(plan.state_count)))
    return states.reshape(len(states), -1)[plan.index[NAME]]


def _difference(states: NDArray[Any], expected: NDArray[Any]) -> float:
    """Largest difference, as a share of the largest absolute value expected, or of 1."""
    return float(np.abs(states - expected).max() / max(np.abs(expected).max(), 1))


def _select_inputs(block: PairBlock, inputs: NDArray[Any]) -> tuple[PairBlock, NDArray[Any]]:
    """The block with only the inputs of its pairs, and these inputs."""
    contexts = [] if block.context is None else [block.context.ravel()]
    places = np.unique(np.concatenate([block.plus, block.minus, *contexts]))
    places = places[places >= 0]
    return (
        replace(
            block,
            image_ids=tuple(block.image_ids[place] for place in places),
            input_positions=block.input_positions[places],
            plus=np.searchsorted(places, block.plus),
            minus=np.searchsorted(places, block.minus),
            context=None
            if block.context is None
            else np.where(block.context < 0, -1, np.searchsorted(places, block.context)),
            regions=None if block.regions is None else block.regions[places],
        ),
        inputs[places],
    )
