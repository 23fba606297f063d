"""Images with features: every way to say where they lie, and what is refused."""

import json

import featured_images
import numpy as np
import pytest
from featured_images import COUNT, NAMES, SIZE, adapter, number_of, parts
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.mask_coverage import read_words
from decaf.data.overview import counts
from decaf.data.photo_files import central_crop_of_mask
from decaf.errors import DataError

MAKE = {
    "masks": lambda folder, names: featured_images.mask_files(folder / "masks", names),
    "label_maps": lambda folder, names: featured_images.label_maps(folder / "maps", names),
    "palette": lambda folder, names: featured_images.label_maps(folder / "maps", names, True),
    "coco": lambda folder, names: featured_images.coco(folder / "parts.json", names),
}


@pytest.fixture
def photos(tmp_path):
    return featured_images.photos(tmp_path / "photos")


def bits(words):
    return np.stack([words >> k & 1 for k in range(len(NAMES))]).astype(bool)


@pytest.mark.parametrize("kind", MAKE)
def test_every_kind_gives_the_same_features(kind, photos, tmp_path):
    data = adapter(tmp_path, MAKE[kind](tmp_path, photos))
    pairs = data.pair_set()
    data.verify(pairs)
    assert [pair.pair_type for pair in pairs.pairs] == list(NAMES) * COUNT
    assert [pair.feature for pair in pairs.pairs] == [1, 2, 3] * COUNT
    assert all(pair.plus == pair.minus for pair in pairs.pairs)
    assert [pair.class_id for pair in pairs.pairs] == [int(n[0]) for n in photos for _ in NAMES]
    for image, mask in zip(pairs.inputs, pairs.masks, strict=True):
        expected = parts(number_of(image.image_id))
        if kind in ("label_maps", "palette"):  # a later part hides an earlier one
            expected[0] &= ~expected[1]
        words = data.read_mask(mask)
        assert words.dtype == np.uint8
        np.testing.assert_array_equal(bits(words), expected)
    (hidden,) = (p for p in pairs.pairs if p.feature == 3 and "bird-2" in p.pair_id)
    assert not bits(data.read_mask(pairs.masks[hidden.plus]))[2].any()


def test_masks_of_one_feature_need_no_name_in_their_files(photos, tmp_path):
    features = MAKE["masks"](tmp_path, photos)
    pattern = features["files"].replace("{feature}", "tail")
    data = adapter(tmp_path, features | {"files": pattern, "names": ["rump"]})
    pairs = data.pair_set()
    assert [pair.pair_type for pair in pairs.pairs] == ["rump"] * COUNT
    np.testing.assert_array_equal(data.read_mask(pairs.masks[0]), parts(number_of(photos[0]))[1])


def test_a_grid_divides_what_is_cropped(photos, tmp_path):
    data = adapter(tmp_path, {"kind": "grid", "side": 2}, resize=24, crop=16)
    pairs = data.pair_set()
    assert [pair.pair_type for pair in pairs.pairs[:4]] == ["r1c1", "r1c2", "r2c1", "r2c2"]
    assert len(pairs.mask_set.inputs) == 1, "images of one size share a mask"
    words = data.read_mask(pairs.masks[0])
    assert words.shape == data.read_input(pairs.inputs[0]).shape[:2] == (16, 16)
    np.testing.assert_array_equal(words, np.kron([[1, 2], [4, 8]], np.ones((8, 8), int)))


def test_empty_masks_are_counted(photos, tmp_path):
    given = {"masks": {"wing": 1}, "grid": {}}  # one of the photos shows no wing
    for kind, expected in given.items():
        features = MAKE["masks"](tmp_path, photos) if kind == "masks" else {"kind": "grid"}
        data = adapter(tmp_path, features)
        pairs = data.pair_set()
        assert counts(pairs, read_words(pairs, data.read_mask))["empty_masks"] == expected


def test_64_cells_fill_a_word(photos, tmp_path):
    data = adapter(tmp_path, {"kind": "grid", "side": 8})
    pairs = data.pair_set()
    words = data.read_mask(pairs.masks[0])
    assert words.dtype == np.uint64
    assert words[-1, -1] == 1 << 63


@pytest.mark.parametrize(("shorter", "side"), [(20, 16), (7, 5), (61, None), (None, 9), (23, 22)])
def test_masks_are_cropped_as_their_photos_to_nearest_pixels(shorter, side):
    mask = np.arange(17 * 29, dtype=np.uint16).reshape(17, 29)
    found = central_crop_of_mask(mask, shorter, side)
    height, width = (17, 29) if shorter is None else (shorter, int(shorter * 29 / 17))
    rows, columns = (
        [int((i + 0.5) * old / new) for i in range(new)] for old, new in ((17, height), (29, width))
    )
    expected = mask[np.ix_(rows, columns)]
    if side:
        top, left = (int(round((edge - side) / 2.0)) for edge in (height, width))
        expected = expected[top : top + side, left : left + side]
    np.testing.assert_array_equal(found, expected)


def test_a_mask_changes_its_own_digests_alone(photos, tmp_path):
    features = MAKE["masks"](tmp_path, photos)
    before = adapter(tmp_path, features).pair_set()
    file = tmp_path / "masks" / f"{photos[1].removesuffix('.png')}_tail.png"
    Image.fromarray(np.zeros((SIZE, SIZE), np.uint8)).save(file)
    after = adapter(tmp_path, features).pair_set()
    assert after.input_set.digest == before.input_set.digest
    assert after.mask_set.digest != before.mask_set.digest
    changed = [
        a.block_digest((row,)) != before.block_digest((row,))
        for a in [after]
        for row in range(len(after.pairs))
    ]
    assert changed == [row // 3 == 1 for row in range(len(changed))]


def test_a_table_of_images_and_one_of_masks(photos, tmp_path):
    featured_images.mask_files(tmp_path / "masks", photos)
    lines = [
        "image,label,source,split,weight",
        f"{photos[2]},cat,video,test,2.5",
        f"{photos[0]},dog,video,test,1",
    ]
    (tmp_path / "images.csv").write_text("\n".join(lines))
    stem = photos[2].removesuffix(".png")
    rows = ["image,feature,mask", f"{photos[2]},wing,masks/{stem}_wing.png"]
    (tmp_path / "masks.csv").write_text("\n".join(rows))
    features = {"kind": "masks", "table": str(tmp_path / "masks.csv")}
    pairs = adapter(tmp_path, features, table=str(tmp_path / "images.csv")).pair_set()
    (pair,) = pairs.pairs
    assert (pair.source_id, pair.split, pair.pair_type) == ("video", "test", "wing")
    assert pair.weight == 2.5
    assert "1 of 2 images" in " ".join(pairs.remarks)


def test_a_list_of_images(photos, tmp_path):
    (tmp_path / "images.txt").write_text(f"{photos[3]}\n\n{photos[1]}\n")
    data = adapter(tmp_path, {"kind": "grid"}, table=str(tmp_path / "images.txt"))
    pairs = data.pair_set()
    assert [image.image_id for image in pairs.inputs] == [photos[3], photos[1]]
    assert [pair.class_id for pair in pairs.pairs] == [1] * 16 + [0] * 16
    assert pairs.remarks == ()


def test_all_images_have_labels_or_none_has_one(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "photos" / "a.png")
    pairs = adapter(tmp_path, {"kind": "grid"}).pair_set()
    assert not pairs.has_labels
    (tmp_path / "photos" / "dog").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "photos" / "dog" / "b.png")
    with pytest.raises(DataError, match="1 of 2 inputs .* 'dog'"):
        adapter(tmp_path, {"kind": "grid"}).pair_set()


def test_categories_in_groups_and_supercategories(photos, tmp_path):
    coco = featured_images.coco(tmp_path / "parts.json", photos)
    both = adapter(tmp_path, coco | {"groups": {"ends": ["head", "tail"]}})
    pairs = both.pair_set()
    assert [pair.pair_type for pair in pairs.pairs] == ["ends"] * COUNT
    own = parts(number_of(photos[0]))
    np.testing.assert_array_equal(both.read_mask(pairs.masks[0]) > 0, own[0] | own[1])
    # Features may overlap, so a category may be in several.
    twice = adapter(tmp_path, coco | {"groups": {"ends": ["head", "tail"], "top": ["head"]}})
    pairs = twice.pair_set()
    assert {pair.pair_type for pair in pairs.pairs} == {"ends", "top"}
    words = twice.read_mask(pairs.masks[0])
    np.testing.assert_array_equal(words & 1 > 0, own[0] | own[1])
    np.testing.assert_array_equal(words & 2 > 0, own[0])
    parents = adapter(tmp_path, coco | {"by": "supercategory"}).pair_set()
    assert [pair.pair_type for pair in parents.pairs[:2]] == ["head", "limb"]


def test_a_part_without_any_annotation_is_named(photos, tmp_path):
    coco = featured_images.coco(tmp_path / "parts.json", photos)
    said = json.loads((tmp_path / "parts.json").read_text())
    tails = [one for one in said["annotations"] if one["category_id"] == 2]
    said["annotations"] = [one for one in said["annotations"] if one not in tails]
    (tmp_path / "parts.json").write_text(json.dumps(said))
    pairs = adapter(tmp_path, coco).pair_set()
    assert {pair.pair_type for pair in pairs.pairs} == {"head", "wing"}
    assert any(remark.endswith(": tail") for remark in pairs.remarks)
    said["annotations"].append(tails[0])
    (tmp_path / "parts.json").write_text(json.dumps(said))
    assert "tail" not in " ".join(adapter(tmp_path, coco).pair_set().remarks)


def test_annotations_may_name_files_by_their_last_part(photos, tmp_path):
    coco = featured_images.coco(tmp_path / "parts.json", photos)
    said = json.loads((tmp_path / "parts.json").read_text())
    for image in said["images"]:
        image["file_name"] = image["file_name"].rpartition("/")[2]
    (tmp_path / "parts.json").write_text(json.dumps(said))
    assert len(adapter(tmp_path, coco).pair_set().pairs) == 3 * COUNT


def spoilt(change):
    """COCO annotations of which something is changed."""

    def make(folder, names):
        coco = featured_images.coco(folder / "parts.json", names)
        said = json.loads((folder / "parts.json").read_text())
        change(said)
        (folder / "parts.json").write_text(json.dumps(said))
        return coco

    return make


def masks_spoilt(change):
    """Mask files of which one is changed."""

    def make(folder, names):
        features = featured_images.mask_files(folder / "masks", names)
        change(folder / "masks" / f"{names[0].removesuffix('.png')}_tail.png")
        return features

    return make


def maps_spoilt(image, **options):
    def make(folder, names):
        features = featured_images.label_maps(folder / "maps", names)
        image.save(folder / "maps" / names[0], **options)
        return features

    return make


def grey(side, value=0):
    return Image.new("L", (side, side), value)


def edited(number, **changes):
    """COCO annotations of which one is changed."""
    return spoilt(lambda said: said["annotations"][number].update(**changes))


def listed(**changes):
    """COCO annotations whose first image is listed otherwise."""
    return spoilt(lambda said: said["images"][0].update(**changes))


HOSTILE = {
    "no mask file": (masks_spoilt(lambda f: f.unlink()), "_tail.png"),
    "a mask of another size": (masks_spoilt(lambda f: grey(31).save(f)), "31 x 31"),
    "a mask in colours": (
        masks_spoilt(lambda f: Image.new("RGB", (SIZE, SIZE)).save(f)),
        "PNG of RGB",
    ),
    "a JPEG": (masks_spoilt(lambda f: grey(SIZE).save(f, "JPEG")), "JPEG of L"),
    "no image": (masks_spoilt(lambda f: f.write_bytes(b"x")), "decoded"),
    "a number beyond the names": (maps_spoilt(grey(SIZE, 4)), "the number 4"),
    "a label map of another size": (maps_spoilt(grey(16)), "16 x 16"),
    "no COCO": (spoilt(lambda said: said.pop("images")), "'images'"),
    "an id in words": (listed(id="x"), "annotation 0 has the image_id 100"),
    "a huge image": (listed(width=10**9), "[32, 1000000000]"),
    "an image of another size": (listed(width=31), "[32, 31]"),
    "other photos": (
        spoilt(lambda said: [one.update(file_name=f"{one['id']}.png") for one in said["images"]]),
        "none of the 4 images",
    ),
    "run lengths that end too early": (
        edited(0, segmentation={"size": [SIZE, SIZE], "counts": [5, 5]}),
        "10",
    ),
}
"""What is wrong with the files, and a value that the message of the refusal has."""


@pytest.mark.parametrize("name", HOSTILE)
def test_features_that_cannot_be_used_are_refused(name, photos, tmp_path):
    make, words = HOSTILE[name]
    data = adapter(tmp_path, make(tmp_path, photos))
    with pytest.raises(DataError) as refusal:  # noqa: PT012 - each is refused as early as it can
        pairs = data.pair_set()
        data.verify(pairs)
        for mask in pairs.masks:
            data.read_mask(mask)
    assert words in str(refusal.value)


def test_more_than_64_features_are_refused(photos, tmp_path):
    features = featured_images.label_maps(tmp_path / "maps", photos)
    features |= {"names": [f"part {n}" for n in range(65)]}
    with pytest.raises(DataError, match="65 features; expected 64 at most"):
        adapter(tmp_path, features).pair_set()


def test_a_group_of_what_is_not_annotated_is_refused(photos, tmp_path):
    coco = featured_images.coco(tmp_path / "parts.json", photos)
    with pytest.raises(DataError, match="'heat'; .* 'head'"):
        adapter(tmp_path, coco | {"groups": {"ends": ["heat"]}}).pair_set()


@pytest.mark.parametrize(
    ("settings", "size"), [({}, (SIZE, 40)), ({"resize": 8}, (8, 10)), ({"crop": 16}, None)]
)
def test_images_keep_their_sizes_unless_they_are_cropped(settings, size, photos, tmp_path):
    Image.new("RGB", (40, SIZE)).save(tmp_path / "photos" / photos[0])
    data = adapter(tmp_path, {"kind": "grid"}, **settings)
    pairs = data.pair_set()
    data.verify(pairs)
    image, mask = pairs.inputs[0], pairs.masks[0]
    assert (image.shape, mask.shape) == ((*size, 3), size) if size else (None, None)
    assert data.read_input(image).shape[:2] == data.read_mask(mask).shape == (size or (16, 16))
    assert len(pairs.input_set.shapes) == len(pairs.mask_set.shapes) == (2 if size else 0)


@pytest.mark.parametrize("second", [None, "../secret.png", "0/absent.png"])
def test_a_list_that_names_an_image_twice_or_none_is_refused(second, photos, tmp_path):
    (tmp_path / "secret.png").write_bytes(b"")
    (tmp_path / "list.txt").write_text(f"{photos[0]}\n{second or photos[0]}")
    with pytest.raises(DataError, match=second or "row 2"):
        adapter(tmp_path, {"kind": "grid"}, table=str(tmp_path / "list.txt")).pair_set()


MASKS = {"kind": "masks", "names": ["a"]}
SETTINGS = {
    "no way": ({"features": {"kind": "masks"}}, "'table'"),
    "two ways": ({"features": MASKS | {"files": "{image}{feature}", "table": "t"}}, "'table'"),
    "no place": ({"features": MASKS | {"files": "a.png"}}, "{image}"),
    "no feature": (
        {"features": MASKS | {"files": "{image}.png", "names": ["a", "b"]}},
        "{feature}",
    ),
    "no names": ({"features": {"kind": "label_maps", "files": "{image}", "names": []}}, "names"),
    "nine a side": ({"features": {"kind": "grid", "side": 9}}, "8"),
    "a crop too large": ({"features": {"kind": "grid"}, "resize": 8, "crop": 9}, "'resize'"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_cannot_be_meant_are_refused(name):
    settings, words = SETTINGS[name]
    with pytest.raises(ValidationError) as refusal:
        TypeAdapter(ImageFeatures).validate_python(
            {"adapter": "image_features", "images": "photos"} | settings
        )
    assert words in str(refusal.value)


def test_masks_of_many_levels_are_remarked_on(photos, tmp_path):
    features = MAKE["masks"](tmp_path, photos)
    data = adapter(tmp_path, features)
    assert not any("levels" in remark for remark in data.pair_set().remarks)
    file = sorted((tmp_path / "masks").rglob("*.png"))[0]
    with Image.open(file) as mask:
        levels = np.asarray(mask.convert("L")).copy()
    levels[0, :4] = [1, 2, 9, 250]  # as JPEG leaves them
    Image.fromarray(levels).save(file)
    (remark,) = [remark for remark in data.pair_set().remarks if "levels" in remark]
    assert file.name in remark
