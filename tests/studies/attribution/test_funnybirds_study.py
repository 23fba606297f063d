"""Studies of birds: by hand on a score that is a sum, and end to end with a training."""

import os
from pathlib import Path

import funny_birds
import in_process
import numpy as np
import pytest
from ended_commands import refused, succeeded
from funny_birds import PARTS
from small_studies import network_card, of_scenes, weighted
from warehouse_answers import failed_checks, fetched

from decaf.errors import BadInput
from decaf.plan.study import Study

REAL = Path(os.environ.get("DECAF_DATA_ROOT", "/nowhere")) / "funnybirds"
PATHS = {
    "removal": {"kind": "removal", "baseline": "blur", "pair_types": PARTS},
    "native": {"kind": "blend_from_factual", "pair_types": [f"native__{part}" for part in PARTS]},
}


ENDPOINTS = """
    SELECT pair_id, plus.class_scores[1] - minus.class_scores[1]
    FROM core_pairs
    JOIN core_predictions AS plus ON plus.image_id = plus_image
    JOIN core_predictions AS minus ON minus.image_id = minus_image
"""


@pytest.fixture(scope="module")
def miniature(tmp_path_factory):
    return funny_birds.write(tmp_path_factory.mktemp("birds"), hidden=[(2, "tail")])


def birds_of(root):
    operators = ["telea", "texture"]
    return {"adapter": "funnybirds", "root": str(root), "native": True, "operators": operators}


@pytest.mark.parametrize("data", ["miniature", "real"])
def test_scores_of_a_weighted_sum(data, tmp_path, request):
    """Endpoints are sums over what was replaced; E of a native pair is half of its endpoint."""
    pytest.importorskip("cv2", reason="Telea's inpainting needs the extra 'inpainting'")
    if data == "real" and not REAL.is_dir():
        pytest.skip("DECAF_DATA_ROOT names no folder with funnybirds")
    root = REAL if data == "real" else request.getfixturevalue("miniature")
    given = {"data": birds_of(root) | {"images": 3}, "paths": PATHS, "stages": 3, "epsilon": 1e-3}
    study = Study(**of_scenes(tmp_path, **given) | weighted(tmp_path))
    in_process.compute(study)
    assert failed_checks(study.warehouse) == []
    pairs = study.pair_set()
    weights = None
    effects = {}
    for pair in pairs.pairs:
        if pair.plus != pair.minus:
            ends = [pairs.inputs[place] for place in (pair.plus, pair.minus)]
            plus, minus = (study.data.read_input(one).astype(float) / 255 for one in ends)
            if weights is None:
                weights = np.where(np.arange(len(plus)) < len(plus) // 2, 1, -2)
            effects[pair.pair_id] = (weights[:, None, None] * (plus - minus)).sum()
    stored = dict(fetched(study.warehouse, ENDPOINTS))
    assert stored.keys() >= effects.keys()
    for name, effect in effects.items():
        assert stored[name] == pytest.approx(effect, abs=0.02)
    rows = fetched(
        study.warehouse,
        "SELECT pair_id, endpoint_delta, evidence FROM core_profiles WHERE path = 'native'",
    )
    assert len(rows) == 3 * len(PARTS)
    for name, delta, evidence in rows:
        assert delta == pytest.approx(effects[name], abs=0.02)
        assert evidence == pytest.approx(abs(delta) / 2 * (abs(delta) > 1e-3), abs=0.02)


@pytest.mark.slow
def test_a_study_trains_a_network_and_audits_it(miniature, decaf, study, write, prefect_server):
    """Held out and native, in blocks of five birds; the second run does nothing."""
    model = {"id": "birds", "family": "cnn", "input_size": 24, "mean": [0.5], "std": [0.5]}
    model |= {"architecture": "factory:decaf.studies.attribution.networks:by_parts"}
    backbone = {"architecture": "factory:decaf.models.networks.small_cnn:build"}
    model |= {"arguments": backbone | {"arguments": {"width": 4}}}
    model |= {"training": {"recipe": "part_classifier", "seed": 1, "epochs": 2, "gate": 0.9}}
    model["training"] |= {"warm_up_epochs": 1, "batch_size": 4, "shift": 2}
    settings = {
        **study,
        "study": "birds",
        "data": birds_of(miniature) | {"operators": ["texture"]},
        "models": [model],
        "score": {"kind": "target_logit", "classes": 50},
        "paths": PATHS,
        "attributions": {"gradient": {"kind": "input_x_gradient"}},
        "stages": 3,
        "sources_per_block": 5,
    }
    file = write(settings)
    said = succeeded(decaf("run", file, **prefect_server))
    warehouse = settings["warehouse"]
    assert failed_checks(warehouse) == []
    (trained,) = fetched(
        warehouse, "SELECT recipe, epoch, validation_accuracy FROM out_training WHERE epoch = 2"
    )
    assert trained[:2] == ("part_classifier", 2)
    assert "0.9" in str(fetched(warehouse, "SELECT detail FROM out_warnings")), said
    paths = "SELECT path, count(*) FROM core_profiles GROUP BY path ORDER BY path"
    assert fetched(warehouse, paths) == [("native", 50), ("removal", 50)]
    attributed = fetched(
        warehouse, "SELECT pair_id, region_score, region_pixels FROM core_attributions"
    )
    assert len(attributed) == 150
    of_pair = {name: rest for name, *rest in attributed}
    assert of_pair["1/000002.png__tail"] == [0, 0], "it shows no tail"
    for name, rest in of_pair.items():
        image, *_, part = name.split("__")
        assert rest == of_pair[f"{image}__{part}"]
    again = succeeded(decaf("run", file, **prefect_server))
    assert "0 of" in again or "nothing" in again, again

    settings["paths"] = {"all": {"kind": "removal"}}
    refused(decaf("plan", write(settings, "all.yaml")), "'pair_types:'", "__texture__")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"kind": "blend"}, "'0/000000.png__beak'"),
        ({"kind": "removal"}, "'0/000000.png__texture__beak'"),
    ],
)
def test_paths_of_other_pairs_are_refused(miniature, tmp_path, path, message):
    data = birds_of(miniature) | {"operators": ["texture"]}
    given = of_scenes(tmp_path, data=data, paths={"all": path}) | weighted(tmp_path)
    with pytest.raises(BadInput, match=message):
        in_process.planned(Study(**given))


def test_a_recipe_of_other_birds_is_refused(miniature, tmp_path):
    recipe = {"recipe": "part_classifier", "seed": 1, "root": str(tmp_path)}
    given = of_scenes(tmp_path, [network_card("a", training=recipe)], data=birds_of(miniature))
    with pytest.raises(ValueError, match="'root:'"):
        Study(**given)
    del recipe["root"]
    study = Study(**given)
    assert study.models[0].training.root == miniature
