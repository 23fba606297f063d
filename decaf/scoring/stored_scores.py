"""Reuse stored scores of clean inputs and starts when a block is scored for another path.

Clean inputs and starts belong to many paths. Where their scores are stored, only the states between
them go through the model.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from decaf.scoring.planner import StatePlan


def stored_values(
    plan: StatePlan,
    columns: NDArray[np.int64],
    clean: NDArray[np.float64],
    branches: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """(n_states, n_columns) stored scores of the states; NaN for states without.

    A path that mixes scores (the context channel) stores no scores of states.

    The plan is that of all paths, stored ones included; ``columns`` (n_pairs,) says which column is
    the score of a pair. ``clean`` has (n_inputs, n_columns) values of the clean inputs of the
    block, ``branches`` by stored path (n_pairs of the path, n_repetitions, n_stages, 2) values of
    both branches, before the sign of the score; both are NaN where none is stored.
    """
    values = np.full((plan.state_count, clean.shape[1]), np.nan)
    for path, scores in branches.items():
        if plan.mixing[path] is None:
            index = plan.index[path]
            path_columns = columns[plan.rows[path]][:, None, None, None]
            of_pair = np.broadcast_to(path_columns, index.shape)
            is_stored = ~np.isnan(scores)
            values[index[is_stored], of_pair[is_stored]] = scores[is_stored]
    is_scored = ~np.isnan(clean).any(axis=1)
    values[plan.clean_index[is_scored]] = clean[is_scored]
    return values


def states_to_score(
    plan: StatePlan,
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    paths: Iterable[str],
) -> NDArray[np.bool_]:
    """(n_states,) states that the paths need and that :func:`stored_values` has no values of."""
    needed = np.zeros(plan.state_count, bool)
    for path in paths:
        index = plan.index[path]
        missing = np.isnan(values[index, columns[plan.rows[path]][:, None, None, None]])
        needed[index[missing]] = True
    return needed
