"""PartImageNet: photos and their parts by hand, in every layout, and made from birds."""

from pathlib import Path

import numpy as np
import part_photos
import pytest
from ended_commands import refused, succeeded
from funny_birds import PARTS
from part_photos import CATEGORIES, annotation, annotations, rectangle
from small_studies import weighted
from warehouse_answers import failed_checks, fetched

from decaf.data.photo_files import central_crop_of_mask
from decaf.errors import DataError
from decaf.studies.attribution.adapters import FunnyBirds, PartImageNet

CLASSES = ["n00000000", "n00000001"]
HEAD, FOOT, TAIL, WING = 1, 2, 4, 8
"""Bits of the parts, in the order of the categories."""


def photos(root, **settings):
    return PartImageNet(adapter="partimagenet", root=root, **{"classes": CLASSES} | settings)


def test_parts_by_hand(tmp_path):
    """Two feet are one part, whatever the animal; a tail lies over the head; the wing is a line."""
    data = photos(part_photos.write(tmp_path))
    pairs = data.pair_set()
    assert [(pair.pair_id, pair.feature, pair.class_id) for pair in pairs.pairs] == [
        ("n00000000_3.JPEG__head", 1, 0),
        ("n00000000_3.JPEG__wing", 4, 0),
        ("n00000001_7.JPEG__head", 1, 1),
        ("n00000001_7.JPEG__foot", 2, 1),
        ("n00000001_7.JPEG__side tail", 3, 1),
    ]
    assert pairs.remarks == ()
    expected = np.zeros((10, 12), int)
    expected[1:4, 1:5] = HEAD
    expected[8:10, 0] = expected[8:10, 10:12] = FOOT  # a crowd, and a polygon beside a line
    expected[2, 3:5] = TAIL
    np.testing.assert_array_equal(data.read_mask(pairs.masks[1]), expected)
    assert data.read_input(pairs.inputs[0]).shape == (9, 8, 3)


INSIDE = {"images": "PartImageNet/images/test", "file": "PartImageNet/annotations/test.json"}
BY_CLASS = {"images": "test", "file": "test.json", "by": "{}"}


@pytest.mark.parametrize("layout", [INSIDE, BY_CLASS])
def test_layouts_that_there_have_been(tmp_path, layout):
    """Photos, classes and parts are the same, whether photos lie in folders of their classes."""
    found = photos(part_photos.write(tmp_path / "found", **layout)).pair_set()
    usual = photos(part_photos.write(tmp_path / "usual")).pair_set()
    assert [mask.digest for mask in found.masks] == [mask.digest for mask in usual.masks]
    assert [pair.class_id for pair in found.pairs] == [pair.class_id for pair in usual.pairs]
    folder = "n00000000/" if "by" in layout else ""
    assert found.inputs[0].image_id == f"{folder}n00000000_3.JPEG"


def test_images_without_two_to_eight_parts_are_left_out(tmp_path):
    said = annotations()
    kept = [one for one in said["annotations"] if one["image_id"] == 5]
    # One part; two, of which the second lies under the first; nine.
    for parts in (
        [("Bird Head", rectangle(0, 0, 3, 3))],
        [("Bird Wing", rectangle(1, 1, 2, 2)), ("Bird Head", rectangle(0, 0, 3, 3))],
    ):
        said["annotations"] = [*kept, *(annotation(6, name, [one]) for name, one in parts)]
        pairs = photos(part_photos.write(tmp_path, said)).pair_set()
        assert {pair.source_id for pair in pairs.pairs} == {"n00000001_7.JPEG"}
        remark, absent = pairs.remarks
        assert remark.startswith("1 of 2")
        assert absent.endswith(": wing")
    assert remark.endswith("n00000000_3.JPEG")
    said["categories"] += [{"id": 10 + n, "name": f"part {n}"} for n in range(9)]
    said["annotations"] = kept + [
        {"image_id": 6, "category_id": 10 + n, "segmentation": [rectangle(n % 8, n // 8, 8, 9)]}
        for n in range(9)
    ]
    remark, absent = photos(part_photos.write(tmp_path, said)).pair_set().remarks
    assert "wing, part 0, " in absent
    assert remark.startswith("1 of 2")
    said["annotations"] = []
    with pytest.raises(DataError, match="0 images"):
        photos(part_photos.write(tmp_path, said)).pair_set()


def test_masks_are_not_those_of_other_data_with_the_same_annotations(tmp_path):
    """A workspace may have both, and only here a pixel is of one part alone."""
    from decaf.data.adapters.image_features import ImageFeatures

    part_photos.write(tmp_path)
    file = tmp_path / "annotations" / "test" / "test.json"
    groups = {name.partition(" ")[2].lower(): [] for name in CATEGORIES}
    for name in CATEGORIES:
        groups[name.partition(" ")[2].lower()].append(name)
    features = {"kind": "coco", "file": file, "groups": groups}
    shared = {"adapter": "image_features", "images": tmp_path / "images" / "test"}
    with pytest.raises(DataError, match="points"):
        ImageFeatures(**shared, features=features).pair_set()
    other = ImageFeatures(**shared, features=features | {"skip_invalid": True})
    own = {mask.digest for mask in photos(tmp_path).pair_set().masks}
    assert not own & {mask.digest for mask in other.pair_set().masks}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Photos of six birds of two classes, and the folder of the birds."""
    folder = tmp_path_factory.mktemp("made")
    return part_photos.of_birds(folder, shown=2, test_each=3, hidden=[(2, "tail")])


def test_photos_made_of_birds(made):
    """Their middle is the bird at another size, their parts are its own; none is square."""
    birds, folder = made
    data = photos(folder, classes=folder / "classes.json")
    pairs = data.pair_set()
    assert len({data.read_input(image).shape for image in pairs.inputs}) > 3
    bird = FunnyBirds(adapter="funnybirds", root=birds)
    of_birds = bird.pair_set()
    assert [(pair.class_id, pair.pair_type) for pair in pairs.pairs] == [
        (pair.class_id, pair.pair_type) for pair in of_birds.pairs
    ]
    for image, mask, own in zip(pairs.inputs, pairs.masks, of_birds.masks, strict=True):
        height, width, _ = data.read_input(image).shape
        side, words = min(height, width), data.read_mask(mask)
        assert 40 <= side < max(height, width) <= 60
        expected = central_crop_of_mask(bird.read_mask(own), side, None)
        np.testing.assert_array_equal(central_crop_of_mask(words, None, side), expected)
        assert (words > 0).sum() == (expected > 0).sum(), "nothing lies beside the bird"


def test_some_photos_are_drawn_or_listed(made, tmp_path):
    _, folder = made
    drawn = [image.image_id for image in photos(folder, images=4).pair_set().inputs]
    assert len(drawn) == 4
    assert drawn == sorted(drawn)
    (tmp_path / "some.txt").write_text("\n".join(reversed(drawn)))
    listed = photos(folder, images=tmp_path / "some.txt").pair_set()
    assert [image.image_id for image in listed.inputs] == drawn[::-1]
    assert listed.pairs[0].class_id == int(drawn[-1][8])
    with pytest.raises(DataError, match="6 images.* 7"):
        photos(folder, images=7).pair_set()


@pytest.mark.slow
def test_a_study_of_photos(made, decaf, study, write, prefect_server):
    """Of many sizes and a weighted sum: E is half of the removal, which Shapley values are, too."""
    _, folder = made
    data = {"adapter": "partimagenet", "root": str(folder), "classes": str(folder / "classes.json")}
    data |= {"operators": ["texture"]}
    methods = {
        "part_occlusion": {"kind": "part_occlusion", "baseline": "blur"},
        "exact_shapley": {"kind": "exact_shapley", "baseline": "blur"},
    }
    settings = study | {"data": data, "attributions": methods, "stages": 9, "epsilon": 1e-3}
    settings["paths"] = {"removal": {"kind": "removal", "baseline": "blur", "pair_types": PARTS}}
    settings |= weighted(tmp_path := Path(settings["workspace"]).parent)
    succeeded(decaf("run", write(settings), **prefect_server))
    warehouse = settings["warehouse"]
    assert failed_checks(warehouse) == []
    scores = fetched(
        warehouse,
        "SELECT method, score, endpoint_delta FROM core_attribution_scores "
        "JOIN core_attribution_pairs USING (study, image_id, feature) "
        "JOIN core_profiles USING (study, model_id, pair_id)",
    )
    assert len(scores) == 6 * (6 * 5 - 1)
    factor = {"part_occlusion": 1, "exact_shapley": 1, "endpoint_m": 1}
    for method, score, delta in scores:
        effect = delta if method in methods else abs(delta)
        assert score == pytest.approx(factor.get(method, 0.5) * effect, abs=0.02), method
    compared = fetched(
        warehouse,
        "SELECT method, image_count, published FROM paper_attribution_comparison "
        "WHERE protocol = 'held_out' AND model_id IS NULL",
    )
    assert {method: rest for method, *rest in compared} == {
        "part_occlusion": [6, 0.477],
        "exact_shapley": [6, 0.433],
        "endpoint_m": [6, 0.364],
        "decaf_9": [6, 0.363],
        "decaf_5": [6, 0.358],
        "decaf_3": [6, 0.350],
    }
    settings["data"] = data | {"classes": str(tmp_path / "none.json")}
    refused(decaf("plan", write(settings)), "none.json")
