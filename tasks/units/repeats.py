"""Stochastic models: score every state several times, and take the mean as its score.

The scores of each query are rows of the table ``repeats``. Routing and measurements use the mean.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.foundation.arrays import Tensor
from decaf.models.card import Model, ModelCard
from decaf.scoring.block import Scorer
from decaf.scoring.scores.base import ScoreDefinition
from tasks.units.rows import score_lists, trajectory_columns
from warehouse.tables.declarations import REPEATS

Branches = Mapping[str, NDArray[np.float64]]
"""By path: (n_pairs, n_repetitions, n_stages, 2) scores, factual branch first."""


def scorers_of(card: ModelCard, model: Model, score: ScoreDefinition) -> list[Scorer]:
    """Scorers of a state, one for each query; a stochastic model's card has their number."""
    stochastic = card.stochastic
    if stochastic is None:
        return [partial(_score, model, score, getattr(model, "distinct_outputs", model.outputs))]
    if stochastic.seed:
        queries = [partial(model.seeded_outputs, seed=seed) for seed in range(stochastic.repeats)]
    else:
        queries = [model.outputs] * stochastic.repeats
    return [partial(_score, model, score, query) for query in queries]


def _score(
    model: Model, score: ScoreDefinition, query: Callable[[Tensor], Tensor], states: Tensor
) -> Tensor:
    import torch

    with torch.inference_mode():
        return score.values(query(states), model.output)


def repeat_rows(
    keys: Mapping[str, str], ids: Mapping[str, Sequence[str]], queries: Sequence[Branches]
) -> pa.Table:
    """Rows of the table ``repeats``: a trajectory of each query, if all queries are finite.

    ``keys`` and ``ids`` are the key of the unit and the names of the pairs of every path.
    """
    tables = [REPEATS.schema.empty_table()]
    for path, key in keys.items():
        of_path = np.stack([branches[path] for branches in queries])
        query_count, pairs, repetitions, stages, _ = of_path.shape
        trajectories = of_path.reshape(query_count, -1, stages, 2)
        is_finite = np.isfinite(trajectories).all(axis=(0, 2, 3))
        pair_ids = np.repeat(np.array(ids[path]), repetitions)[is_finite]
        repetition = np.tile(np.arange(repetitions), pairs)[is_finite]
        for query in range(query_count):
            scores = trajectories[query, is_finite]
            columns = {
                **trajectory_columns(key, path, pair_ids, repetition),
                "repeat": np.full(len(scores), query),
                "q_plus": score_lists(scores[:, :, 0]),
                "q_minus": score_lists(scores[:, :, 1]),
            }
            tables.append(pa.table(columns, schema=REPEATS.schema))
    return pa.concat_tables(tables)
