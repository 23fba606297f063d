"""The state planner: the distinct inputs behind all stages, branches, paths and pair types.

Scoring every stage and branch of every path separately sends many identical tensors through the
model: the start is shared by both branches and all paths of a pair, the clean inputs are shared
by all paths (and by pair types that have them in common), and patch orders that differ in tied
patches only reveal the same sets. The planner names every state by its *content* and keeps each
once; scores are then gathered back. Nothing is approximated: equal names mean equal pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from decaf.pairs import PairBlock

if TYPE_CHECKING:
    import torch

CLEAN, START = -1, -2
"""Rule numbers of clean inputs and of starts; rules of the paths count from 0."""


class Start(Protocol):
    """How the common uninformative state of a pair is made."""

    def states(self, plus: "torch.Tensor", minus: "torch.Tensor") -> "torch.Tensor":
        """Start of each pair; symmetrical in its arguments."""


class Rule(Protocol):
    """How a partly revealed state is made."""

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content that is the start itself."""

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content that is the clean input itself."""

    def states(
        self, start: "torch.Tensor", clean: "torch.Tensor", content: NDArray[np.uint64]
    ) -> "torch.Tensor":
        """One state per row."""


class Path(Protocol):
    """What a reveal path tells the planner."""

    start: Start
    rule: Rule

    def contents(
        self, block: PairBlock, images: NDArray[np.uint8], grid: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        """(n_pairs, n_stages, 2 branches, words) what each state reveals."""


@dataclass(frozen=True)
class StatePlan:
    """Distinct states of a block, and where every stage and branch finds its own.

    Arrays over states, (n_states,): ``rule`` and ``start`` index ``rules`` and ``starts`` (or are
    ``CLEAN`` / ``START`` / -1), ``image`` is the clean input that shows through, ``plus`` and
    ``minus`` are the two inputs whose start is used, ``source`` the source it is first needed
    for. States of one source are neighbours, and so are the two branches of a stage.
    """

    rules: tuple[Rule, ...]
    starts: tuple[Start, ...]
    rule: NDArray[np.int64]
    start: NDArray[np.int64]
    image: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    content: NDArray[np.uint64]
    source: NDArray[np.int64]
    index: Mapping[str, NDArray[np.int64]]
    """By path: (n_pairs, n_stages, 2) state of every stage, factual branch first."""
    clean_index: NDArray[np.int64]
    """(n_images,) state of every clean image of the block."""

    @property
    def state_count(self) -> int:
        """Forward rows that the plan needs."""
        return self.rule.size

    @property
    def naive_count(self) -> int:
        """Forward rows of scoring every stage and branch of every path by itself."""
        return sum(index.size for index in self.index.values())

    def batches(self, batch_size: int) -> list[NDArray[np.int64]]:
        """Consecutive states, whole sources at a time as far as ``batch_size`` allows.

        A source with more states than that is cut at even positions, between stages rather than
        between the branches of one.
        """
        bounds = np.flatnonzero(np.diff(self.source)) + 1
        batches: list[NDArray[np.int64]] = []
        open_batch = np.empty(0, np.int64)
        for states in np.split(np.arange(self.state_count), bounds):
            if open_batch.size and open_batch.size + states.size > batch_size:
                batches.append(open_batch)
                open_batch = np.empty(0, np.int64)
            open_batch = np.concatenate([open_batch, states])
            while open_batch.size > batch_size:
                cut = max(batch_size - batch_size % 2, 1)
                batches.append(open_batch[:cut])
                open_batch = open_batch[cut:]
        return [*batches, open_batch] if open_batch.size else batches


def plan_states(
    block: PairBlock,
    images: NDArray[np.uint8],
    paths: Mapping[str, Path],
    grid: NDArray[np.float64],
) -> StatePlan:
    """Name every state of every path and keep the distinct ones.

    Parameters
    ----------
    block
        Pairs, with ``plus`` and ``minus`` indexing ``images``.
    images
        (n_images, height, width, channels) uint8 clean inputs of the block.
    paths
        Reveal paths by their name in the study.
    grid
        (n_stages,) stages from 0 to 1.

    Returns
    -------
    StatePlan
        Every clean image of the block is among the states, whether or not a stage needs it.
    """
    rules: list[Rule] = []
    starts: list[Start] = []
    contents = {name: path.contents(block, images, grid) for name, path in paths.items()}
    words = max(content.shape[-1] for content in contents.values())
    tables = []
    for name, path in paths.items():
        rule, start = _number(path.rule, rules), _number(path.start, starts)
        tables.append(_name_states(block, contents[name], path.rule, rule, start, words))

    clean = _clean_rows(images.shape[0], words)
    sizes = [table.shape[0] for table in tables]
    rows, first, inverse = _distinct(np.concatenate([*tables, clean]))
    shape = (block.pair_count, grid.size, 2)
    parts = np.split(inverse, np.cumsum(sizes))
    pair_of_row = np.concatenate(
        [np.repeat(np.arange(block.pair_count), grid.size * 2)] * len(tables)
    )
    source_of_row = np.concatenate([block.source[pair_of_row], _source_of_image(block, images)])

    # Neighbours by source, then in the order in which stages and branches first ask for a state.
    order = np.lexsort((first, source_of_row[first]))
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    rows, first = rows[order], first[order]
    return StatePlan(
        rules=tuple(rules),
        starts=tuple(starts),
        rule=rows[:, 0],
        start=rows[:, 1],
        image=rows[:, 2],
        plus=rows[:, 3],
        minus=rows[:, 4],
        content=rows[:, 5:].view(np.uint64),
        source=source_of_row[first],
        index={
            name: position[part].reshape(shape)
            for name, part in zip(paths, parts[:-1], strict=True)
        },
        clean_index=position[parts[-1]],
    )


def _number(value: Any, known: list[Any]) -> int:
    if value not in known:
        known.append(value)
    return known.index(value)


def _name_states(
    block: PairBlock,
    content: NDArray[np.uint64],
    rule: Rule,
    rule_number: int,
    start_number: int,
    words: int,
) -> NDArray[np.int64]:
    """One row per pair, stage and branch: (rule, start, image, lower, upper, content words)."""
    pairs, stages, _, own_words = content.shape
    rows = np.zeros((pairs, stages, 2, 5 + words), np.int64)
    rows[..., 0], rows[..., 1] = rule_number, start_number
    rows[..., 2] = np.stack([block.plus, block.minus], axis=1)[:, None, :]
    # The start is symmetrical in its two inputs, so their order is no part of a state's name.
    rows[..., 3] = np.minimum(block.plus, block.minus)[:, None, None]
    rows[..., 4] = np.maximum(block.plus, block.minus)[:, None, None]
    rows[..., 5 : 5 + own_words] = content.view(np.int64)

    is_start = (content == rule.empty(own_words)).all(axis=-1)
    rows[is_start, 0], rows[is_start, 2], rows[is_start, 5:] = START, -1, 0
    is_clean = (content == rule.full(own_words)).all(axis=-1)
    image = rows[is_clean, 2]
    rows[is_clean] = CLEAN
    rows[is_clean, 2], rows[is_clean, 5:] = image, 0
    return rows.reshape(-1, 5 + words)


def _clean_rows(image_count: int, words: int) -> NDArray[np.int64]:
    rows = np.full((image_count, 5 + words), CLEAN, np.int64)
    rows[:, 2], rows[:, 5:] = np.arange(image_count), 0
    return rows


def _source_of_image(block: PairBlock, images: NDArray[np.uint8]) -> NDArray[np.int64]:
    source = np.zeros(images.shape[0], np.int64)
    source[block.minus] = block.source
    source[block.plus] = block.source
    return source


def _distinct(
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows, the first place of each, and where every row went."""
    packed = np.ascontiguousarray(rows).view(
        np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))
    )
    _, first, inverse = np.unique(packed.ravel(), return_index=True, return_inverse=True)
    return rows[first], first, inverse
