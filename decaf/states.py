"""Make the planned states: from clean pixels and a state plan to batches on the device."""

import numpy as np
import torch
from numpy.typing import NDArray

from decaf.planner import CLEAN, START, StatePlan


class StateBuilder:
    """Builds any states of a plan.

    Parameters
    ----------
    plan
        The distinct states of a block.
    images
        (n_images, height, width, channels) uint8 clean inputs of the block.
    device
        Where the states are made and scored.
    """

    def __init__(self, plan: StatePlan, images: NDArray[np.uint8], device: torch.device) -> None:
        self._plan = plan
        pixels = torch.from_numpy(np.ascontiguousarray(images)).to(device)
        self._clean = pixels.permute(0, 3, 1, 2).to(torch.float32).div_(255).contiguous()

    def build(self, states: NDArray[np.int64]) -> torch.Tensor:
        """(n,) numbers of states → (n, channels, height, width) float32 in [0, 1]."""
        plan, rule = self._plan, self._plan.rule[states]
        built = self._clean.new_empty((states.size, *self._clean.shape[1:]))
        clean = np.flatnonzero(rule == CLEAN)
        built[clean] = self._clean[plan.image[states[clean]]]

        started = np.flatnonzero(rule != CLEAN)
        if started.size:
            starts, start_of_state = self._starts(states[started])
            alone = rule[started] == START
            built[started[alone]] = starts[start_of_state[alone]]
            for number, revealing in enumerate(plan.rules):
                chosen = rule[started] == number
                rows = started[chosen]
                if rows.size:
                    built[rows] = revealing.states(
                        starts[start_of_state[chosen]],
                        self._clean[plan.image[states[rows]]],
                        plan.content[states[rows]],
                    )
        return built

    def _starts(self, states: NDArray[np.int64]) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """Starts that the states need, each made once, and which one each state uses."""
        plan = self._plan
        named = np.stack([plan.start[states], plan.plus[states], plan.minus[states]], axis=1)
        wanted, use = np.unique(named, axis=0, return_inverse=True)
        made = self._clean.new_empty((len(wanted), *self._clean.shape[1:]))
        for number, start in enumerate(plan.starts):
            rows = np.flatnonzero(wanted[:, 0] == number)
            if rows.size:
                made[rows] = start.states(
                    self._clean[wanted[rows, 1]], self._clean[wanted[rows, 2]]
                )
        return made, use.reshape(-1)
