"""Annotations as people bring them: turned photos, boxes, stray polygons, void, ids as text."""

import json

import funny_birds
import in_process
import numpy as np
import part_photos
import pytest
import turned_photos
from data_looks import look_at, refuse_to_look
from PIL import Image
from turned_photos import KINDS, POLYGON, annotations, rectangle, settings, write_coco, write_photo
from warehouse_answers import fetched

from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.photo_files import UPRIGHT
from decaf.errors import DataError
from decaf.plan.study import Study
from decaf.studies.attribution.adapters import FunnyBirds, PartImageNet

SQUARE, OBLONG = (8, 8), (10, 8)
EVIDENCE = "SELECT feature_name, endpoint_delta, evidence FROM out_feature_evidence ORDER BY ALL"


def adapter(folder, features, **data):
    given = {"adapter": "image_features", "images": str(folder / "photos"), "features": features}
    return ImageFeatures(**given | data)


def masks_and_photos(data):
    """Masks of a data set, and where its photos are white."""
    pairs = data.pair_set()
    data.verify(pairs)
    masks = [data.read_mask(mask) > 0 for mask in pairs.masks]
    return masks, [data.read_input(photo)[..., 0] > 127 for photo in pairs.inputs], pairs


@pytest.mark.parametrize("size", [SQUARE, OBLONG])
@pytest.mark.parametrize("kind", KINDS)
def test_annotations_of_stored_pixels_turn_with_their_photo(kind, size, tmp_path):
    names = {f"photo-{number}": number for number in range(1, 9)}
    for name, orientation in names.items():
        write_photo(tmp_path / "photos" / f"{name}.png", size, orientation)
    stored = dict.fromkeys(names, rectangle(*size))
    data = adapter(tmp_path, annotations(tmp_path / "parts", kind, stored))
    masks, white, pairs = masks_and_photos(data)
    np.testing.assert_equal(masks, white)
    assert len({mask.tobytes() for mask in masks}) == 8
    assert "'annotations: upright'" in " ".join(pairs.remarks)


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_annotations_of_the_turned_photo_stay_as_they_are(kind, orientation, tmp_path):
    write_photo(tmp_path / "photos" / "a.png", OBLONG, orientation)
    upright = adapter(tmp_path, {"kind": "grid"})
    shown = upright.read_input(upright.pair_set().inputs[0])[..., 0] > 127
    features = annotations(tmp_path / "parts", kind, {"a": shown}, annotations="upright")
    (mask,), (white,), pairs = masks_and_photos(adapter(tmp_path, features))
    np.testing.assert_array_equal(mask, white)
    np.testing.assert_array_equal(mask, shown)
    assert "EXIF" not in " ".join(pairs.remarks)


def test_sizes_of_further_photos_tell_how_a_square_one_is_annotated(tmp_path):
    for name, size, orientation in (("a", OBLONG, 6), ("b", SQUARE, 6), ("c", (8, 10), 8)):
        write_photo(tmp_path / "photos" / f"{name}.png", size, orientation)
    data = adapter(tmp_path, {"kind": "grid"})
    shown = [data.read_input(photo)[..., 0] > 127 for photo in data.pair_set().inputs]
    drawn = dict(zip("abc", shown, strict=True))
    masks, white, pairs = masks_and_photos(
        adapter(tmp_path, annotations(tmp_path / "parts", "masks", drawn))
    )
    np.testing.assert_equal(masks, white)
    assert "(b.png)" in " ".join(pairs.remarks)
    features = annotations(tmp_path / "parts", "masks", drawn | {"a": rectangle(*OBLONG)})
    with pytest.raises(DataError, match=r"a\.png .*c\.png .*b\.png.*'annotations: stored'"):
        adapter(tmp_path, features).pair_set()
    masks, white, _ = masks_and_photos(adapter(tmp_path, features | {"annotations": "upright"}))
    np.testing.assert_equal(masks, white)


@pytest.mark.parametrize("kind", ["masks", "label_maps"])
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_a_mask_with_an_orientation_is_turned_by_its_own(kind, suffix, tmp_path):
    write_photo(tmp_path / "photos" / "a.png", SQUARE, 6)
    features = annotations(tmp_path / "parts", kind, {"a": rectangle(*SQUARE)})
    (file,) = (tmp_path / "parts").iterdir()
    features["files"] = features["files"].replace(".png", f".{suffix}")
    stored = Image.open(file)
    stored.load()
    turned = file.with_suffix(f".{suffix}")
    for orientation in (6, 1):
        stored.save(turned, exif=turned_photos.exif(orientation))
        (mask,), (white,), pairs = masks_and_photos(adapter(tmp_path, features))
        np.testing.assert_array_equal(mask, white if orientation == 6 else rectangle(*SQUARE))
        assert "EXIF" not in " ".join(pairs.remarks)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_fit_neither_way_are_refused_with_exif_named(kind, tmp_path, write):
    write_photo(tmp_path / "photos" / "a.png", OBLONG, 6)
    features = annotations(tmp_path / "parts", kind, {"a": rectangle(10, 7)})
    config = write(settings(tmp_path, features))
    refuse_to_look(config, "10 x 7", "8 x 10", "EXIF orientation 6", "10 x 8 as stored")
    write_photo(tmp_path / "photos" / "a.png", (7, 10))
    refuse_to_look(config, "EXIF orientation")


def test_evidence_of_a_turned_square_photo_is_that_of_its_white_corner(tmp_path, write):
    # Of orientation 6 the rectangle of 3 x 2 goes to the top right, 2 wide and 3 high: 6 white
    # pixels of three channels in the upper half, each of weight 1, and E is the half of d.
    write_photo(tmp_path / "photos" / "a.png", SQUARE, 6)
    given = settings(
        tmp_path, annotations(tmp_path / "parts", "polygons", {"a": rectangle(*SQUARE)})
    )
    remarks = look_at(write(given))["remarks"]
    assert any("a.png" in remark and "EXIF" in remark for remark in remarks)
    study = Study(**given)
    in_process.compute(study)
    assert fetched(study.warehouse, EVIDENCE) == [("part", 18.0, 9.0)]


def test_turned_masks_have_digests_of_their_own(tmp_path):
    features = annotations(tmp_path / "parts", "masks", {"a": rectangle(*SQUARE)})
    digests = []
    for orientation in (None, 1, 6, 3):
        write_photo(tmp_path / "photos" / "a.png", SQUARE, orientation)
        digests.append(adapter(tmp_path, features).pair_set().mask_set.digest)
    assert digests[0] == digests[1]
    assert len({*digests}) == 3


def test_part_maps_and_photos_of_studies_turn(tmp_path):
    """Masks of FunnyBirds and PartImageNet have the correct parts of the photos."""
    birds = funny_birds.write(tmp_path / "birds", shown=1)
    photos = part_photos.write(tmp_path / "photos")
    classes = ["n00000000", "n00000001"]
    files = [*(birds / "FunnyBirds" / "test").rglob("*.png"), *photos.rglob("*.JPEG")]
    sets = (
        FunnyBirds(adapter="funnybirds", root=birds),
        PartImageNet(adapter="partimagenet", root=photos, classes=classes, operators=["texture"]),
    )
    before = [[data.read_mask(mask) for mask in data.pair_set().masks] for data in sets]
    for orientation in range(2, 9):
        for file in files:
            stored = Image.open(file)
            stored.load()
            stored.save(file, exif=turned_photos.exif(orientation))
        for data, masks in zip(sets, before, strict=True):
            pairs = data.pair_set()
            data.verify(pairs)
            assert "EXIF" in " ".join(pairs.remarks)
            for photo, mask, plain in zip(pairs.inputs, pairs.masks, masks, strict=True):
                words = data.read_mask(mask)
                turned = Image.fromarray(plain).transpose(UPRIGHT[orientation])
                np.testing.assert_array_equal(words, np.asarray(turned))
                assert data.read_input(photo).shape[:2] == words.shape


def test_categories_of_one_name_keep_their_supercategories(tmp_path):
    features = boxes(tmp_path, [{"segmentation": POLYGON}])
    content = json.loads((tmp_path / "parts.json").read_text())
    content["categories"] = [
        {"id": number, "name": "head", "supercategory": animal}
        for number, animal in enumerate(["dog", "cat"], 1)
    ]
    (tmp_path / "parts.json").write_text(json.dumps(content))
    pairs = adapter(tmp_path, features | {"by": "supercategory"}).pair_set()
    assert [pair.pair_type for pair in pairs.pairs] == ["dog"]


def boxes(folder, parts, **keys):
    """A square photo, and annotations of it with these fields."""
    write_photo(folder / "photos" / "a.png", SQUARE)
    images = [{"id": 1, "file_name": "a.png", "width": 8, "height": 8}]
    common = {"image_id": 1, "category_id": 1}
    parts = [common | {"id": 40 + place} | part for place, part in enumerate(parts)]
    write_coco(folder / "parts.json", images, parts)
    return {"kind": "coco", "file": str(folder / "parts.json")} | keys


EMPTY = {
    "no segmentation": {},
    "null": {"segmentation": None},
    "no polygon": {"segmentation": []},
    "a polygon without points": {"segmentation": [[]]},
    "run lengths of nothing": {"segmentation": {"size": [8, 8], "counts": [64]}},
    "packed run lengths of nothing": {"segmentation": {"size": [8, 8], "counts": "P2"}},
}


@pytest.mark.parametrize("name", EMPTY)
def test_boxes_are_refused_or_rectangles(name, tmp_path):
    part = {"bbox": [0, 0, 3.0, 2]} | EMPTY[name]
    features = boxes(tmp_path, [part, {"segmentation": POLYGON}])
    with pytest.raises(DataError, match=r"annotation 40 .* a\.png.* 'boxes: as_masks'"):
        adapter(tmp_path, features).pair_set()
    for parts in ([part, {"segmentation": POLYGON}], [part]):
        data = adapter(tmp_path, boxes(tmp_path, parts, boxes="as_masks"))
        (mask,), (white,), _ = masks_and_photos(data)
        np.testing.assert_array_equal(mask, white)


def test_a_box_beside_a_segmentation_changes_nothing(tmp_path):
    plain = boxes(tmp_path, [{"segmentation": POLYGON}])
    digest = adapter(tmp_path, plain).pair_set().digest
    both = boxes(tmp_path, [{"segmentation": POLYGON, "bbox": [0, 0, 8, 8]}])
    for keys in ({}, {"boxes": "as_masks"}):
        assert adapter(tmp_path, both | keys).pair_set().digest == digest
    nothing = boxes(
        tmp_path, [{"segmentation": POLYGON}, {"segmentation": [], "bbox": [1, 1, 0, 0]}]
    )
    (mask,), (white,), _ = masks_and_photos(adapter(tmp_path, nothing))
    np.testing.assert_array_equal(mask, white)


@pytest.mark.parametrize("box", [[1, 2, 3], [0, 0, -1, 2], [0, 0, "a", 1], [0, 0, 1e300, 2], "box"])
def test_a_box_that_is_none_is_named(box, tmp_path):
    features = boxes(tmp_path, [{"bbox": box}, {"segmentation": POLYGON}], boxes="as_masks")
    with pytest.raises(DataError, match=r"annotation 40 .* a\.png: .*bbox"):
        adapter(tmp_path, features).pair_set()
    features["skip_invalid"] = True
    assert "annotation 40" in " ".join(adapter(tmp_path, features).pair_set().remarks)


@pytest.mark.parametrize("kind", ["masks", "label_maps", "polygons", "table"])
def test_a_feature_that_lies_nowhere_is_an_error_and_a_remark_where_some_do(kind, tmp_path, write):
    masks = {"a": rectangle(*SQUARE), "b": rectangle(*SQUARE)}
    for name in masks:
        write_photo(tmp_path / "photos" / f"{name}.png", SQUARE)
    features = annotations(tmp_path / "parts", kind if kind != "table" else "masks", masks)
    if kind == "table":
        rows = [f"{name}.png,part,{name}_part.png" for name in masks]
        (tmp_path / "parts" / "masks.csv").write_text("\n".join(["image,feature,mask", *rows]))
        features = {"kind": "masks", "table": str(tmp_path / "parts" / "masks.csv")}
    config = write(settings(tmp_path, features))
    for empty, ends in (("a", 0), ("b", 2)):
        if kind == "polygons":
            content = json.loads((tmp_path / "parts" / "parts.json").read_text())
            content["annotations"]["ab".index(empty)]["segmentation"] = []
            (tmp_path / "parts" / "parts.json").write_text(json.dumps(content))
        else:
            file = tmp_path / "parts" / f"{empty}{'' if kind == 'label_maps' else '_part'}.png"
            Image.new("L", SQUARE).save(file)
        if ends:
            refuse_to_look(config, "part (2 of 2)")
        else:
            assert "part (1 of 2)" in " ".join(look_at(config)["remarks"])
    with pytest.raises(DataError, match=r"part \(2 of 2\)"):
        in_process.compute(Study(**settings(tmp_path, features)))


STRAY = {
    "a point": [[4, 4]],
    "text": "polygon",
    "broken run lengths": {"size": [8, 8], "counts": [3]},
}


@pytest.mark.parametrize("name", STRAY)
def test_a_stray_segmentation_is_named_or_left_out(name, tmp_path):
    stray = STRAY[name]
    beside = stray + POLYGON if isinstance(stray, list) else stray
    for segmentation in (stray, beside):
        parts = [{"segmentation": POLYGON}, {"segmentation": segmentation}]
        features = boxes(tmp_path, parts)
        with pytest.raises(DataError, match=r"(?s)skip_invalid: true.*annotation 41 .*a\.png"):
            adapter(tmp_path, features).pair_set()
        (mask,), (white,), pairs = masks_and_photos(
            adapter(tmp_path, features | {"skip_invalid": True})
        )
        np.testing.assert_array_equal(mask, white)
        assert "annotation 41" in " ".join(pairs.remarks)


def test_annotations_of_what_is_not_listed_are_left_out_on_request(tmp_path):
    parts = [{"segmentation": POLYGON}, {"image_id": 7}, {"category_id": 9}]
    features = boxes(tmp_path, parts)
    with pytest.raises(DataError, match="annotation 41 .* image_id 7"):
        adapter(tmp_path, features).pair_set()
    pairs = adapter(tmp_path, features | {"skip_invalid": True}).pair_set()
    assert all(number in " ".join(pairs.remarks) for number in ("41", "42"))


def test_strays_of_other_images_and_categories_count_for_nothing(tmp_path):
    features = boxes(tmp_path, [{"segmentation": POLYGON}])
    content = json.loads((tmp_path / "parts.json").read_text())
    content["images"].append({"id": 2, "file_name": "absent.png", "width": 8, "height": 8})
    content["categories"].append({"id": 2, "name": "box"})
    content["annotations"] += [
        {"id": 50, "image_id": 2, "category_id": 1, "segmentation": [[1]]},
        {"id": 51, "image_id": 1, "category_id": 2, "bbox": [0, 0, 2, 2]},
    ]
    (tmp_path / "parts.json").write_text(json.dumps(content))
    pairs = adapter(tmp_path, features | {"groups": {"part": ["part"]}}).pair_set()
    assert [pair.pair_type for pair in pairs.pairs] == ["part"]


def label_map(folder, void, **keys):
    """A square photo and its label map: 1 in the white rectangle, a further number below it."""
    write_photo(folder / "photos" / "a.png", SQUARE)
    numbers = rectangle(*SQUARE).astype(np.uint8)
    numbers[2:4] = void
    Image.fromarray(numbers).save(folder / "a.png")
    return {"kind": "label_maps", "files": f"{folder}/{{image}}.png", "names": ["part"]} | keys


@pytest.mark.parametrize("void", [255, 3])
def test_numbers_without_a_feature_are_ignored_on_request(void, tmp_path):
    features = label_map(tmp_path, void)
    with pytest.raises(DataError, match=rf"'ignore: \[{void}\]'"):
        masks_and_photos(adapter(tmp_path, features))
    data = adapter(tmp_path, features | {"ignore": [void, 200]})
    (mask,), (white,), _ = masks_and_photos(data)
    np.testing.assert_array_equal(mask, white)
    with pytest.raises(DataError, match=f"number {void}"):
        masks_and_photos(adapter(tmp_path, features | {"ignore": [200]}))


def test_a_name_whose_number_is_ignored_is_not_audited(tmp_path):
    features = label_map(tmp_path, 3, names=["part", "absent", "below"], ignore=[2])
    pairs = adapter(tmp_path, features).pair_set()
    assert [(pair.pair_type, pair.feature) for pair in pairs.pairs] == [("part", 1), ("below", 3)]


SAME = {
    "text": {"id": "7"},
    "a fraction of 0": {"id": 7.0},
    "width and height": {"width": 8.0, "height": "8"},
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("where", ["images", "categories"])
def test_ids_and_sizes_that_are_whole_numbers_are_taken(name, where, tmp_path):
    features = boxes(tmp_path, [{"segmentation": POLYGON}])
    content = json.loads((tmp_path / "parts.json").read_text())
    content[where][0] |= {"id": 7} | SAME[name]
    key = "image_id" if where == "images" else "category_id"
    for reference in (7, "7", 7.0):
        content["annotations"][0][key] = reference
        (tmp_path / "parts.json").write_text(json.dumps(content))
        (mask,), (white,), _ = masks_and_photos(adapter(tmp_path, features))
        np.testing.assert_array_equal(mask, white)


@pytest.mark.parametrize("same", ["1", 1.0])
@pytest.mark.parametrize("where", ["images", "categories"])
def test_ids_that_become_equal_are_refused(where, same, tmp_path):
    features = boxes(tmp_path, [{"segmentation": POLYGON}])
    content = json.loads((tmp_path / "parts.json").read_text())
    second = {"id": same, "file_name": "b.png", "width": 8, "height": 8, "name": "second"}
    content[where].append(second)
    (tmp_path / "parts.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=f"two {where} .* '1'"):
        adapter(tmp_path, features).pair_set()


@pytest.mark.parametrize("value", [True, 1.5, None, "", [1], float("inf")])
@pytest.mark.parametrize("key", ["id", "width"])
def test_ids_and_sizes_that_are_no_whole_numbers_are_refused(key, value, tmp_path):
    features = boxes(tmp_path, [{"segmentation": POLYGON}])
    content = json.loads((tmp_path / "parts.json").read_text())
    content["images"][0][key] = value
    (tmp_path / "parts.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=f"image 0 has the {key} "):
        adapter(tmp_path, features).pair_set()
