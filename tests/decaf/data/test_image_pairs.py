"""Pairs of image files: by a table, by two folders, and what their pixels are."""

from dataclasses import replace

import numpy as np
import pytest
from own_data import COLUMNS, HEADER, rows_of_squares, save, square, write_table
from PIL import Image
from pydantic import ValidationError

from decaf.data import photo_files
from decaf.data.adapters.image_pairs import ImagePairs
from decaf.errors import DataError


def adapter(**settings):
    return ImagePairs(adapter="image_pairs", **settings)


@pytest.fixture
def table(tmp_path):
    write_table(tmp_path / "pairs.csv", rows_of_squares(tmp_path, range(2)))
    return tmp_path / "pairs.csv"


def test_rows_are_pairs_and_files_are_inputs_once(table, tmp_path):
    data = adapter(pairs=table, columns=COLUMNS)
    pairs = data.pair_set()
    first = pairs.pairs[0]
    assert (first.source_id, first.pair_type, first.split) == ("s0", "to white", "test")
    assert first.pair_id == "images/s0-black.png__images/s0-white.png"
    assert [pair.class_id for pair in pairs.pairs] == [1, 1, 0, 0]
    assert pairs.remarks == ("class names: 0 cat, 1 dog",)
    words = "images/s0-black.png → images/s0-white.png"
    assert (pairs.class_names, data.describe(pairs, first)) == (("cat", "dog"), f"dog: {words}")
    named = adapter(pairs=table, columns=COLUMNS, classes=["dog", "cat"]).pair_set()
    assert (named.class_names, named.pairs[0].class_id) == (("dog", "cat"), 0)
    # Two factual images, each of two pairs, and four counterfactual ones.
    assert len(pairs.inputs) == 6
    assert pairs.pairs[0].plus == pairs.pairs[1].plus
    image = pairs.inputs[first.minus]
    assert (image.image_id, image.variant) == (
        "counterfactual/images/s0-white.png",
        "counterfactual",
    )
    assert image.file == "images/s0-white.png"
    data.verify(pairs)
    np.testing.assert_array_equal(data.read_input(image), square(40, 255))


def test_only_two_columns_are_needed(tmp_path):
    rows_of_squares(tmp_path, range(2))
    rows = [[f"s{n}-black.png", f"s{n}-white.png", "much"] for n in range(2)]
    write_table(tmp_path / "pairs.csv", rows, ("factual", "counterfactual", "note"))
    pairs = adapter(pairs=tmp_path / "pairs.csv", images=tmp_path / "images").pair_set()
    assert [(p.source_id, p.pair_type, p.class_id, p.split) for p in pairs.pairs] == [
        ("s0-black.png", "pair", 0, "all"),
        ("s1-black.png", "pair", 0, "all"),
    ]
    (unused,) = pairs.remarks
    assert unused.endswith(": 'note'")
    assert not pairs.has_labels
    labelled = replace(pairs, has_labels=True)
    assert labelled.digest == pairs.digest
    assert labelled.analysed_digest != pairs.analysed_digest


def test_weights_are_those_of_the_rows_and_change_nothing_that_is_scored(table, tmp_path):
    plain = adapter(pairs=table, columns=COLUMNS).pair_set()
    said = [line.split(",") for line in table.read_text().splitlines()]
    found = []
    for words in ("1 1 1.0 1", "1 .5 2e0 5"):
        rows = [[*row, word] for row, word in zip(said[1:], words.split(), strict=True)]
        write_table(table, rows, (*HEADER, "much"))
        found.append(adapter(pairs=table, columns={**COLUMNS, "weight": "much"}).pair_set())
    ones, others = found
    assert ones == plain
    unsplit = replace(plain, pairs=tuple(replace(pair, split="all") for pair in plain.pairs))
    assert unsplit.analysed_digest == unsplit.digest == plain.digest
    assert plain.analysed_digest != plain.digest
    assert [pair.weight for pair in others.pairs] == [1, 0.5, 2, 5]
    assert others.digest == plain.digest
    assert others.block_digest((0, 1)) == plain.block_digest((0, 1))
    assert others.analysed_digest not in (plain.digest, ones.analysed_digest)
    assert plain.means_digest == unsplit.means_digest == plain.digest != others.means_digest


def test_further_columns_divide_pairs_and_change_nothing_that_is_scored(table):
    plain = adapter(pairs=table, columns=COLUMNS).pair_set()
    lines = [line.split(",") for line in table.read_text().splitlines()][1:]
    sites = ("north", "north", "south", "east")
    write_table(table, [[*row, s] for row, s in zip(lines, sites, strict=True)], (*HEADER, "site"))
    pairs = adapter(pairs=table, columns=COLUMNS, groups=["site"]).pair_set()
    assert [dict(pair.groups)["site"] for pair in pairs.pairs] == [*sites]
    assert pairs.digest == plain.digest
    assert pairs.analysed_digest != plain.analysed_digest
    assert pairs.means_digest == plain.means_digest
    assert "site" not in str(pairs.remarks)
    for groups, words in ((["sit"], "did you mean 'site'"), (["class"], "class")):
        with pytest.raises(DataError, match=words):
            adapter(pairs=table, columns=COLUMNS, groups=groups).pair_set()


def test_two_folders_pair_files_of_equal_names(tmp_path):
    for name in ("dog/1.png", "cat/2.png", "cat/3.png", ".hidden/4.png"):
        save(tmp_path / "plain" / name, square(10, 0))
        if "3" not in name:
            save(tmp_path / "changed" / name, square(10, 255))
    data = adapter(factual=tmp_path / "plain", counterfactual=tmp_path / "changed")
    pairs = data.pair_set()
    assert [(pair.pair_id, pair.class_id) for pair in pairs.pairs] == [
        ("cat/2.png", 0),
        ("dog/1.png", 1),
    ]
    left_out, names = pairs.remarks
    assert left_out.endswith(": 1 (cat/3.png)")
    assert names == "class names: 0 cat, 1 dog"
    data.verify(pairs)
    assert data.read_input(pairs.inputs[pairs.pairs[0].minus])[0, 0, 0] == 255


def test_a_photo_without_the_folder_of_a_class_is_named(tmp_path):
    for folder, background in (("plain", 0), ("changed", 255)):
        for name in ("dog/1.png", "stray.png", "cat/2.png"):
            save(tmp_path / folder / name, square(10, background))
    data = adapter(factual=tmp_path / "plain", counterfactual=tmp_path / "changed")
    with pytest.raises(DataError, match=r"1 of 3 inputs have no label \(stray\.png\), .*'cat'"):
        data.pair_set()


def test_images_are_resized_and_cropped_as_declared(tmp_path):
    wide = np.zeros((20, 40, 3), np.uint8)
    wide[:, 10:30] = 200  # the central square
    for folder in ("a", "b"):
        save(tmp_path / folder / "wide.png", wide)
        save(tmp_path / folder / "high.png", wide.transpose(1, 0, 2))
        wide[0, 0] = 1  # outside of the square
    folders = {"factual": tmp_path / "a", "counterfactual": tmp_path / "b"}
    data = adapter(**folders, resize=10, crop=8)
    pairs = data.pair_set()
    data.verify(pairs)
    for image in pairs.inputs:
        np.testing.assert_array_equal(data.read_input(image), np.full((8, 8, 3), 200))
    assert pairs.construction == "pillow bilinear 10 rounded down centre 8"
    cropped = adapter(**folders, crop=20)
    np.testing.assert_array_equal(cropped.read_input(pairs.inputs[0]), np.full((20, 20, 3), 200))
    cropped.verify(pairs)
    resized = adapter(**folders, resize=10).pair_set()
    assert {image.image_id: image.shape for image in resized.inputs} == {
        f"{role}/{name}": shape
        for role in ("factual", "counterfactual")
        for name, shape in (("wide.png", (10, 20, 3)), ("high.png", (20, 10, 3)))
    }
    with pytest.raises(DataError, match="crop of 21; .*'resize:'"):
        adapter(**folders, crop=21).verify(pairs)


def test_both_of_a_pair_have_one_size_before_they_are_cropped(tmp_path):
    save(tmp_path / "a" / "one.png", np.zeros((20, 40, 3), np.uint8))
    save(tmp_path / "b" / "one.png", np.zeros((20, 30, 3), np.uint8))
    data = adapter(factual=tmp_path / "a", counterfactual=tmp_path / "b", resize=8, crop=8)
    with pytest.raises(DataError, match=r"pair one\.png: .* 40 x 20 .* 30 x 20"):
        data.verify(data.pair_set())
    sizes = r"/a/one\.png has shape \(20, 40, 3\) .*/b/one\.png has \(20, 30, 3\)"
    with pytest.raises(DataError, match=sizes):
        data.model_copy(update={"resize": None, "crop": None}).pair_set()


def test_content_decides_what_is_scored_again(table, tmp_path):
    data = adapter(pairs=table, columns=COLUMNS)
    before = data.pair_set()
    save(tmp_path / "images" / "s1-grey.png", square(60, 101))
    after = data.pair_set()
    differ = [a.image_id for a, b in zip(before.inputs, after.inputs, strict=True) if a != b]
    assert differ == ["counterfactual/images/s1-grey.png"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "no key for pairs"),
        ({"factual": "a"}, "found 'factual'; give either 'pairs'"),
        ({"pairs": "t.csv", "factual": "a", "counterfactual": "b"}, "give either 'pairs'"),
        ({"pairs": "t.csv", "factual": "a"}, "'factual' needs no 'pairs'"),
        ({"factual": "a", "counterfactual": "b", "images": "c"}, "'images' needs a table"),
        ({"factual": "a", "counterfactual": "b", "columns": {"label": "x"}}, "'columns' needs"),
        ({"pairs": "t.csv", "resize": 8, "crop": 9}, "'crop' .* 9"),
        ({"pairs": "t.csv", "colums": {}}, "'columns'"),
    ],
)
def test_settings_that_do_not_belong_together(settings, words):
    with pytest.raises(ValidationError, match=words):
        adapter(**settings)


def test_a_pair_of_one_content_is_told(tmp_path):
    rows_of_squares(tmp_path, range(2))
    rows = [["s0-black.png", "s0-white.png"], ["s1-black.png", "s1-black.png"]]
    write_table(tmp_path / "pairs.csv", rows, ("factual", "counterfactual"))
    pairs = adapter(pairs=tmp_path / "pairs.csv", images=tmp_path / "images").pair_set()
    assert "1 of 2 pairs" in pairs.remarks[0]
    assert pairs.remarks[0].endswith(": s1-black.png__s1-black.png")


RAMP = np.arange(12, dtype=np.uint8).reshape(1, 4, 3) * 20


def test_changes_pair_every_factual_image_with_itself(table, tmp_path):
    plain = adapter(pairs=table, columns=COLUMNS)
    data = adapter(
        pairs=table,
        columns=COLUMNS,
        changes={"shifted": {"shift": 1}, "mirrored": {"mirror": True}},
    )
    before, pairs = plain.pair_set(), data.pair_set()
    # Two factual images, which four pairs of the table share.
    assert [pair.pair_type for pair in pairs.pairs][4:] == [*["shifted"] * 2, *["mirrored"] * 2]
    assert [pairs.pairs[n] for n in range(4)] == [before.pairs[n] for n in range(4)]
    first, shifted = pairs.pairs[0], pairs.pairs[4]
    assert (shifted.plus, shifted.source_id, shifted.class_id, shifted.split) == (
        *(first.plus, first.source_id, first.class_id, first.split),
    )
    image = pairs.inputs[shifted.minus]
    assert (image.image_id, image.variant) == ("shifted/images/s0-black.png", "shifted")
    assert len({one.digest for one in pairs.inputs}) == len(pairs.inputs)
    data.verify(pairs)

    save(tmp_path / "images" / "s0-black.png", RAMP)
    moved = data.read_input(image)
    assert (moved[0, :, 0] // 20).tolist() == [0, 0, 3, 6]
    mirrored = pairs.inputs[pairs.pairs[6].minus]
    np.testing.assert_array_equal(data.read_input(mirrored), RAMP[:, ::-1])
    assert data.describe(pairs, shifted)


def test_another_shift_is_another_input(table):
    digests = [
        adapter(pairs=table, columns=COLUMNS, changes={"shifted": {"shift": px}})
        .pair_set()
        .input_set.digest
        for px in (1, 2)
    ]
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "changes",
    [{"shifted": {}}, {"factual": {"shift": 1}}, {"shifted": {"turn": 1}}],
    ids=["changes nothing", "name of a side", "unknown key"],
)
def test_a_change_that_cannot_be_made_is_refused(table, changes):
    with pytest.raises(ValidationError):
        adapter(pairs=table, columns=COLUMNS, changes=changes)


def test_a_change_is_refused_where_it_has_the_name_of_a_type_or_leaves_nothing(table):
    with pytest.raises(DataError):
        adapter(pairs=table, columns=COLUMNS, changes={"to white": {"shift": 1}}).pair_set()
    wide = adapter(pairs=table, columns=COLUMNS, changes={"gone": {"shift": -400}})
    pairs = wide.pair_set()
    with pytest.raises(DataError):
        wide.read_input(pairs.inputs[pairs.pairs[4].minus])


@pytest.mark.parametrize(("largest", "is_dark"), [(4095, True), (4096, False)])
def test_photos_of_twelve_bits_in_sixteen_are_remarked_on(tmp_path, largest, is_dark):
    for folder, level in (("plus", largest), ("minus", 7)):
        (tmp_path / folder).mkdir()
        samples = np.full((8, 8), level, np.uint16)
        for name in "abc":
            Image.fromarray(samples).save(tmp_path / folder / f"{name}.png")
    pairs = adapter(factual=tmp_path / "plus", counterfactual=tmp_path / "minus").pair_set()
    remarks = [remark for remark in pairs.remarks if "12 bits" in remark]
    assert [remark.startswith("6 photos of 16 bits") for remark in remarks] == [True] * is_dark


GREY, EQUAL = np.full((8, 8), 90, np.uint8), np.full((8, 8, 3), 90, np.uint8)
COLOURS = EQUAL + np.arange(3, dtype=np.uint8)
RED = np.full((8, 8, 3), (200, 90, 10), np.uint8)


@pytest.mark.parametrize(
    ("plus", "minus", "is_mixed"),
    [
        (GREY, COLOURS, True),
        (COLOURS, EQUAL, True),
        (COLOURS, COLOURS + 1, False),
        (GREY, GREY + 1, False),
        (GREY, EQUAL + 1, False),
    ],
)
def test_pairs_of_a_grey_and_a_colour_photo_are_remarked_on(tmp_path, plus, minus, is_mixed):
    for folder, pixels in (("plus", plus), ("minus", minus)):
        for name in "abcdef":
            save(tmp_path / folder / f"{name}.png", pixels)
    folders = {"factual": tmp_path / "plus", "counterfactual": tmp_path / "minus"}
    remarks = [remark for remark in adapter(**folders).pair_set().remarks if "grey" in remark]
    assert ["in 4 of the 4 pairs" in remark for remark in remarks] == [True] * is_mixed
    assert not any("grey" in remark for remark in adapter(**folders, channels=1).pair_set().remarks)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ([RED[..., ::-1], RED[..., ::-1]], "red and blue"),
        ([RED[..., ::-1], RED + 1], None),
        ([RED // 200, RED // 200], "above 1 of 255"),
        ([RED // 200, RED + 1], None),
    ],
    ids=["exchanged", "one of two exchanged", "black", "one of two black"],
)
def test_black_photos_and_exchanged_channels_are_remarked_on(tmp_path, changed, words):
    for name, pixels in zip("ab", changed, strict=True):
        save(tmp_path / "plus" / f"{name}.png", RED)
        save(tmp_path / "minus" / f"{name}.png", pixels)
    pairs = adapter(factual=tmp_path / "plus", counterfactual=tmp_path / "minus").pair_set()
    found = [remark for remark in pairs.remarks if "looked at" in remark]
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


def test_photos_saved_unchanged_are_refused(tmp_path):
    for name in "ab":
        save(tmp_path / "plus" / f"{name}.png", RED)
        save(tmp_path / "minus" / f"{name}.png", RED if name == "a" else RED + 1)
    data = adapter(factual=tmp_path / "plus", counterfactual=tmp_path / "minus")
    (remark,) = data.pair_set().remarks
    assert "1 of 2 pairs" in remark
    save(tmp_path / "minus" / "b.png", RED)
    with pytest.raises(DataError, match=r"minus.*'pair' \(2 pairs\)"):
        data.pair_set()


def test_the_pair_whose_header_tells_of_grey_is_looked_at_first(tmp_path):
    for name in "abcdef":
        save(tmp_path / "plus" / f"{name}.png", COLOURS)
        save(tmp_path / "minus" / f"{name}.png", GREY if name == "f" else COLOURS + 1)
    # Damaged pixels are named when they are read.
    whole = (tmp_path / "plus" / "a.png").read_bytes()
    (tmp_path / "plus" / "a.png").write_bytes(whole[:-20])
    pairs = adapter(factual=tmp_path / "plus", counterfactual=tmp_path / "minus").pair_set()
    (remark,) = pairs.remarks
    assert "in 1 of the 4 pairs" in remark
    assert "f.png" in remark


def test_photos_of_eight_bits_are_not_decoded_for_a_remark_on_dark_ones(table, monkeypatch):
    monkeypatch.setattr(photo_files, "read_levels", None)
    assert adapter(pairs=table, columns=COLUMNS).pair_set().remarks
