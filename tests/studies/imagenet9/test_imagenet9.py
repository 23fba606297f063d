import hashlib
import shutil

import numpy as np
import pytest
from PIL import ExifTags, Image

from decaf.data.input_store import open_inputs, store_inputs
from decaf.errors import DataError, WriteFailed
from decaf.studies.imagenet9 import adapters
from decaf.studies.imagenet9.adapters import ImageNet9, split_of


def adapter(root, **options):
    return ImageNet9(adapter="imagenet9", root=root, **options)


def first_file(root, variant):
    return next(iter(sorted((root / "bg_challenge" / variant / "val").glob("*/*"))))


def test_pairs_join_the_variants_by_foreground(photo_root):
    pairs = adapter(photo_root).pair_set()
    assert len(pairs.pairs) == 18
    assert len(pairs.inputs) == 27
    first, second = pairs.pairs[:2]
    assert first.pair_id == "00/n00000000_00001__same_rand"
    assert (first.source_id, first.class_id) == ("00/n00000000_00001", 0)
    assert pairs.inputs[first.plus].variant == "mixed_same"
    assert pairs.inputs[second.minus].variant == "mixed_next"
    assert first.plus == second.plus
    file = "mixed_same/val/00_dog/fg_n00000000_00001_bg_n00000009_00002.JPEG"
    assert pairs.inputs[first.plus].file == file
    assert (photo_root / "bg_challenge" / file).samefile(pairs.inputs[first.plus].location)
    assert [pair.class_id for pair in pairs.pairs[::2]] == list(range(9))
    words = adapter(photo_root).describe(pairs, second)
    assert words == "dog, background of its own class → of the next class"


def test_the_inner_folder_may_be_named_itself(photo_root):
    assert adapter(photo_root / "bg_challenge").pair_set() == adapter(photo_root).pair_set()


def test_a_foreground_without_one_variant_is_left_out(photo_root):
    first_file(photo_root, "mixed_next").unlink()
    assert len(adapter(photo_root).pair_set().pairs) == 16
    assert len(adapter(photo_root, pair_types=["same_rand"]).pair_set().pairs) == 9


def test_what_is_left_out_is_told(photo_root):
    assert adapter(photo_root).pair_set().remarks == ()
    first_file(photo_root, "mixed_next").unlink()
    remark = (
        "1 of 9 foregrounds are left out: they are not in every variant (00/n00000000_00001, for "
        "example, is not in mixed_next)"
    )
    absent = "no foreground of the study is of the class 00 dog"
    assert adapter(photo_root).pair_set().remarks == (remark, absent)
    assert adapter(photo_root, pair_types=["same_rand"]).pair_set().remarks == ()


def test_classes_that_a_draw_leaves_out_are_told(photo_root):
    (remark,) = adapter(photo_root, sources=7).pair_set().remarks
    drawn = {pair.class_id for pair in adapter(photo_root, sources=7).pair_set().pairs}
    first, second = sorted(set(range(9)) - drawn)
    names = [*("dog", "bird", "wheeled vehicle", "reptile", "carnivore", "insect")]
    names += ["musical instrument", "primate", "fish"]
    listed = f"0{first} {names[first]} or 0{second} {names[second]}"
    assert remark == f"no foreground of the study is of the class {listed}"


def test_foregrounds_that_are_there_twice_are_told(photo_root):
    shutil.copytree(photo_root / "bg_challenge" / "mixed_same", photo_root / "bg_challenge/only_fg")
    data = adapter(photo_root)
    assert data.foregrounds(data.pair_set()).remarks == ()
    first = first_file(photo_root, "only_fg")
    first.with_name("fg_n00000000_00001_bg_n99999999_00001.JPEG").write_bytes(first.read_bytes())
    (remark,) = data.foregrounds(data.pair_set()).remarks
    assert remark.startswith("files of only_fg/val are left out, since another one of their")
    assert remark.endswith(": 1")


def test_of_two_files_of_a_foreground_the_first_by_name_counts(photo_root):
    first = first_file(photo_root, "mixed_rand")
    before = adapter(photo_root).pair_set()
    first.with_name("fg_n00000000_00001_bg_n99999999_00001.JPEG").write_bytes(first.read_bytes())
    after = adapter(photo_root).pair_set()
    assert (after.inputs, after.pairs) == (before.inputs, before.pairs)
    assert after.digest == before.digest
    assert after.remarks == (
        "files of mixed_rand/val are left out, since another one of their foreground comes first "
        "by name: 1",
    )


def test_variants_that_share_no_foreground_are_an_error(photo_root):
    for path in (photo_root / "bg_challenge" / "mixed_next" / "val").glob("*/*"):
        path.rename(path.with_name(path.name.replace("_00001_bg", "_00007_bg")))
    with pytest.raises(DataError, match=r"no foreground is in every variant \(files: mixed_same 9"):
        adapter(photo_root).pair_set()


def test_a_split_that_is_too_small_is_an_error(photo_root):
    with pytest.raises(DataError, match="9 of 9 foregrounds are there, and the study asks for 10"):
        adapter(photo_root, sources=10).pair_set()
    splits = [split_of(f"0{k}/n0000000{k}_00001") for k in range(9)]
    held = splits.count("deep")
    words = f"{held} of 9 foregrounds are there in the split 'deep', and the study asks for 9"
    with pytest.raises(DataError, match=words):
        adapter(photo_root, split="deep", sources=9).pair_set()


def test_an_empty_split_is_an_error(photo_root):
    for variant in ("mixed_same", "mixed_rand", "mixed_next"):
        for path in sorted((photo_root / "bg_challenge" / variant / "val").glob("*/*")):
            if split_of(f"{path.parent.name[:2]}/{path.name[3:18]}") == "deep":
                path.unlink()
    with pytest.raises(DataError, match="0 of . foregrounds are there in the split 'deep'.*at lea"):
        adapter(photo_root, split="deep").pair_set()


def test_content_is_part_of_the_digest_and_place_is_not(photo_root, tmp_path):
    before = adapter(photo_root).pair_set()
    moved = photo_root.rename(tmp_path / "elsewhere")
    assert adapter(moved).pair_set().digest == before.digest
    Image.new("RGB", (60, 50)).save(first_file(moved, "mixed_rand"))
    assert adapter(moved).pair_set().digest != before.digest


def test_images_are_resized_and_cropped(photo_root):
    pairs = adapter(photo_root).pair_set()
    path = pairs.inputs[0].location
    image = Image.open(path).convert("RGB")
    resized = image.resize((307, 256), Image.Resampling.BILINEAR)
    expected = np.asarray(resized)[16:240, 41:265]
    np.testing.assert_array_equal(adapter(photo_root).read_input(pairs.inputs[0]), expected)


def test_images_are_stored_once(photo_root, tmp_path):
    data = adapter(photo_root)
    pairs = data.pair_set()
    path = store_inputs(tmp_path, pairs.input_set, data.read_input)
    stored = open_inputs(path)
    assert stored.shape == (27, 224, 224, 3)
    np.testing.assert_array_equal(stored[5], data.read_input(pairs.inputs[5]))
    assert store_inputs(tmp_path, pairs.input_set, lambda image: pytest.fail("decoded")) == path
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_full_disk_is_an_error_and_not_a_crash(photo_root, small_disk):
    data = adapter(photo_root)
    with pytest.raises(WriteFailed, match="No space left on device"):
        store_inputs(small_disk, data.pair_set().input_set, data.read_input)
    assert list((small_disk / "inputs").iterdir()) == []


def test_a_missing_variant_says_which_layout_is_expected(photo_root):
    (photo_root / "bg_challenge" / "mixed_next").rename(photo_root / "gone")
    with pytest.raises(DataError, match=r"mixed_next.*expected the Backgrounds Challenge layout"):
        adapter(photo_root).pair_set()


@pytest.mark.parametrize("name", ["09_ghost/fg_n00000000_00001_bg_x.JPEG", "00_dog/photo.jpg"])
def test_a_strange_file_is_an_error(photo_root, name):
    path = photo_root / "bg_challenge" / "mixed_same" / "val" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="not named as in the Backgrounds Challenge"):
        adapter(photo_root).pair_set()


def test_a_folder_that_is_named_as_a_photo_is_an_error(photo_root):
    first = first_file(photo_root, "mixed_same")
    first.with_name("fg_n00000009_00001_bg_n99999999_00001").mkdir()
    with pytest.raises(DataError, match="bg_n99999999_00001 is a folder; expected a photo"):
        adapter(photo_root).pair_set()


def test_a_foreground_of_two_classes_is_an_error(photo_root):
    dog = first_file(photo_root, "mixed_same")
    bird = dog.parents[1] / "01_bird" / dog.name
    bird.write_bytes(dog.read_bytes())
    with pytest.raises(DataError, match=r"00_dog/.* and .*01_bird/.* are one foreground in folder"):
        adapter(photo_root).pair_set()


def test_further_variants_can_be_required(photo_root):
    shutil.copytree(photo_root / "bg_challenge" / "mixed_same", photo_root / "bg_challenge/only_fg")
    first_file(photo_root, "only_fg").unlink()
    usual, strict = adapter(photo_root), adapter(photo_root, required_variants=["only_fg"])
    with pytest.raises(DataError, match=r"1 foregrounds are not in only_fg.*required_variants"):
        usual.foregrounds(usual.pair_set())
    pairs = strict.pair_set()
    assert len(pairs.pairs) == 16
    assert {image.variant for image in pairs.inputs} == {"mixed_same", "mixed_rand", "mixed_next"}
    assert "00/n00000000_00001, for example, is not in only_fg" in pairs.remarks[0]
    assert len(strict.foregrounds(pairs).inputs) == 8
    # What else is required does not change the pairs of those that have it.
    kept = adapter(photo_root, required_variants=["mixed_next"]).pair_set()
    assert kept.digest == usual.pair_set().digest


def lying(path):
    """Store a photo on its side, to be turned upright by whoever shows it."""
    with Image.open(path) as photo:
        exif = photo.getexif()
        exif[ExifTags.Base.Orientation] = 6
        photo.transpose(Image.Transpose.ROTATE_90).save(path, exif=exif)


def test_sizes_are_compared_upright(photo_root):
    wide = Image.new("RGB", (90, 70))
    for variant in ("mixed_same", "mixed_rand", "mixed_next"):
        wide.save(first_file(photo_root, variant))
    data = adapter(photo_root)
    lying(first_file(photo_root, "mixed_rand"))
    data.verify(data.pair_set())
    with Image.open(first_file(photo_root, "mixed_rand")) as file:
        assert file.size == (70, 90)
    Image.new("RGB", (70, 90)).save(first_file(photo_root, "mixed_rand"))
    lying(first_file(photo_root, "mixed_rand"))
    Image.new("RGB", (70, 90)).save(first_file(photo_root, "mixed_same"))
    with pytest.raises(DataError, match=r"is \(70, 90\) pixels and .* is \(90, 70\); both must"):
        data.verify(data.pair_set())


def test_a_foreground_alone_has_the_size_of_its_photo(photo_root):
    shutil.copytree(photo_root / "bg_challenge" / "mixed_same", photo_root / "bg_challenge/only_fg")
    Image.new("RGB", (30, 20)).save(first_file(photo_root, "only_fg"))
    data = adapter(photo_root)
    with pytest.raises(DataError, match=r"foreground 00/n00000000_00001: .* is \(30, 20\); both"):
        data.foregrounds(data.pair_set())


def test_an_image_far_too_large_is_named(photo_root, monkeypatch):
    data = adapter(photo_root)
    image = data.pair_set().inputs[0]
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    with pytest.raises(DataError, match=r"mixed_same.*cannot be decoded \(Image size"):
        data.read_input(image)


def test_a_class_folder_of_another_name_is_an_error(photo_root):
    """The digit alone says nothing: fish before 00 would be labelled dog."""
    folder = photo_root / "bg_challenge" / "mixed_rand" / "val"
    (folder / "00_dog").rename(folder / "00_fish")
    with pytest.raises(DataError, match=r"00_fish is not named.*expected one of 00_dog, 01_bird"):
        adapter(photo_root).pair_set()


def test_a_space_in_a_class_folder_is_as_good_as_an_underscore(photo_root):
    before = adapter(photo_root).pair_set()
    for variant in ("mixed_same", "mixed_next"):
        folder = photo_root / "bg_challenge" / variant / "val"
        (folder / "06_musical instrument").rename(folder / "06_musical_instrument")
    assert adapter(photo_root).pair_set().digest == before.digest


def test_two_folders_of_one_class_are_an_error(photo_root):
    folder = photo_root / "bg_challenge" / "mixed_same" / "val"
    shutil.copytree(folder / "02_wheeled vehicle", folder / "02_wheeled_vehicle")
    with pytest.raises(DataError, match="are two folders of the class wheeled vehicle; expected o"):
        adapter(photo_root).pair_set()


def test_damaged_images_are_named_and_nothing_is_left(photo_root, tmp_path):
    path = first_file(photo_root, "mixed_rand")
    path.write_bytes(path.read_bytes()[:400])
    data = adapter(photo_root)
    with pytest.raises(DataError, match=rf"inputs that cannot be used: 1 of 27\n.*{path.name}"):
        store_inputs(tmp_path, data.pair_set().input_set, data.read_input)
    assert list((tmp_path / "inputs").iterdir()) == []


def test_a_pair_of_two_sizes_is_an_error(photo_root):
    Image.new("RGB", (61, 50)).save(first_file(photo_root, "mixed_next"))
    data = adapter(photo_root)
    with pytest.raises(DataError, match=r"\(60, 50\).*\(61, 50\).*one size"):
        data.verify(data.pair_set())


def test_splits_are_disjoint_and_near_their_sizes():
    names = [split_of(f"0{k % 9}/n{k:08d}_{k}") for k in range(4050)]
    counts = {name: names.count(name) for name in ("score", "deep", "outcome")}
    assert sum(counts.values()) == 4050
    assert counts["score"] == pytest.approx(1620, abs=100)
    assert counts["deep"] == pytest.approx(810, abs=80)


GOLDEN_SPLITS = {
    "03/n01734418_27631": (0.34663469419281906, "score"),
    "02/n04335435_04855": (0.4117366504926439, "deep"),
    "03/n01735189_46211": (0.5808255926301769, "deep"),
    "00/n02107574_44618": (0.6126227487370536, "outcome"),
    "01/n02033041_45006": (0.9841414692726552, "outcome"),
}
"""First 64 bits of sha256("91701|split|<id>") as a share; below .4 score, below .6 deep."""


@pytest.mark.parametrize(("source", "golden"), GOLDEN_SPLITS.items())
def test_a_split_is_the_hash_of_the_id(source, golden):
    digest = hashlib.sha256(f"91701|split|{source}".encode()).digest()
    assert int.from_bytes(digest[:8], "big") / 2**64 == golden[0]
    assert split_of(source) == golden[1]


def test_the_draw_inside_a_split_is_named_after_it(monkeypatch, photo_root):
    monkeypatch.setattr(adapters, "split_of", lambda source: "deep")
    drawn = [
        pair.source_id for pair in adapter(photo_root, split="deep", sources=4).pair_set().pairs
    ]
    sources = {pair.source_id for pair in adapter(photo_root).pair_set().pairs}
    order = sorted(sources, key=lambda s: hashlib.sha256(f"91701|deep|{s}".encode()).hexdigest())
    assert set(drawn) == set(order[:4])


def test_a_number_of_sources_is_a_fixed_draw(photo_root):
    some = {pair.source_id for pair in adapter(photo_root, sources=4).pair_set().pairs}
    more = {pair.source_id for pair in adapter(photo_root, sources=6).pair_set().pairs}
    assert len(some) == 4
    assert some < more


def test_the_real_set_has_all_its_foregrounds(shared_data):
    pairs = adapter(shared_data / "imagenet9_photo").pair_set()
    assert len(pairs.pairs) == 2 * 204
    assert {pair.class_id for pair in pairs.pairs} == set(range(9))
