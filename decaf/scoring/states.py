"""Make the planned states: from clean inputs and a state plan to batches on the device."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.arrays import (
    Array,
    Device,
    Tensor,
    as_taken,
    bits_like,
    is_tensor,
    like,
    namespace,
    places_like,
    send_to_device,
    to_numpy,
)
from decaf.reveal.path import Rule, WritingRule, writes_in_place
from decaf.scoring.planner import CLEAN, START, StatePlan
from decaf.scoring.starts import StoredStarts

WRITTEN_FROM = 64 * 2**10
"""States of at least this many bytes are written one by one; many smaller ones fit the cache."""
PORTION = 256 * 2**10
"""Bytes of smaller states that are made together: they fit the cache with their inputs."""


class StateBuilder:
    """Build states of a plan on the device of the inputs: numpy on the host, torch on any device.

    ``inputs`` are the (n_inputs, …) real clean inputs of the block, as the model takes them.
    ``stored`` has the random starts that were drawn once for the whole study, by number of the
    start; starts with other numbers are made when a state needs them. Raises DataError if a stored
    start lacks a draw that the plan needs.
    """

    def __init__(
        self,
        plan: StatePlan,
        inputs: Array,
        stored: Mapping[int, StoredStarts] = MappingProxyType({}),
    ) -> None:
        self._plan = plan
        self._clean = inputs
        # On the device of the inputs: a batch needs one word for every pixel of every state.
        self._regions = None if plan.regions is None else bits_like(inputs, plan.regions)
        self._stored = stored
        self._is_on_host = not is_tensor(inputs) or inputs.device.type == "cpu"
        self._state_bytes = max(inputs[:1].nbytes, 1)
        self._is_written = self._is_on_host and self._state_bytes >= WRITTEN_FROM
        self._row = np.zeros(plan.state_count, np.int64)
        for number, starts in stored.items():
            states = np.flatnonzero(plan.start == number)
            words = starts.words.shape[1]
            self._row[states] = starts.rows(plan.draw[states, :words])

    def build(self, states: NDArray[np.int64]) -> Array:
        """(n,) numbers of states → (n, …), of the type and on the device of the inputs."""
        plan, rule = self._plan, self._plan.rule[states]
        built: Any = self._empty(states.size)
        clean = np.flatnonzero(rule == CLEAN)
        if clean.size:
            built[self._at(clean)] = self._clean[self._at(plan.input_position[states[clean]])]

        started = np.flatnonzero(rule != CLEAN)
        if started.size:
            starts, use = self._starts(states[started])
            is_start = rule[started] == START
            built[self._at(started[is_start])] = starts[self._at(use[is_start])]
            for number, revealing in enumerate(plan.rules):
                chosen = rule[started] == number
                rows = started[chosen]
                if rows.size and self._is_written and writes_in_place(revealing):
                    self._write(revealing, built, rows, states[rows], starts, use[chosen])
                elif rows.size:
                    self._fill(revealing, built, rows, states[rows], starts, use[chosen])
        return built

    def _fill(
        self,
        rule: Rule,
        built: Any,
        rows: NDArray[np.int64],
        states: NDArray[np.int64],
        starts: Any,
        use: NDArray[np.int64],
    ) -> None:
        """Fill rows with states that a rule makes, as many at a time as the cache holds.

        A rule with ``write`` gives the same result for any portion, so it runs in numpy, portion by
        portion, with the least overhead. Other rules, and GPUs, compute all states at once.
        """
        clean, regions, size = self._clean, self._regions, rows.size
        if self._is_on_host and writes_in_place(rule):
            built, starts, clean = (to_numpy(array) for array in (built, starts, clean))
            regions, size = self._plan.regions, max(PORTION // self._state_bytes, 1)
        for first in range(0, rows.size, size):
            portion = slice(first, first + size)
            positions = places_like(clean, self._plan.input_position[states[portion]])
            built[places_like(clean, rows[portion])] = rule.states(
                starts[places_like(clean, use[portion])],
                clean[positions],
                self._plan.content[states[portion]],
                None if regions is None else regions[positions],
            )

    def _write(
        self,
        rule: WritingRule,
        built: Array,
        rows: NDArray[np.int64],
        states: NDArray[np.int64],
        starts: Array,
        use: NDArray[np.int64],
    ) -> None:
        """Write states to their rows one by one, so that the inputs of each stay in the cache."""
        plan = self._plan
        place, start, clean = (to_numpy(array) for array in (built, starts, self._clean))
        positions = plan.input_position[states]
        for row, state, used, position in zip(rows, states, use, positions, strict=True):
            rule.write(
                place[row : row + 1],
                start[used : used + 1],
                clean[position : position + 1],
                plan.content[state : state + 1],
                None if plan.regions is None else plan.regions[position : position + 1],
            )

    def _starts(self, states: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
        """Starts that the states need, each made once, and which one each state uses."""
        plan = self._plan
        start_numbers, use = np.unique(plan.use[states], return_inverse=True)
        first = plan.first_use[start_numbers]
        start_states: Any = self._empty(start_numbers.size)
        for number, start in enumerate(plan.starts):
            rows = np.flatnonzero(plan.start[first] == number)
            if rows.size and number in self._stored:
                stored = self._row[first[rows]]
                start_states[self._at(rows)] = like(
                    self._clean, self._stored[number].states[stored]
                )
            elif rows.size:
                # Starts that depend on no pair take the first input as a pattern of shape and type.
                plus, minus = (np.maximum(part[first[rows]], 0) for part in (plan.plus, plan.minus))
                start_states[self._at(rows)] = start.states(
                    self._clean[self._at(plus)],
                    self._clean[self._at(minus)],
                    plan.draw[first[rows]],
                )
        return start_states, use

    def _at(self, rows: NDArray[np.int64]) -> Any:
        """Index of rows of the inputs, or of arrays that are built like them."""
        return places_like(self._clean, rows)

    def _empty(self, count: int) -> Array:
        clean = self._clean
        device = {"device": clean.device} if namespace(clean) is not np else {}
        return namespace(clean).empty((count, *clean.shape[1:]), dtype=clean.dtype, **device)


def on_device(inputs: NDArray[Any], device: Device) -> Tensor:
    """Clean inputs as a tensor: 8-bit images become float32 in [0, 1], other types stay.

    They are (n, channels, height, width) or other (n, …). The arrays on the host must not change
    until the states made from them have been used.
    """
    import torch

    return as_taken(send_to_device(torch.from_numpy(inputs), device)).contiguous()
