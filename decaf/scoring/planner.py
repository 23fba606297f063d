"""The state planner: the distinct states of all stages, branches, repetitions and paths.

Scoring every stage and branch of every path separately sends many identical tensors through the
model: both branches, and paths with equal starts, share the start; all paths (and pairs with common
inputs) share the clean inputs, all features of an input share its factual branch, and patch orders
that differ only in tied patches share most sets. The planner names
every state by its *content* and keeps each once; scores are then gathered back. Nothing is
approximated: equal names mean equal inputs.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.errors import BadInput
from decaf.foundation.distinct import find_distinct
from decaf.reveal.path import Regions, Revealed, RevealPath, Rule, Start, check_end, check_start

CLEAN, START, NONE = -1, -2, -1
"""Rule numbers of clean inputs and of starts (rules of the paths count from 0), and no input."""
FIXED = 5
"""First words of a state's name: rule, start, input, and the two inputs of the start."""
MOST_BYTES = 1024
"""Larger inputs are compared by their digests."""


@dataclass(frozen=True)
class StatePlan:
    """Distinct states of a block, and where every stage and branch finds its own.

    Arrays over states, (n_states,): ``rule`` and ``start`` index ``rules`` and ``starts`` (or are
    ``CLEAN`` / ``START`` / ``NONE``), ``input_position`` is the clean input that shows through,
    ``plus`` and ``minus`` are the two inputs whose start is used, ``draw`` and ``content`` are
    words of the path, ``source`` is the first source that needs the state. States of one source are
    neighbours, and so are the two branches of a stage.
    """

    rules: tuple[Rule, ...]
    starts: tuple[Start, ...]
    rule: NDArray[np.int64]
    start: NDArray[np.int64]
    input_position: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    draw: NDArray[np.uint64]
    content: NDArray[np.uint64]
    source: NDArray[np.int64]
    use: NDArray[np.int64]
    """(n_states,) number of the distinct start of each state; ``NONE`` for clean inputs."""
    first_use: NDArray[np.int64]
    """(n_starts,) a state of each distinct start; in the order of the inputs they are made from."""
    regions: Regions
    """(n_inputs, …) of the block, for rules that remove features."""
    index: Mapping[str, NDArray[np.int64]]
    """By path: (n_pairs, n_repetitions, n_anchors, 2) state of every scored stage and branch.

    Pairs are those of the path's pair types; a path without pairs in the block is left out.
    """
    mixing: Mapping[str, NDArray[np.float64] | None]
    """By path: (n_stages, n_anchors) weights of the scored states, None where they are stages."""
    grids: Mapping[str, NDArray[np.float64]]
    """By path: (n_stages,) its stages."""
    drawn: Mapping[str, int]
    """By path whose start is a random draw: the number of its start."""
    rows: Mapping[str, NDArray[np.int64]]
    """By path: (n_pairs of the path,) rows of its pairs in the block."""
    clean_index: NDArray[np.int64]
    """(n_inputs,) state of every clean input of the block."""
    endpoints: NDArray[np.int64]
    """(n_pairs, 1, 1, 2) states of the pairs that no path scores."""

    @property
    def state_count(self) -> int:
        """Forward rows that the plan needs."""
        return self.rule.size

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in memory."""
        held = [*vars(self).values(), *self.index.values(), *self.grids.values()]
        return sum(array.nbytes for array in held if isinstance(array, np.ndarray))

    def naive_count(self, paths: Iterable[str] | None = None) -> int:
        """Forward rows if each path and pair were scored separately.

        By default for all paths, and for the endpoints of pairs without a path.
        As in the paper, ``R T (1 + K J)`` for one input: pairs with the same factual trajectory
        (the features of one input) share it (appendix C.2).
        """
        if paths is not None:
            return sum(_naive_rows(self.index[path]) for path in paths)
        return self.naive_count(self.index) + _naive_rows(self.endpoints)

    def gather(
        self, values: NDArray[np.float64], columns: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """Scores of every stage and branch, from (n_states, n_columns) values of the states.

        ``columns`` (n_pairs,) has the column of each pair's score. Scores are by path (n_pairs
        of the path, n_repetitions, n_stages, 2), factual branch first.
        """
        gathered = {}
        for name, index in self.index.items():
            scores = values[index, columns[self.rows[name]][:, None, None, None]]
            if (mixing := self.mixing[name]) is not None:
                scores = np.einsum("sa,prab->prsb", mixing, scores)
            gathered[name] = scores
        return gathered

    def batches(self, batch_size: int) -> list[NDArray[np.int64]]:
        """Consecutive states, whole sources at a time as far as ``batch_size`` allows.

        A larger source is cut at even positions, so that both branches of a stage stay together.
        """
        ends = np.append(np.flatnonzero(np.diff(self.source)) + 1, self.state_count).tolist()
        cut = max(batch_size - batch_size % 2, 1)
        bounds, source = [0], 0
        for end in ends if self.state_count else []:
            if source > bounds[-1] and end - bounds[-1] > batch_size:
                bounds.append(source)
            while end - bounds[-1] > batch_size:
                bounds.append(bounds[-1] + cut)
            source = end
        return [np.arange(*some) for some in pairwise([*bounds, self.state_count]) if some[1]]


def plan_states(
    block: PairBlock,
    inputs: NDArray[Any],
    paths: Mapping[str, RevealPath],
    grid: NDArray[np.float64],
    is_shared: bool = True,
) -> StatePlan:
    """Name every state of every path and keep the distinct ones.

    Every clean input of the block is among the states, even if no stage needs it. Pairs index the
    clean inputs, (n_inputs, channels, height, width) or other (n_inputs, …); the grid has the
    (n_stages,) stages from 0 to 1 of the paths that set no stages. Where states are not shared,
    equal states of different sources count as different states. Raises DataError when a path is
    for pairs of some types, and the pairs have none, or when a path cannot reveal these inputs, and
    ResponseError when its first stage is not one state or its last not the clean inputs.
    """
    rows_of = {name: block.rows_of_types(path.pair_types) for name, path in paths.items()}
    paths = {name: path for name, path in paths.items() if rows_of[name].size}
    blocks = {
        name: block.of_rows(rows_of[name]) if rows_of[name].size < block.pair_count else block
        for name in paths
    }
    rules: list[Rule] = []
    starts: list[Start] = []
    grids = {name: path.grid(grid) for name, path in paths.items()}
    revealed = {
        name: _reveal_block(name, path, blocks[name], inputs, grids[name])
        for name, path in paths.items()
    }
    first_equal = _first_equal(inputs, block.regions)
    draws = max((part.draw.shape[-1] for part in revealed.values()), default=0)
    words = max((part.content.shape[-1] for part in revealed.values()), default=0)
    tables, source_of_row = [], []
    for name, path in paths.items():
        part = revealed[name]
        # A word of all names is contiguous, so that names are compared and gathered word by word.
        table = np.zeros((FIXED + draws + words, *part.input_position.shape), np.int64)
        table[0] = _number(path.rule, rules)
        table[1] = _number(path.start, starts)
        _name_states(table, part, path, blocks[name], first_equal, draws)
        tables.append(table.reshape(len(table), -1))
        source_of_row.append(np.repeat(blocks[name].source, part.input_position[0].size))

    clean = np.zeros((FIXED + draws + words, len(inputs)), np.int64)
    _name_clean(clean, np.ones(len(inputs), bool), first_equal)
    sources = np.concatenate([*source_of_row, _source_of_input(block, len(inputs))])
    named = np.concatenate([*tables, clean], axis=1)
    if not is_shared:
        named = np.concatenate([named, sources[None]])
    first, inverse = find_distinct(named.view(np.uint64))

    # Neighbours by source, then in the order in which stages and branches first ask for a state.
    order = np.argsort(sources[first], stable=True)
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    first = first[order]
    states = named[:, first]
    is_alone = np.ones(block.pair_count, bool)
    for name in paths:
        is_alone[rows_of[name]] = False
    use, first_use = _starts_behind(states[: FIXED + draws])
    parts = np.split(position[inverse], np.cumsum([table.shape[1] for table in tables]))
    return StatePlan(
        rules=tuple(rules),
        starts=tuple(starts),
        rule=states[0],
        start=states[1],
        input_position=states[2],
        plus=states[3],
        minus=states[4],
        draw=states[FIXED : FIXED + draws].view(np.uint64).T,
        content=states[FIXED + draws : FIXED + draws + words].view(np.uint64).T,
        source=sources[first],
        use=use,
        first_use=first_use,
        regions=block.regions,
        index={
            name: part.reshape(revealed[name].input_position.shape)
            for name, part in zip(paths, parts[:-1], strict=True)
        },
        mixing={name: path.mixing(grids[name]) for name, path in paths.items()},
        grids=grids,
        drawn={
            name: starts.index(path.start) for name, path in paths.items() if path.has_drawn_start
        },
        rows={name: rows_of[name] for name in paths},
        clean_index=parts[-1],
        endpoints=parts[-1][np.stack([block.plus, block.minus], axis=1)[is_alone]][:, None, None],
    )


def _reveal_block(
    name: str,
    path: RevealPath,
    block: PairBlock,
    inputs: NDArray[Any],
    grid: NDArray[np.float64],
) -> Revealed:
    try:
        revealed = path.reveal(block, inputs, grid)
        check_start(path, block, revealed)
        check_end(path, block, revealed)
    except BadInput as error:
        raise type(error)(f"{describe_path(name, path)}: {error}") from error
    return revealed


def describe_path(name: str, path: RevealPath) -> str:
    """Name and kind of a path for a message; the path of a notebook need not have a kind."""
    return f"path {name} (kind: {getattr(path, 'kind', type(path).__name__)})"


def _name_states(
    table: NDArray[np.int64],
    revealed: Revealed,
    path: RevealPath,
    block: PairBlock,
    first_equal: NDArray[np.int64],
    draws: int,
) -> None:
    """Fill in the names, by word: rule, start, input, lower, upper, draw words, content words."""
    own_draws, own_words = revealed.draw.shape[-1], revealed.content.shape[-1]
    table[2] = first_equal[revealed.input_position]
    if path.start.of_pair:
        # The start is symmetrical in its inputs, so a state's name ignores their order.
        start_inputs = np.sort(first_equal[path.start_inputs(block)], axis=1)
        table[3:FIXED] = start_inputs.T[..., None, None, None]
    else:
        table[3:FIXED] = NONE
    for word in range(own_draws):
        table[FIXED + word] = revealed.draw[..., word].view(np.int64)[..., None]
    content = table[FIXED + draws :]
    for word in range(own_words):
        content[word] = revealed.content[..., word].view(np.int64)

    is_start = (revealed.content == path.rule.empty(own_words)).all(axis=-1)
    table[0, is_start], table[2, is_start] = START, NONE
    content[:, is_start] = 0
    is_clean = (revealed.content == path.rule.full(own_words)).all(axis=-1)
    _name_clean(table, is_clean, table[2, is_clean])


def _name_clean(
    table: NDArray[np.int64], is_clean: NDArray[np.bool_], images: NDArray[np.int64]
) -> None:
    """Name some states after the clean inputs that they are."""
    for word, values in zip(table, (CLEAN, NONE, images, NONE, NONE), strict=False):
        word[is_clean] = values
    table[FIXED:, is_clean] = 0


def _starts_behind(
    states: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of the distinct start of each state, by word of its name, and one state of each."""
    use = np.full(states.shape[1], NONE)
    started = np.flatnonzero(states[0] != CLEAN)
    if not started.size:
        return use, started
    made_from = [states[word, started] for word in (1, *range(3, len(states)))]
    # States of one start are mostly neighbours, so only the first of each run is compared.
    is_head = np.ones(started.size, bool)
    is_head[1:] = np.any([word[1:] != word[:-1] for word in made_from], axis=0)
    heads = np.flatnonzero(is_head)
    words = [word[heads] for word in made_from]
    first, inverse = find_distinct(word.view(np.uint64) for word in words)
    order = np.lexsort([word[first] for word in reversed(words)])
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    use[started] = number[inverse][np.cumsum(is_head) - 1]
    return use, started[heads[first[order]]]


def _naive_rows(index: NDArray[np.int64]) -> int:
    trajectories = index.reshape(-1, *index.shape[2:])
    stage_count = trajectories.shape[1]
    factual = find_distinct(trajectories[..., 0].view(np.uint64).T).first.size if index.size else 0
    return factual * stage_count + trajectories[..., 1].size


def _number(value: Any, known: list[Any]) -> int:
    if value not in known:
        known.append(value)
    return known.index(value)


def _first_equal(inputs: NDArray[Any], regions: Regions) -> NDArray[np.int64]:
    """(n_inputs,) the first input of the same content and regions: they make equal states."""
    words: list[NDArray[np.uint64]] = []
    for part in [inputs] if regions is None else [inputs, regions]:
        rows = np.ascontiguousarray(part).reshape(len(inputs), -1)
        size = rows.itemsize * rows.shape[1]
        if size > MOST_BYTES or size % 8:
            digests = b"".join(hashlib.sha256(row.data).digest() for row in rows)
            rows = np.frombuffer(digests, np.uint64).reshape(len(inputs), -1)
        words.extend(rows.view(np.uint64).T)
    first, inverse = find_distinct(words)
    return first[inverse]


def _source_of_input(block: PairBlock, input_count: int) -> NDArray[np.int64]:
    source = np.zeros(input_count, np.int64)
    if block.context is not None:
        has_context = (block.context >= 0).all(axis=1)
        source[block.context[has_context]] = block.source[has_context, None]
    source[block.minus] = block.source
    source[block.plus] = block.source
    return source
