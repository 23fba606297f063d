"""Features of images, computed and asked for: by hand, and as the library has them."""

import featured_images
import in_process
import numpy as np
import pytest
import torch
from featured_images import COUNT, NAMES, SIZE, number_of, parts, settings
from funny_birds import CODES
from PIL import Image
from small_studies import untrained, weighted
from warehouse_answers import failed_checks, fetched

from decaf import DataWarning, Removal, audit
from decaf.data.input_store import channels_first, open_inputs
from decaf.errors import BadInput, ModelError
from decaf.evaluation.attributions.input_x_gradient import InputXGradient
from decaf.plan.study import Study
from decaf.scoring.image_scores import score_of
from tasks.plan import plan_audit
from tasks.row_counts import count_rows

EVIDENCE = """
    SELECT image_id, feature, feature_name, endpoint_delta, evidence, rank
    FROM out_feature_evidence ORDER BY image_id, feature
"""
SCORES = "SELECT q_plus, q_minus FROM core_trajectories ORDER BY pair_id"
BLURRED = {"kind": "removal", "baseline": "blur", "sigma": 3.0, "radius": 5}


def test_evidence_of_a_weighted_sum_is_half_of_what_each_feature_adds(tmp_path):
    # White pixels where the features lie, black ones elsewhere: a feature adds its weights, all of
    # r(t) = t d agrees with d, and E is the integral of t |d| over [0, 1].
    (tmp_path / "photos").mkdir()
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[0, :4] = pixels[7, :2] = 255
    Image.fromarray(pixels).save(tmp_path / "photos" / "a.png")
    masks = {"up": np.zeros((8, 8), bool), "across": np.zeros((8, 8), bool)}
    masks["black"] = np.zeros((8, 8), bool)
    masks["up"][0] = masks["across"][:, 0] = masks["black"][3] = True
    (tmp_path / "masks").mkdir()
    for name, mask in masks.items():
        Image.fromarray(mask.astype(np.uint8)).save(tmp_path / "masks" / f"a_{name}.png")
    features = {"kind": "masks", "files": f"{tmp_path}/masks/{{image}}_{{feature}}.png"}
    study = Study(**settings(tmp_path, features | {"names": list(masks)}) | weighted(tmp_path))
    rows = count_rows(study, study.pair_set())
    # Start, image at 1/2 and 1, and the same without each of the two features that it shows.
    assert rows.planned == 3 + 2 * 2
    in_process.compute(study)
    assert fetched(study.warehouse, EVIDENCE) == [
        ("a.png", 1, "up", 12.0, 6.0, 1),  # four pixels of three channels
        ("a.png", 2, "across", -3.0, 1.5, 2),  # 3 of the corner above, -6 of that below
        ("a.png", 3, "black", 0.0, 0.0, 3),
    ]
    assert failed_checks(study.warehouse) == []


@pytest.fixture
def photos(tmp_path):
    return featured_images.photos(tmp_path / "photos")


def of_library(study, regions=None, path=None):
    """Scores of both branches as the library gives them, by image and feature."""
    pairs = study.pair_set()
    inputs = np.stack([study.data.read_input(image) for image in pairs.inputs])
    of_image = {pair.plus: pair.class_id for pair in pairs.pairs}
    (card,) = study.models
    model = card.load("cpu")
    with pytest.warns(DataWarning, match="uint8"):
        audited = audit(
            lambda x: study.score.values(model.outputs(x), model.output),
            torch.from_numpy(channels_first(inputs).copy()),
            path=path or study.paths["decaf"],
            regions=regions,
            stages=study.stages,
            epsilon=study.epsilon,
            target=study.score.columns(np.array([of_image[n] for n in range(len(inputs))])),
            ids=[image.image_id for image in pairs.inputs],
            batch_size=64,
        )
    scores = zip(audited.q_plus[:, 0], audited.q_minus[:, 0], strict=True)
    return dict(zip(audited.ids, scores, strict=True))


def of_pipeline(study):
    (card,) = study.models
    pairs = {p.pair_id: f"{p.source_id}/{p.feature}" for p in study.pair_set().pairs}
    found = fetched(
        study.warehouse,
        f"SELECT pair_id, q_plus, q_minus FROM core_trajectories WHERE model_id = '{card.id}'",
    )
    return {pairs[name]: scores for name, *scores in found}


def assert_equal_bits(study, expected):
    found = of_pipeline(study)
    for name, scores in expected.items():
        np.testing.assert_array_equal(found[name], scores)
    return found.keys() - expected.keys()


@pytest.mark.parametrize("path", [{"kind": "removal", "value": [0.25, 0.5, 0.75]}, BLURRED])
def test_scores_are_those_of_the_library_bit_by_bit(path, photos, tmp_path):
    features = featured_images.label_maps(tmp_path / "maps", photos)
    models = [untrained(tmp_path, "cnn")]
    study = Study(**settings(tmp_path, features, models, paths={"decaf": path}))
    in_process.compute(study)
    maps = np.stack([np.asarray(Image.open(tmp_path / "maps" / name)) for name in photos])
    more = assert_equal_bits(study, of_library(study, maps))
    # The library has no pair of a feature that lies nowhere; the pipeline has it, with E = 0.
    (hidden,) = more
    assert hidden == "0/bird-2.png/3"
    q_plus, q_minus = of_pipeline(study)[hidden]
    assert q_plus == q_minus


def test_the_mean_is_that_of_each_model_bit_by_bit(photos, tmp_path):
    means = {"grey": [0.5], "coloured": [0.485, 0.456, 0.406]}
    models = [
        untrained(tmp_path, name, mean=mean, std=[0.25] * len(mean)) for name, mean in means.items()
    ]
    paths = {"decaf": {"kind": "removal", "baseline": "mean"}}
    study = Study(**settings(tmp_path, {"kind": "grid"}, models, paths=paths))
    plan = in_process.compute(study)
    keys = {(unit.model_id, unit.key) for unit in plan.work.units if unit.kind == "score"}
    assert len({key for _, key in keys}) == len(keys), "the mean is a part of what is scored"
    for card in study.models:
        alone = study.model_copy(update={"models": (card,)})
        expected = of_library(alone, path=Removal(side=4, value=card.mean))
        assert assert_equal_bits(alone, expected) == set()


def test_a_function_has_no_mean_to_start_from(photos, tmp_path):
    paths = {"decaf": {"kind": "removal", "baseline": "mean"}}
    given = settings(tmp_path, {"kind": "grid"}, paths=paths) | weighted(tmp_path)
    with pytest.raises(ModelError, match="mean"):
        in_process.compute(Study(**given))


def test_masks_that_overlap_are_those_of_the_library_bit_by_bit(photos, tmp_path):
    features = featured_images.mask_files(tmp_path / "masks", photos)
    study = Study(**settings(tmp_path, features, [untrained(tmp_path, "cnn")]))
    in_process.compute(study)
    masks = np.stack([parts(number_of(name)) for name in photos])
    more = assert_equal_bits(study, of_library(study, masks, path=Removal()))
    assert more == {"0/bird-2.png/3"}  # it lies nowhere


def test_columns_of_arrays_are_those_of_the_library_bit_by_bit(tmp_path):
    x = np.random.default_rng(0).normal(size=(5, 3))
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "products.py").write_text("def total(x):\n    return x[:, 0] * x[:, 1] + x[:, 2]\n")
    data = {"adapter": "arrays", "factual": str(tmp_path / "x.npy"), "removed": "columns"}
    card = {"id": "f", "family": "f", "source": "function", "function": "products:total"}
    given = {
        "data": data,
        "python_path": [str(tmp_path)],
        "models": [card | {"output": "value"}],
        "score": {"kind": "regression_value"},
    }
    study = Study(**settings(tmp_path, {}, **given))
    in_process.compute(study)
    audited = audit(
        lambda x: x[:, 0] * x[:, 1] + x[:, 2],
        x,
        path=Removal(),
        stages=study.stages,
        ids=[f"row-{row:07d}" for row in range(5)],
    )
    scores = zip(audited.q_plus[:, 0], audited.q_minus[:, 0], strict=True)
    assert assert_equal_bits(study, dict(zip(audited.ids, scores, strict=True))) == set()


def test_a_grid_is_that_of_the_path_bit_by_bit(photos, tmp_path):
    models = [untrained(tmp_path, "cnn")]
    study = Study(**settings(tmp_path, {"kind": "grid"}, models, sources_per_block=2))
    in_process.compute(study.model_copy(update={"sources_per_block": 32}))
    assert assert_equal_bits(study, of_library(study, path=Removal(side=4))) == set()


def test_a_changed_mask_is_scored_again_with_its_block_alone(photos, tmp_path):
    features = featured_images.mask_files(tmp_path / "masks", photos)
    models = [untrained(tmp_path, "cnn")]
    methods = {"gradient": {"kind": "input_x_gradient"}}
    given = settings(tmp_path, features, models, sources_per_block=1, attributions=methods)
    study = Study(**given)
    in_process.compute(study)
    before = fetched(study.warehouse, SCORES)
    assert plan_audit(study, study.pair_set()).work.pending == []
    file = tmp_path / "masks" / f"{photos[2].removesuffix('.png')}_head.png"
    Image.fromarray(np.eye(SIZE, dtype=np.uint8)).save(file)
    plan = plan_audit(study, study.pair_set())
    assert {unit.block for unit in plan.work.pending if unit.block is not None} == {2}
    in_process.compute(study)
    differs = [a != b for a, b in zip(before, fetched(study.warehouse, SCORES), strict=True)]
    assert differs == [place == 3 * 2 for place in range(3 * COUNT)]
    assert len(list((tmp_path / "workspace" / "inputs").glob("*.npy"))) == 1 + 2, "masks anew"


def test_attribution_methods_are_summed_over_features(photos, tmp_path):
    features = featured_images.mask_files(tmp_path / "masks", photos)
    models = [untrained(tmp_path, "cnn")]
    methods = {"gradient": {"kind": "input_x_gradient"}}
    study = Study(**settings(tmp_path, features, models, attributions=methods))
    plan = in_process.compute(study)
    (card,) = study.models
    pairs, score = study.pair_set(), score_of(card.load("cpu"), study.score)
    images = torch.stack([torch.from_numpy(study.data.read_input(i).copy()) for i in pairs.inputs])
    images = images.permute(0, 3, 1, 2).float() / 255
    columns = [int(name[0]) for name in photos]
    maps = InputXGradient(kind="input_x_gradient").maps(score, images, columns, photos).numpy()
    found = fetched(
        study.warehouse, "SELECT pair_id, region_score, region_pixels FROM core_attributions"
    )
    assert len(found) == len(pairs.pairs) == 3 * COUNT
    for name, signed, pixels in found:
        image, _, part = name.partition("__")
        mask = parts(number_of(image))[NAMES.index(part)]
        expected = maps[photos.index(image)].sum(axis=0)[mask].sum()
        assert signed == pytest.approx(expected, rel=1e-4, abs=1e-7)
        assert pixels == mask.sum()
    assert any(score < 0 for _, score, _ in found), "signed"
    assert plan.pairs.digest == pairs.digest


MISFITS = {
    "another path": ({"paths": {"blend": {"kind": "blend"}}}, "use kind: removal"),
    "a grid beside": ({"paths": {"decaf": {"kind": "removal", "side": 4}}}, "leave 'side' out"),
    "no features": (
        {"data": {"adapter": "shapes3d", "sources": 2}},
        "removes a feature, and pair .* has none",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_paths_that_do_not_fit_the_data_are_refused_by_the_plan(name, photos, tmp_path):
    changed, words = MISFITS[name]
    models = [untrained(tmp_path, "cnn")]
    study = Study(**settings(tmp_path, {"kind": "grid"}, models) | changed)
    with pytest.raises(BadInput, match=words):
        plan_audit(study, study.pair_set())


def test_parts_of_real_birds(shared_data, tmp_path):
    root = shared_data / "funnybirds" / "FunnyBirds"
    lines = []
    for file in sorted((root / "test_part_map").rglob("*.png"))[::50]:
        below = file.relative_to(root / "test_part_map")
        pixels = np.asarray(Image.open(file).convert("RGB"))
        numbers = np.zeros(pixels.shape[:2], np.uint8)
        for number, colours in enumerate(CODES.values(), 1):
            for colour in colours:
                numbers[(pixels == colour).all(axis=2)] = number
        (tmp_path / "maps" / below).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(numbers).save(tmp_path / "maps" / below)
        lines.append(str(below))
    lines.sort()
    (tmp_path / "birds.txt").write_text("\n".join(lines))
    features = {"kind": "label_maps", "files": f"{tmp_path}/maps/{{image}}.png"}
    data = {"adapter": "image_features", "images": str(root / "test")}
    data |= {"features": features | {"names": list(CODES)}, "table": str(tmp_path / "birds.txt")}
    models = [untrained(tmp_path, "cnn")]
    given = settings(tmp_path, {}, models, paths={"decaf": BLURRED}, data=data)
    study = Study(**given | {"score": given["score"] | {"target": 1}})
    in_process.compute(study)
    stored = [np.asarray(Image.open(tmp_path / "maps" / name)) for name in lines]
    expected = of_library(study, np.stack(stored))
    hidden = assert_equal_bits(study, expected)
    assert len(expected) + len(hidden) == 5 * len(lines)


def test_cells_of_real_photos(shared_data, tmp_path):
    names = ["n01440764", "n01494475"]
    folder = shared_data / "imagenet1k_sample" / "val"
    files = [next((folder / name).iterdir()).relative_to(folder) for name in names]
    (tmp_path / "photos.txt").write_text("\n".join(map(str, files)))
    data = {"adapter": "image_features", "images": str(folder), "resize": 64, "crop": 56}
    data |= {"features": {"kind": "grid"}, "table": str(tmp_path / "photos.txt")}
    given = settings(tmp_path, {}, [untrained(tmp_path, "cnn")], data=data)
    study = Study(**given)
    in_process.compute(study)
    assert assert_equal_bits(study, of_library(study, path=Removal(side=4))) == set()
    (file,) = (
        f for f in (tmp_path / "workspace" / "inputs").glob("*.npy") if open_inputs(f).ndim == 3
    )
    assert open_inputs(file).shape == (1, 56, 56), "one mask for all photos"
