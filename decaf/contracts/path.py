"""Contracts of reveal paths, tried on tiny pairs of every kind that a path takes.

Every contract is tried on images, rows of features and signals, as pairs of two inputs, of an input
with and without one of its features, and with a second context. A path may refuse some kinds, as
bad input, and has to take at least one kind.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from decaf.contracts.base import Broken, Trial, require, same_twice
from decaf.data.pair_block import PairBlock
from decaf.errors import BadInput, ResponseError
from decaf.foundation.arrays import as_taken, to_numpy
from decaf.reveal.path import Revealed, RevealPath, check_end, check_start, writes_in_place
from decaf.scoring.path_checks import check_full_content, check_symmetry
from decaf.scoring.planner import StatePlan, plan_states
from decaf.scoring.states import StateBuilder

SOURCES, SIDE, FEATURES = 2, 8, 2
GRID = np.linspace(0, 1, 5)
NAME = "path"
TOLERANCE = 1e-5
"""Largest difference of pixel values in [0, 1]."""
REPETITIONS = 2
"""Random repetitions that are compared at most."""


class Tiny(NamedTuple):
    """A block that a path takes."""

    kind: str
    path: RevealPath
    """The path, fitted to all clean inputs."""
    block: PairBlock
    inputs: NDArray[Any]
    plan: StatePlan

    @property
    def all_states(self) -> NDArray[Any]:
        """(n_states, …) all states of the plan."""
        builder = StateBuilder(self.plan, as_taken(self.inputs))
        return to_numpy(builder.build(np.arange(self.plan.state_count)))


def takes_some_kind_of_pairs(trial: Trial) -> None:
    """The path accepts at least one kind of pairs."""
    refused = {}
    for kind, block, inputs in _blocks():
        try:
            _plan(trial, kind, block, inputs)
            return
        except BadInput as error:
            refused[kind] = str(error)
    reasons = "; ".join(f"{kind}: {reason}" for kind, reason in refused.items())
    raise Broken(
        f"the path accepts none of the tried kinds of pairs: {reasons}; accept one of them, or "
        "state in the error of reveal() what the path needs"
    )


def starts_without_information(trial: Trial) -> None:
    """Both branches have one state at stage 0, so that r(0) = 0 exactly."""
    _check_revealed(trial, check_start)


def ends_at_the_clean_inputs(trial: Trial) -> None:
    """The last stage is the clean input itself, of either branch."""
    _check_revealed(trial, check_end)


def makes_the_clean_input_of_full_content(trial: Trial) -> None:
    """States of full content are the clean inputs, up to the precision of float32."""
    _check_accepted(trial, check_full_content)


def treats_both_inputs_alike(trial: Trial) -> None:
    """Exchanging the inputs of a pair exchanges its branches, where both make up the start."""
    _check_accepted(trial, check_symmetry)


def is_planned_as_it_is_made_one_by_one(trial: Trial) -> None:
    """States that are shared between pairs and stages equal those made one by one."""
    for tiny in _accepted_pairs(trial):
        all_states, index = tiny.all_states, tiny.plan.index[NAME]
        for row, pair in enumerate(tiny.block.pair_ids):
            _require_near(
                tiny,
                all_states[index[row, :REPETITIONS]],
                _one_by_one(tiny, row),
                f"states of pair {pair} differ by {{:.2g}} from those that start.states and "
                "rule.states make of them alone; equal contents have to be equal states, a start "
                "symmetrical in its two inputs, and rows of a batch independent of each other",
            )


def knows_a_pair_whatever_the_block(trial: Trial) -> None:
    """The states of a pair do not depend on the other pairs of its block."""
    for tiny in _accepted_pairs(trial):
        alone, inputs = _only(tiny, 1)
        _require_near(
            tiny,
            _one_by_one(tiny, 1),
            _one_by_one(tiny._replace(block=alone, inputs=inputs), 0),
            "states of a pair differ by {:.2g} when it is alone in its block; draw by names of "
            "pairs or sources, not by their positions",
        )


def is_the_same_in_torch(trial: Trial) -> None:
    """States made of tensors equal those made of arrays."""
    for tiny in _accepted_pairs(trial):
        builder = StateBuilder(tiny.plan, torch.from_numpy(as_taken(tiny.inputs)))
        all_states = to_numpy(builder.build(np.arange(tiny.plan.state_count)))
        _require_near(
            tiny,
            all_states,
            tiny.all_states,
            "states made by torch differ by {:.2g} from numpy's; use operations that both have "
            "(decaf.foundation.arrays)",
        )


def writes_what_it_returns(trial: Trial) -> None:
    """A rule that writes states in place writes the states that it returns, to the last bit."""
    for tiny in _accepted_pairs(trial):
        rule, plan, clean = tiny.path.rule, tiny.plan, as_taken(tiny.inputs)
        if writes_in_place(rule):
            states = np.flatnonzero(plan.rule == 0)
            positions = plan.input_position[states]
            regions = None if plan.regions is None else plan.regions[positions]
            arguments = clean[::-1][positions], clean[positions], plan.content[states], regions
            written = np.full_like(clean[positions], np.nan)
            rule.write(written, *arguments)
            require(
                np.array_equal(written, rule.states(*arguments)),
                f"on {tiny.kind}, rule.write() writes other numbers than rule.states() returns; "
                "compute both alike, or leave write() out",
            )


def has_an_identity(trial: Trial) -> None:
    """identity() is JSON of the parts that the states depend on, the same each time."""
    same_twice(
        lambda: json.dumps(trial.member.identity("digest"), sort_keys=True),
        "identity() differs when it is called again",
    )


def says_whether_its_starts_are_drawn(trial: Trial) -> None:
    """has_drawn_start is true if starts are drawn and do not depend on a pair."""
    for tiny in _accepted_pairs(trial):
        revealed = tiny.path.reveal(tiny.block, tiny.inputs, tiny.path.grid(GRID))
        is_drawn = revealed.draw.shape[-1] > 0 and not tiny.path.start.of_pair
        require(
            tiny.path.has_drawn_start == is_drawn,
            f"has_drawn_start is {tiny.path.has_drawn_start}; reveal() names draws of "
            f"{revealed.draw.shape[-1]} words, and start.of_pair is {tiny.path.start.of_pair}",
        )


def _check_revealed(trial: Trial, check: Callable[[RevealPath, PairBlock, Revealed], None]) -> None:
    """Check the states that the path reveals of pairs of each kind that it takes."""
    for kind, block, inputs in _blocks():
        path = _fit(trial, kind, inputs)
        try:
            revealed = path.reveal(block, inputs, path.grid(GRID))
        except BadInput:
            continue
        _require_accepted(kind, check, path, block, revealed)


def _check_accepted(trial: Trial, check: Callable[..., None]) -> None:
    """Try a check of path, block, inputs and grid on each kind of pairs that the path takes."""
    for tiny in _accepted_pairs(trial):
        _require_accepted(tiny.kind, check, tiny.path, tiny.block, tiny.inputs, GRID)


def _require_accepted(kind: str, check: Callable[..., None], *arguments: Any) -> None:
    try:
        check(*arguments)
    except ResponseError as error:
        raise Broken(f"on {kind}, {error}") from error


def _require_near(tiny: Tiny, states: NDArray[Any], expected: NDArray[Any], complaint: str) -> None:
    """Refuse a difference above the tolerance; the complaint has a place for it."""
    difference = np.abs(states - expected).max()
    require(difference <= TOLERANCE, f"on {tiny.kind}, {complaint.format(difference)}")


def _blocks() -> Iterator[tuple[str, PairBlock, NDArray[Any]]]:
    random = np.random.default_rng(0)
    count = 4 * SOURCES
    images = random.integers(0, 256, (count, 3, SIDE, SIDE), dtype=np.uint8)
    rows = random.standard_normal((count, 6)).astype(np.float32)
    signals = random.standard_normal((count, 2, 6)).astype(np.float32)
    for kind, inputs in (("images", images), ("rows", rows), ("signals", signals)):
        places = inputs.shape[2:] if inputs.ndim == 4 else inputs.shape[1:]
        regions = random.integers(0, 2**FEATURES, (count, *places), dtype=np.uint64)
        yield f"pairs of {kind}", _block(minus=1), inputs
        yield f"{kind} without a feature", replace(_block(minus=0), regions=regions), inputs
        yield f"pairs of {kind} with a second context", _block(minus=1, context=(2, 3)), inputs


def _block(minus: int, context: tuple[int, int] | None = None) -> PairBlock:
    """Four inputs of each source: the factual input, then inputs that differ by position."""
    features = range(1, FEATURES + 1) if minus == 0 else (0,)
    source, feature = np.array(list(product(range(SOURCES), features))).T
    plus = 4 * source
    return PairBlock(
        pair_ids=tuple(f"{name}/{number}" for name, number in zip(source, feature, strict=True)),
        source_ids=tuple(map(str, range(SOURCES))),
        image_ids=tuple(map(str, range(4 * SOURCES))),
        input_positions=np.arange(4 * SOURCES),
        plus=plus,
        minus=plus + minus,
        source=source,
        class_id=np.zeros_like(source),
        feature=feature,
        context=None if context is None else plus[:, None] + context,
    )


def _plan(trial: Trial, kind: str, block: PairBlock, inputs: NDArray[Any]) -> Tiny:
    path = _fit(trial, kind, inputs)
    return Tiny(kind, path, block, inputs, plan_states(block, inputs, {NAME: path}, GRID))


def _fit(trial: Trial, kind: str, inputs: NDArray[Any]) -> RevealPath:
    """The path, fitted to inputs of a kind."""
    folder = trial.folder / kind.replace(" ", "_")
    path, file = (
        trial.member.with_fitted_file(folder, "tiny"),
        trial.member.fitted_file(folder, "tiny"),
    )
    if file is not None:
        path.fit([as_taken(inputs)], file)
    return path


def _accepted_pairs(trial: Trial) -> Iterator[Tiny]:
    for kind, block, inputs in _blocks():
        try:
            tiny = _plan(trial, kind, block, inputs)
            tiny.all_states  # noqa: B018 - a start or a rule may refuse the kind, too
        except BadInput:
            continue
        yield tiny


def _one_by_one(tiny: Tiny, row: int) -> NDArray[Any]:
    """(n_repetitions, n_stages, 2, …) states of one pair, each made separately."""
    path, block, clean = tiny.path, tiny.block, as_taken(tiny.inputs)
    revealed = path.reveal(block, tiny.inputs, path.grid(GRID))
    _, repetition_count, *stages_and_branches = revealed.input_position.shape
    shape = (min(REPETITIONS, repetition_count), *stages_and_branches)
    states = np.empty((*shape, *clean.shape[1:]), clean.dtype)
    words = revealed.content.shape[-1]
    plus, minus = (clean[[place]] for place in path.start_inputs(block)[row])
    for repetition, stage, branch in np.ndindex(shape):
        position = revealed.input_position[row, repetition, stage, branch]
        content = revealed.content[row, repetition, stage, branch]
        if np.array_equal(content, path.rule.full(words)):
            states[repetition, stage, branch] = clean[position]
            continue
        start = path.start.states(minus, plus, revealed.draw[row, repetition, stage][None])
        if np.array_equal(content, path.rule.empty(words)):
            states[repetition, stage, branch] = start[0]
            continue
        regions = None if block.regions is None else block.regions[[position]]
        single = path.rule.states(start, clean[[position]], content[None], regions)
        states[repetition, stage, branch] = single[0]
    return states


def _only(tiny: Tiny, row: int) -> tuple[PairBlock, NDArray[Any]]:
    """A block of one pair, with all inputs in the opposite order."""
    block, last = tiny.block.of_rows(np.array([row])), len(tiny.inputs) - 1
    alone = replace(
        block,
        source_ids=(block.source_ids[block.source[0]],),
        plus=last - block.plus,
        minus=last - block.minus,
        source=np.zeros(1, np.int64),
        context=None if block.context is None else last - block.context,
        regions=None if block.regions is None else block.regions[::-1],
    )
    return alone, tiny.inputs[::-1]
