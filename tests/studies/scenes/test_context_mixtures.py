"""The channel over contexts against models that are asked for every single draw of it."""

import json
from datetime import UTC, datetime

import duckdb
import numpy as np
import pytest
from random_audit import near, rows_of

from decaf.studies.scenes.adapters import Shapes3DContext
from decaf.studies.scenes.factors import scene_levels
from decaf.studies.scenes.tasks import labels

EPSILON = 0.02
TASKS = {"direct": "object_color", "gate": "context_gate", "invert": "context_invert"}
FAMILIES, SEEDS, MAPS, SOURCES, DRAWS = ("resnet18", "small_vit"), (7101, 7102, 7103), (1, 2), 7, 40
METRICS = ("evidence", "contradiction", "fragility", "abs_response", "net_response")
LABELS = ("preserve_share", "collapse_share", "swap_share", "other_share")
MODELS = [
    (f"c__{task}__{family}__seed_{seed}", task, family, seed)
    for task in TASKS
    for family in FAMILIES
    for seed in SEEDS
]
PAIRS = [
    (f"p{source}-{one}-{other}", source, one, other)
    for source in range(SOURCES)
    for one in MAPS
    for other in MAPS
]


@pytest.fixture(scope="module")
def scores():
    """Scores by model and pair, (context, branch): context 0 is the swapped one."""
    rng = np.random.default_rng(19)
    found = {}
    for model, task, _, _ in MODELS:
        for pair, *_ in PAIRS:
            q = rng.integers(0, 100, 2) / 100
            other = {"direct": q, "gate": q[[0, 0]], "invert": q[::-1]}[task]
            q = q[[0, 0]] if rng.random() < 0.2 else q
            found[model, pair] = np.stack([np.clip(other + rng.normal(0, 0.1, 2), 0, 1), q])
    return found


@pytest.fixture
def connection(catalogue, scores):
    pairs = [
        {"pair_id": pair, "source_id": f"scene-{source:06d}", "plus_variant": "colour_1"}
        | {"pair_type": f"object_hue_{one}_wall_hue_{other}"}
        for pair, source, one, other in PAIRS
    ]
    return catalogue(staged(MODELS, pairs, scores))


def staged(models, pairs, scores):
    """Staging tables of a study whose models have these scores on these pairs."""
    where = {"study": "s", "run_id": "r"}
    config = {"data": {"adapter": "shapes3d_context"}}
    run = where | {"started_at": datetime(2026, 3, 1, tzinfo=UTC), "epsilon": EPSILON}
    recipes = [
        {"recipe": "scene_task", "task": TASKS[task], "seed": seed} for _, task, _, seed in models
    ]
    return {
        "stg_runs": [run | {"pairs_digest": "d", "config": json.dumps(config)}],
        "stg_models": [
            where
            | {"model_id": model, "family": family, "position": position}
            | {"training": json.dumps({"recipe": recipe, "outcome": {}})}
            for position, ((model, _, family, _), recipe) in enumerate(
                zip(models, recipes, strict=True)
            )
        ],
        "stg_paths": [where | {"path": "context", "kind": "context", "position": 0}],
        "stg_run_units": [
            where | {"model_id": model, "unit_key": model, "kind": "score"} for model, *_ in models
        ],
        "stg_pairs": [{"study": "s", "pairs_digest": "d"} | pair for pair in pairs],
        "stg_trajectories": [
            {"study": "s", "model_id": model, "unit_key": model, "pair_id": pair}
            | {"path": "context", "repetition": 0, "t": [0.0, 1.0]}
            | {"q_plus": q[:, 0].tolist(), "q_minus": q[:, 1].tolist()}
            for (model, pair), q in scores.items()
        ],
    }


def asked(q, swapped):
    """Ask a model for one draw of the channel: responses and what became of the labels."""
    (plus, minus), (end_plus, end_minus) = q[0 if swapped else 1], q[1]
    d, r = end_plus - end_minus, plus - minus
    labels, endpoint = (plus >= 0.5, minus >= 0.5), (end_plus >= 0.5, end_minus >= 0.5)
    e = c = f = 0.0
    if abs(d) < EPSILON:
        f = abs(r)
    elif r * d > 0:
        e = abs(r)
    else:
        c = abs(r)
    if labels[0] == labels[1]:
        became = "collapse_share"
    elif endpoint[0] == endpoint[1]:
        became = "other_share"
    else:
        became = "preserve_share" if labels == endpoint else "swap_share"
    return [e, c, f, e + c + f, e - c, *(float(became == name) for name in LABELS)]


def test_a_mixture_is_the_mean_over_the_draws_of_the_channel(connection, scores):
    found = rows_of(connection.sql("FROM core_scene_mixtures"))
    assert len(found) == len(MODELS) * len(MAPS) * 21
    for row in found[::5]:
        swaps = round(row["eta"] * DRAWS)
        assert swaps == pytest.approx(row["eta"] * DRAWS)
        draws = [
            asked(scores[row["model_id"], pair], draw < swaps)
            for pair, _, _, wall_map in PAIRS
            if wall_map == row["wall_map"]
            for draw in range(DRAWS)
        ]
        for name, value in zip((*METRICS, *LABELS), np.mean(draws, axis=0), strict=True):
            assert row[name] == near(value), (name, row)
        assert sum(row[name] for name in LABELS) == near(1)


def test_intervals_draw_seeds_within_a_family(connection):
    """Against the same draws, which keep as many models of either family as there are."""
    mixed = rows_of(connection.sql("FROM scene_mixtures([0.5]) WHERE task = 'invert'"))
    models = sorted({(row["family"], row["seed"]) for row in mixed})
    means = [
        np.mean([row["contradiction"] for row in mixed if (row["family"], row["seed"]) == model])
        for model in models
    ]
    layouts = ", ".join(f"(1, {place}, '{family}')" for place, (family, _) in enumerate(models))
    draws = connection.sql(
        f"WITH layouts AS (FROM (VALUES {layouts}) AS t (layout, position, stratum)) "
        "SELECT positions FROM bootstrap_draws('layouts', 2000, 7301)"
    ).fetchall()
    replicates = [np.mean([means[place] for place in places]) for (places,) in draws]
    (row,) = rows_of(
        connection.sql(
            "FROM paper_contradiction_mixture WHERE task = 'invert' AND family = 'all' "
            "AND eta = 0.5 AND statistic = 'contradiction'"
        )
    )
    assert row["estimate"] == near(np.mean(means))
    assert row["published"] == 0.49999733161716053
    for name, share in (("lower_90", 5), ("upper_90", 95), ("lower_95", 2.5), ("upper_95", 97.5)):
        assert row[name] == near(np.percentile(replicates, share))


@pytest.mark.parametrize("eta", [-0.025, 1.5, float("nan"), None])
def test_eta_is_a_probability(connection, eta):
    words = "eta is .*; expected probabilities of the swapped context, from 0 to 1"
    with pytest.raises(duckdb.Error, match=words):
        connection.sql("FROM scene_mixtures([0.5, $eta])", params={"eta": eta}).fetchall()


def test_models_that_know_their_task_answer_every_pair_of_the_data_right(catalogue):
    """Against the labels of the tasks, on the scenes of real pairs."""
    data = Shapes3DContext(adapter="shapes3d_context", sources=6).pair_set()
    models = [(task, task, "resnet18", 7101) for task in TASKS]
    fields = ("pair_id", "source_id", "pair_type")
    pairs = [
        {field: getattr(pair, field) for field in fields}
        | {"plus_variant": data.inputs[pair.plus].variant}
        for pair in data.pairs
    ]
    scores = {}
    for pair in data.pairs:
        shown = [*pair.context, pair.plus, pair.minus]
        levels = scene_levels(np.array([int(data.inputs[place].location) for place in shown]))
        for task, name in TASKS.items():
            scores[task, pair.pair_id] = labels(name, levels).reshape(2, 2).astype(float)
    found = rows_of(
        catalogue(staged(models, pairs, scores)).sql(
            "SELECT task, statistic, estimate FROM paper_contradiction_models WHERE model_id = task"
        )
    )
    values = {(row["task"], row["statistic"]): row["estimate"] for row in found}
    changes = dict(zip(TASKS, (0.0, 0.5, 1.0), strict=True))
    for task, change in changes.items():
        for name in ("endpoint_pair_accuracy", "swapped_pair_accuracy", "map_semantics_valid"):
            assert values[task, name] == 1, (task, name)
        assert values[task, "swapped_context_prediction_change"] == change
