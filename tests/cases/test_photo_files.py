"""Photos as people store them: orientations of every format, and folders of two suffixes."""

import json

import numpy as np
import pytest
from data_looks import look_at, refuse_to_look
from own_data import save, square
from PIL import Image
from small_studies import of_scenes, weighted
from turned_photos import annotations, exif, rectangle, write_photo

from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.adapters.image_pairs import ImagePairs
from decaf.data.input_store import store_inputs
from decaf.data.photo_files import UPRIGHT, read_header, read_levels, read_photo
from decaf.data.upright_masks import turned_upright
from decaf.errors import DataError

COLOUR = np.random.default_rng(3).integers(0, 256, (40, 60, 3), dtype=np.uint8)
STORED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
"""How a camera of each orientation stores a photo that stands."""
FORMATS = {
    "PNG": {},
    "WEBP": {"lossless": True},
    "TIFF": {},
    "TIFF of LZW": {"compression": "tiff_lzw"},
}


@pytest.mark.parametrize("is_grey", [False, True])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_of_every_format_are_turned_once(name, orientation, is_grey, tmp_path):
    pixels = COLOUR[..., 0] if is_grey else COLOUR
    image = Image.fromarray(pixels)
    image = image.transpose(STORED[orientation]) if orientation in STORED else image
    file = tmp_path / "photo"
    image.save(file, name.partition(" ")[0], exif=exif(orientation), **FORMATS[name])
    expected = np.repeat(pixels[..., None], 3, axis=2) if is_grey else pixels
    np.testing.assert_array_equal(np.asarray(read_photo(file)), expected)
    assert read_header(file).upright() == (60, 40)
    assert read_header(file)[:2] == (image.size, orientation)
    if is_grey and name != "WEBP":
        np.testing.assert_array_equal(read_levels(file), pixels)
        np.testing.assert_array_equal(read_levels(file, 7), pixels)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_masks_are_turned_as_photos_are(orientation):
    mask = np.arange(12, dtype=np.uint8).reshape(3, 4)
    image = Image.fromarray(mask)
    image = image.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else image
    np.testing.assert_array_equal(turned_upright(mask, orientation), np.asarray(image))


def folders(folder, first, second):
    """Two folders of squares with these names."""
    for place, names, background in (("plain", first, 0), ("changed", second, 255)):
        for number, name in enumerate(names):
            save(folder / place / name, square(40 + number, background))
    return ImagePairs(
        adapter="image_pairs", factual=folder / "plain", counterfactual=folder / "changed"
    )


def test_files_that_differ_in_suffix_are_pairs(tmp_path):
    names = ["dog/a.bmp", "dog/b.png", "dog/c.PNG"]
    data = folders(tmp_path, names, ["dog/a.png", "dog/b.png", "dog/c.tif"])
    pairs = data.pair_set()
    data.verify(pairs)
    files = [(pairs.inputs[p.plus].file, pairs.inputs[p.minus].file) for p in pairs.pairs]
    expected = [("dog/a.bmp", "dog/a.png"), ("dog/b.png", "dog/b.png"), ("dog/c.PNG", "dog/c.tif")]
    assert sorted(files) == expected
    assert [pair.pair_id for pair in pairs.pairs] == [factual for factual, _ in files]
    assert "dog/a.bmp and dog/a.png" in " ".join(pairs.remarks)


@pytest.mark.parametrize(("first", "second", "count"), [(".png", ".jpg", 2), (".jpg", ".png", 0)])
def test_only_a_newly_compressed_photo_is_remarked_on(first, second, count, tmp_path):
    names = [[f"{name}{suffix}" for name in "ab"] for suffix in (first, second)]
    remarks = folders(tmp_path, *names).pair_set().remarks
    assert sum("compression" in remark for remark in remarks) == (count > 0)
    assert (f"in {count} of 2 pairs" in " ".join(remarks)) == (count > 0)


def test_two_files_of_one_stem_are_refused_by_name(tmp_path):
    with pytest.raises(DataError, match=r"plain .* a\.bmp, a\.png"):
        folders(tmp_path / "first", ["a.bmp", "a.png"], ["a.tif"]).pair_set()
    with pytest.raises(DataError, match=r"changed .* a\.bmp, a\.png"):
        folders(tmp_path / "second", ["a.tif"], ["a.bmp", "a.png"]).pair_set()


def test_equal_names_come_before_equal_stems(tmp_path):
    data = folders(tmp_path, ["a.png", "a.bmp", "b.png"], ["a.png", "b.png", "b.tif"])
    for name, suffix in (("notes", ".txt"), ("notes", ".md"), ("a", ".json")):
        place = "plain" if suffix == ".txt" else "changed"
        (tmp_path / place / f"{name}{suffix}").write_text("no photo")
    pairs = data.pair_set()
    assert [pair.pair_id for pair in pairs.pairs] == ["a.png", "b.png"]
    assert "5 (a.bmp, a.json, b.tif and 2 more)" in " ".join(pairs.remarks)


@pytest.mark.parametrize("kind", ["masks", "label_maps"])
def test_mask_files_may_have_suffixes_in_capitals(kind, tmp_path):
    for name in "ab":
        write_photo(tmp_path / "photos" / f"{name}.JPG", (8, 8))
    masks = dict.fromkeys("ab", rectangle(8, 8))
    features = annotations(tmp_path / "parts", kind, masks)
    (file,) = (tmp_path / "parts").glob("a*.png")
    file.rename(file.with_suffix(".PNG"))
    given = {"adapter": "image_features", "images": tmp_path / "photos", "features": features}
    data = ImageFeatures(**given)
    pairs = data.pair_set()
    assert all(np.array_equal(data.read_mask(mask), rectangle(8, 8)) for mask in pairs.masks)
    assert file.with_suffix(".PNG").name in " ".join(pairs.remarks)
    file.with_suffix(".PNG").rename(file.with_suffix(".tif"))
    with pytest.raises(DataError, match=f"there is {file.stem}.tif"):
        data.pair_set()


def test_photos_that_share_a_mask_are_told(tmp_path):
    for suffix in ("png", "bmp"):
        write_photo(tmp_path / "photos" / f"a.{suffix}", (8, 8))
    features = annotations(tmp_path / "parts", "label_maps", {"a": rectangle(8, 8)})
    given = {"adapter": "image_features", "images": tmp_path / "photos", "features": features}
    assert "a.bmp, a.png" in " ".join(ImageFeatures(**given).pair_set().remarks)


def test_a_table_that_names_another_suffix_is_told_of_the_file(tmp_path):
    for name in ("a.JPG", "b.png"):
        write_photo(tmp_path / name, (8, 8))
    (tmp_path / "pairs.csv").write_text("factual,counterfactual\na.jpg,b.png\n")
    with pytest.raises(DataError, match=r"a\.jpg: No such file .*a\.JPG"):
        ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv").pair_set()


@pytest.mark.parametrize("kind", ["polygons", "table"])
def test_annotations_may_name_photos_with_another_suffix(kind, tmp_path):
    write_photo(tmp_path / "photos" / "a.bmp", (8, 8))
    features = annotations(
        tmp_path / "parts", "masks" if kind == "table" else kind, {"a": rectangle(8, 8)}
    )
    if kind == "table":
        table = tmp_path / "parts" / "masks.csv"
        table.write_text("image,feature,mask\na.png,part,a_part.png\n")
        features = {"kind": "masks", "table": table}
    given = {"adapter": "image_features", "images": tmp_path / "photos", "features": features}
    data = ImageFeatures(**given)
    pairs = data.pair_set()
    np.testing.assert_array_equal(data.read_mask(pairs.masks[0]), rectangle(8, 8))
    assert "a.bmp as a.png" in " ".join(pairs.remarks)


def test_annotations_of_two_images_that_could_be_the_photo_are_refused(tmp_path):
    write_photo(tmp_path / "photos" / "a.png", (8, 8))
    features = annotations(tmp_path / "parts", "polygons", {"a": rectangle(8, 8)})
    file = tmp_path / "parts" / "parts.json"
    content = json.loads(file.read_text())
    given = {"adapter": "image_features", "images": tmp_path / "photos", "features": features}
    for names, is_refused in ((["x/a.png", "y/a.png"], True), (["a.png", "y/a.png"], False)):
        content["images"] = [
            content["images"][0] | {"id": number, "file_name": name}
            for number, name in enumerate(names)
        ]
        file.write_text(json.dumps(content))
        if is_refused:
            with pytest.raises(DataError, match=r"'a.png': x/a.png, y/a.png"):
                ImageFeatures(**given).pair_set()
        else:
            assert len(ImageFeatures(**given).pair_set().pairs) == 1


def turned_pair(folder, first, second, sizes):
    """A pair of photos with these orientations, and a study of it."""
    for place, size, orientation in zip(("plain", "changed"), sizes, (first, second), strict=True):
        write_photo(folder / place / "a.png", size, orientation, 255 if place == "plain" else 200)
    given = {"factual": str(folder / "plain"), "counterfactual": str(folder / "changed")}
    return of_scenes(folder, data={"adapter": "image_pairs"} | given) | weighted(folder)


@pytest.mark.parametrize(
    ("first", "second", "sizes", "is_remarked"),
    [
        (6, None, [(8, 8), (8, 8)], True),
        (3, 1, [(10, 8), (10, 8)], True),
        (6, 8, [(10, 8), (10, 8)], True),
        (6, 6, [(10, 8), (10, 8)], False),
        (1, None, [(8, 8), (8, 8)], False),
        (6, None, [(10, 8), (8, 10)], False),
    ],
)
def test_pairs_that_exif_turns_differently_are_told(
    first, second, sizes, is_remarked, tmp_path, write
):
    study = turned_pair(tmp_path, first, second, sizes)
    for crop in ({}, {"crop": 8}):
        study["data"] |= crop
        remarks = look_at(write(study))["remarks"]
        assert any("EXIF" in remark for remark in remarks) == is_remarked


def test_a_counterfactual_that_lost_its_orientation_is_refused_with_exif_named(tmp_path, write):
    study = turned_pair(tmp_path, 6, None, [(10, 8), (10, 8)])
    study["data"]["crop"] = 8
    refuse_to_look(write(study), "8 x 10", "EXIF orientation 6", "10 x 8 as stored")


@pytest.mark.parametrize("changed", [0, 23, 44])
def test_data_refuses_the_same_pictures_as_a_run(changed, tmp_path):
    """`decaf data` shows ten of 45 pairs, and measures 20; it reads the pictures of all."""
    names = [f"{number:02d}.png" for number in range(45)]
    data = folders(tmp_path, names, names)
    config = of_scenes(tmp_path, data=data.model_dump(mode="json")) | weighted(tmp_path)
    assert look_at(config)["pairs"] == 45
    sheer = Image.fromarray(np.full((16, 16, 4), 90, np.uint8))
    file = tmp_path / "changed" / names[changed]
    sheer.save(file)
    refuse_to_look(config, "1 of 90", str(file), "transparent")
    with pytest.raises(DataError, match="transparent"):
        store_inputs(tmp_path / "stored", data.pair_set().input_set, data.read_input)
    assert not [*(tmp_path / "stored").rglob("*.npy")]
