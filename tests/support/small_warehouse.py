"""A study of two models committed through the writer, complete enough to pass every check."""

from datetime import timedelta

import numpy as np
import planned_units
from planned_units import STARTED, block_units, cost_row, pair_row

from warehouse.commits.writer import open_root

GRID = [0.0, 0.25, 1.0]
MODELS = ("m", "007")
PAIRS = ("p0", "p1", "p2")


def small_warehouse(root, study="s", run_id="r", epsilon=0.02, day=1):
    """Commit the pairs, a run at ``epsilon``, its units and its outcome; return the store."""
    store = open_root(root)
    commit_pairs(store, study)
    commit_run(store, study, run_id, MODELS, epsilon, day)
    for number, model in enumerate(MODELS):
        commit_block(store, study, model, epsilon, seed=number)
    commit_outcome(store, study, run_id, day)
    return store


def commit_run(store, study, run_id, model_ids, epsilon, day, pairs_digest="pairs", more=()):
    """Commit the manifest of a run of one block for each model, and of ``more`` units."""
    units = [
        unit
        for model in model_ids
        for unit in block_units(model, model, epsilon, {"blend": 3}, digest=pairs_digest)
    ]
    run = {"run_id": run_id, "started_at": of_day(day), "epsilon": epsilon}
    run |= {"pairs_digest": pairs_digest}
    models = [{"model_id": model} for model in model_ids]
    path = {"path": "blend", "t": GRID}
    planned_units.commit_run(store, study, run, [*units, *more], models, [path])


def commit_outcome(store, study, run_id, day):
    """Commit that a run is finished."""
    planned_units.commit_outcome(store, study, run_id, of_day(day))


def of_day(day):
    """Moment of a run of this day."""
    return STARTED + timedelta(days=day - 1)


def commit_block(store, study, model, epsilon, seed=0):
    """Commit the scores and profiles of the one block of a model."""
    commit_scores(store, study, model, seed)
    commit_profiles(store, study, model, epsilon, seed)


def commit_scores(store, study, model, seed=0):
    """Commit the scores of the one block of a model: the units ``-clean`` and ``-blend``."""
    predictions = [
        {"unit_key": f"{model}-clean", "image_id": f"{pair}/{side}", "predicted_class": 0}
        | {"class_scores": [0.75, 0.25]}
        for pair in PAIRS
        for side in ("same", "rand")
    ]
    key = f"{model}-scores"
    more = {"predictions": predictions, "costs": [cost_row(key, 3, 15, 18)]}
    scored, units = _scored(model, seed), (f"{model}-clean",)
    planned_units.commit_scores(store, study, key, model, *scored, more, units)


def commit_profiles(store, study, model, epsilon, seed=0):
    """Commit the profiles of the one block of a model, from the same scores."""
    key = f"{model}-at-{epsilon}"
    planned_units.commit_profiles(store, study, key, model, *_scored(model, seed), epsilon)


def renamed(rows, key):
    """The same rows of a table under the key of another unit, or of another commit."""
    column = "commit_key" if "commit_key" in rows.column_names else "unit_key"
    position = rows.schema.get_field_index(column)
    return rows.set_column(position, column, [[key] * rows.num_rows])


def _scored(model, seed):
    """Keys of the trajectories of a model, their stages, and the scores of both branches."""
    q = np.random.default_rng(seed).random((2, len(PAIRS), len(GRID)))
    q[1, :, 0] = q[0, :, 0]
    keys = [
        {"unit_key": f"{model}-blend", "pair_id": pair, "path": "blend", "repetition": 0}
        for pair in PAIRS
    ]
    return keys, GRID, q


def commit_pairs(store, study, digest="pairs"):
    """Commit the set of pairs and its inputs."""
    pairs = [
        pair_row(
            pair, f"source of {pair}", "rand", (f"{pair}/same", "same"), (f"{pair}/rand", "rand")
        )
        for pair in PAIRS
    ]
    planned_units.commit_pairs(store, study, pairs, digest)
