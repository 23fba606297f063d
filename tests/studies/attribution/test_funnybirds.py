"""FunnyBirds: birds, their parts and what becomes of them, in miniature and as rendered."""

import os
from pathlib import Path

import funny_birds
import numpy as np
import pytest
from funny_birds import BACKGROUND, PARTS, SIZE, picture, regions
from pydantic import ValidationError

from decaf.data.mask_coverage import read_words
from decaf.data.overview import counts, describe_pair, some_pairs
from decaf.errors import DataError
from decaf.studies.attribution.adapters import FunnyBirds
from decaf.studies.attribution.operators import dilate_region

REAL = Path(os.environ.get("DECAF_DATA_ROOT", "/nowhere")) / "funnybirds"
needs_birds = pytest.mark.skipif(
    not REAL.is_dir(), reason="DECAF_DATA_ROOT names no folder with funnybirds"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Ten birds of five classes; the third shows no tail, the fourth neither eyes nor feet."""
    hidden = [(2, "tail"), (3, "eye"), (3, "foot")]
    return funny_birds.write(tmp_path_factory.mktemp("birds"), hidden=hidden)


def birds(root, **settings):
    return FunnyBirds(adapter="funnybirds", root=root, **settings)


def of_part(words, part):
    return words >> PARTS.index(part) & 1 > 0


def test_birds_without_parts_that_show(root):
    data = birds(root)
    pairs = data.pair_set()
    data.verify(pairs)
    assert len(pairs.inputs) == 10
    assert len(pairs.pairs) == 5 * 10 - 3
    (remark,) = pairs.remarks
    assert remark.startswith("3 parts")
    third = [pair for pair in pairs.pairs if pair.source_id == "1/000002.png"]
    assert [(pair.pair_type, pair.feature) for pair in third] == [
        ("beak", 1),
        ("eye", 2),
        ("foot", 3),
        ("wing", 5),
    ]
    assert {pair.class_id for pair in third} == {1}
    assert all(pair.plus == pair.minus for pair in pairs.pairs)
    first = pairs.inputs[0]
    np.testing.assert_array_equal(data.read_input(first), picture(0))
    words = data.read_mask(pairs.masks[0])
    for part in PARTS:
        np.testing.assert_array_equal(of_part(words, part), np.any(regions(part), axis=0))


def test_the_root_may_be_the_folder_itself(root):
    assert birds(root / "FunnyBirds").pair_set().digest == birds(root).pair_set().digest


def test_operators_make_pairs_of_two_inputs(root):
    pytest.importorskip("cv2", reason="Telea's inpainting needs the extra 'inpainting'")
    data = birds(root, operators=["telea", "texture"])
    pairs = data.pair_set()
    data.verify(pairs)
    plain = birds(root).pair_set()
    assert pairs.pairs[: len(plain.pairs)] == tuple(plain.pairs)
    assert len(pairs.pairs) == 3 * len(plain.pairs)
    for pair in pairs.pairs[len(plain.pairs) :]:
        means, part = pair.pair_type.split("__")
        assert PARTS[pair.feature - 1] == part
        image, made = pairs.inputs[pair.plus], pairs.inputs[pair.minus]
        assert pairs.masks[pair.minus] == pairs.masks[pair.plus]
        assert made.file is None
        clean, other = data.read_input(image), data.read_input(made)
        hidden = dilate_region(of_part(data.read_mask(pairs.masks[pair.plus]), part), 3)
        np.testing.assert_array_equal(other[~hidden], clean[~hidden])
        if means == "texture":  # the largest rectangle without parts is plain
            assert (other[hidden] == BACKGROUND).all()


def test_native_pairs_are_renderings_and_hidden_parts_count(root):
    data = birds(root, native=True, dilate=2)
    pairs = data.pair_set()
    data.verify(pairs)
    assert pairs.remarks == ()
    assert len(pairs.pairs) == 2 * 5 * 10
    words = data.read_mask(pairs.masks[2])
    assert not of_part(words, "tail").any()
    eye = of_part(words, "eye")
    np.testing.assert_array_equal(eye, dilate_region(np.any(regions("eye"), axis=0), 2))
    wing = next(pair for pair in pairs.pairs if pair.pair_id == "0/000001.png__native__wing")
    assert (wing.feature, wing.pair_type) == (5, "native__wing")
    made = data.read_input(pairs.inputs[wing.minus])
    np.testing.assert_array_equal(made, picture(0, [p for p in PARTS if p != "wing"]))
    assert counts(pairs, read_words(pairs, data.read_mask))["empty_masks"] == {
        **{"eye": 1, "foot": 1, "tail": 1},
        **{"native__eye": 1, "native__foot": 1, "native__tail": 1},
    }
    shown = some_pairs(pairs, data.read_input, data.read_mask, count=len(pairs.pairs))
    assert "without wing: 9 %" in describe_pair(shown[4])["counterfactual"]
    assert describe_pair(shown[-1])["counterfactual"].endswith("body_beak_eye_foot_tail.png")


def test_some_birds_are_drawn_or_listed(root, tmp_path):
    drawn = birds(root, images=4).pair_set()
    assert len(drawn.inputs) == 4
    assert {i.image_id for i in drawn.inputs} < {
        i.image_id for i in birds(root, images=7).pair_set().inputs
    }
    (tmp_path / "some.txt").write_text("4/000009.png\n0/000000.png\n")
    listed = birds(root, images=str(tmp_path / "some.txt")).pair_set()
    assert [image.image_id for image in listed.inputs] == ["4/000009.png", "0/000000.png"]
    with pytest.raises(DataError, match="10 images.* 11"):
        birds(root, images=11).pair_set()


def test_digests_are_of_what_images_are_made_of(root):
    def digests(**settings):
        inputs = birds(root, operators=["texture"], **settings).pair_set().inputs
        return {image.digest for image in inputs if image.file is None}

    assert len(digests()) == 47, "by image, part and operator"
    assert not digests() & digests(dilate=1), "and by where parts lie"


def test_native_pairs_are_of_the_test_birds(root):
    with pytest.raises(ValidationError, match="'native'"):
        birds(root, split="train", native=True)


def test_without_opencv_its_extra_is_named(root, monkeypatch):
    from decaf.errors import MissingPackage
    from decaf.foundation import extras

    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    birds(root, operators=["texture"]).pair_set()
    with pytest.raises(MissingPackage, match=r"pip install .*\[inpainting\]'"):
        birds(root, operators=["telea"]).pair_set()


def change(name, make):
    return lambda root: make(root / "FunnyBirds" / name)


def small(file):
    funny_birds.save(np.zeros((SIZE // 2, SIZE, 3), np.uint8), file)


WRONG = {
    "no birds": (change("test", lambda f: f.rename(f.with_name("t"))), "test"),
    "no map": (change("test_part_map/0/000000.png", Path.unlink), "000000.png"),
    "other map": (change("test_part_map/0/000000.png", small), "40 x 20"),
    "no removal": (
        change("test_interventions/0/000000/body_beak_eye_foot_tail.png", Path.unlink),
        "body_beak_eye_foot_tail.png",
    ),
    "other removal": (
        change("test_interventions/0/000000/body_beak_eye_foot_tail.png", small),
        "40 x 20",
    ),
    "no picture": (
        change("test_part_map/0/000000.png", lambda f: f.write_bytes(b"\x89PNG")),
        "000000.png",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_do_not_fit_are_named(name, tmp_path):
    make, message = WRONG[name]
    root = funny_birds.write(tmp_path, shown=1)
    make(root)
    data = birds(root, native=True)
    with pytest.raises(DataError, match=message):
        data.verify(data.pair_set())


@needs_birds
def test_the_real_birds():
    """Counts of the 200 test birds, and a held-out and a rendered bird."""
    data = birds(REAL, native=True, operators=["texture"])
    pairs = data.pair_set()
    assert len(pairs.inputs) == 200 * (1 + 5 + 5)
    assert pairs.remarks == ()
    assert len(birds(REAL).pair_set().pairs) == 968
    some = [pair for pair in pairs.pairs if pair.source_id == "3/000013.png"]
    assert [pair.pair_type for pair in some] == [
        *PARTS,
        *(f"texture__{part}" for part in PARTS),
        *(f"native__{part}" for part in PARTS),
    ]
    clean = data.read_input(pairs.inputs[some[0].plus]).astype(int)
    assert clean.shape == (256, 256, 3)
    for pair in some[5:]:
        other = data.read_input(pairs.inputs[pair.minus]).astype(int)
        changed = np.abs(other - clean).max(axis=2) > 0
        region = of_part(data.read_mask(pairs.masks[pair.plus]), PARTS[pair.feature - 1])
        assert changed[region].mean() > 0.5
        assert changed[~dilate_region(region, 8)].mean() < 0.02
