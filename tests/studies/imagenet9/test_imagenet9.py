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


def files_of(root, variant):
    return root / "bg_challenge" / variant / "val"


def first_file(root, variant):
    return min(files_of(root, variant).glob("*/*"))


def add_only_fg(root):
    """A variant without backgrounds, whose files are those of another."""
    shutil.copytree(root / "bg_challenge" / "mixed_same", root / "bg_challenge" / "only_fg")


def add_second_file(root, variant):
    """Another file of the first foreground of a variant."""
    first = first_file(root, variant)
    first.with_name("fg_n00000000_00001_bg_n99999999_00001.JPEG").write_bytes(first.read_bytes())


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
    assert "dog" in adapter(photo_root).describe(pairs, second)


def test_the_inner_folder_may_be_named_itself(photo_root):
    assert adapter(photo_root / "bg_challenge").pair_set() == adapter(photo_root).pair_set()


def test_a_foreground_without_one_variant_is_left_out(photo_root):
    first_file(photo_root, "mixed_next").unlink()
    assert len(adapter(photo_root).pair_set().pairs) == 16
    assert len(adapter(photo_root, pair_types=["same_rand"]).pair_set().pairs) == 9


def test_remarks_say_what_is_left_out(photo_root):
    assert adapter(photo_root).pair_set().remarks == ()
    first_file(photo_root, "mixed_next").unlink()
    left_out, absent = adapter(photo_root).pair_set().remarks
    assert "1 of 9" in left_out
    assert "00/n00000000_00001" in left_out
    assert "00 dog" in absent
    assert adapter(photo_root, pair_types=["same_rand"]).pair_set().remarks == ()


def test_remarks_say_which_classes_a_draw_leaves_out(photo_root):
    pairs = adapter(photo_root, sources=7).pair_set()
    absent = {f"0{number}" for number in range(9)} - {f"0{p.class_id}" for p in pairs.pairs}
    (remark,) = pairs.remarks
    assert {word for word in remark.split() if word.isdigit()} == absent


def test_of_two_files_of_a_foreground_the_first_by_name_counts(photo_root):
    before = adapter(photo_root).pair_set()
    add_second_file(photo_root, "mixed_rand")
    after = adapter(photo_root).pair_set()
    assert (after.inputs, after.pairs) == (before.inputs, before.pairs)
    assert after.digest == before.digest
    (remark,) = after.remarks
    assert "mixed_rand/val" in remark
    add_only_fg(photo_root)
    data = adapter(photo_root)
    assert data.foregrounds(data.pair_set()).remarks == ()
    add_second_file(photo_root, "only_fg")
    (remark,) = data.foregrounds(data.pair_set()).remarks
    assert "only_fg/val" in remark


def test_a_split_that_is_too_small_is_an_error(photo_root):
    with pytest.raises(DataError, match=r"9 of 9 .* 10"):
        adapter(photo_root, sources=10).pair_set()
    splits = [split_of(f"0{k}/n0000000{k}_00001") for k in range(9)]
    with pytest.raises(DataError, match=rf"{splits.count('deep')} of 9 .* 'deep'.* 9"):
        adapter(photo_root, split="deep", sources=9).pair_set()
    for variant in ("mixed_same", "mixed_rand", "mixed_next"):
        for path in sorted(files_of(photo_root, variant).glob("*/*")):
            if split_of(f"{path.parent.name[:2]}/{path.name[3:18]}") == "deep":
                path.unlink()
    with pytest.raises(DataError, match=r"0 of . .* 'deep'"):
        adapter(photo_root, split="deep").pair_set()


def rename_foregrounds(root):
    for path in files_of(root, "mixed_next").glob("*/*"):
        path.rename(path.with_name(path.name.replace("_00001_bg", "_00007_bg")))


def put_file(name):
    def put(root):
        path = files_of(root, "mixed_same") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")

    return put


def put_folder(root):
    first_file(root, "mixed_same").with_name("fg_n00000009_00001_bg_n99999999_00001").mkdir()


def put_dog_among_birds(root):
    dog = first_file(root, "mixed_same")
    (dog.parents[1] / "01_bird" / dog.name).write_bytes(dog.read_bytes())


def copy_class(root):
    folder = files_of(root, "mixed_same")
    shutil.copytree(folder / "02_wheeled vehicle", folder / "02_wheeled_vehicle")


def rename_class(root):
    """The digit alone says nothing: fish before 00 would be labelled dog."""
    folder = files_of(root, "mixed_rand")
    (folder / "00_dog").rename(folder / "00_fish")


SPOILED = {
    "no variant": (lambda root: files_of(root, "mixed_next").rename(root / "gone"), "mixed_next"),
    "no shared foreground": (rename_foregrounds, "mixed_same 9"),
    "strange class": (put_file("09_ghost/fg_n00000000_00001_bg_x.JPEG"), "09_ghost"),
    "strange file": (put_file("00_dog/photo.jpg"), "photo.jpg"),
    "folder": (put_folder, "bg_n99999999_00001"),
    "two classes": (put_dog_among_birds, "01_bird"),
    "another class": (rename_class, "00_fish"),
    "class twice": (copy_class, "02_wheeled_vehicle"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_files_that_are_not_as_published_are_named(photo_root, name):
    spoil, words = SPOILED[name]
    spoil(photo_root)
    with pytest.raises(DataError, match=words):
        adapter(photo_root).pair_set()


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
    expected = np.asarray(resized)[16:240, 42:266]
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
    with pytest.raises(WriteFailed):
        store_inputs(small_disk, data.pair_set().input_set, data.read_input)
    assert list((small_disk / "inputs").iterdir()) == []


def test_further_variants_can_be_required(photo_root):
    add_only_fg(photo_root)
    first_file(photo_root, "only_fg").unlink()
    usual, strict = adapter(photo_root), adapter(photo_root, required_variants=["only_fg"])
    with pytest.raises(DataError, match=r"1 .*only_fg.*required_variants"):
        usual.foregrounds(usual.pair_set())
    pairs = strict.pair_set()
    assert len(pairs.pairs) == 16
    assert {image.variant for image in pairs.inputs} == {"mixed_same", "mixed_rand", "mixed_next"}
    assert "only_fg" in pairs.remarks[0]
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
    with pytest.raises(DataError, match=r"\(70, 90\).*\(90, 70\)"):
        data.verify(data.pair_set())


def test_a_foreground_alone_has_the_size_of_its_photo(photo_root):
    add_only_fg(photo_root)
    Image.new("RGB", (30, 20)).save(first_file(photo_root, "only_fg"))
    data = adapter(photo_root)
    with pytest.raises(DataError, match=r"00/n00000000_00001.*\(30, 20\)"):
        data.foregrounds(data.pair_set())


def test_an_image_far_too_large_is_named(photo_root, monkeypatch):
    data = adapter(photo_root)
    image = data.pair_set().inputs[0]
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    with pytest.raises(DataError, match="mixed_same"):
        data.read_input(image)


def test_a_space_in_a_class_folder_is_as_good_as_an_underscore(photo_root):
    before = adapter(photo_root).pair_set()
    for variant in ("mixed_same", "mixed_next"):
        folder = photo_root / "bg_challenge" / variant / "val"
        (folder / "06_musical instrument").rename(folder / "06_musical_instrument")
    assert adapter(photo_root).pair_set().digest == before.digest


def test_damaged_images_are_named_and_nothing_is_left(photo_root, tmp_path):
    path = first_file(photo_root, "mixed_rand")
    path.write_bytes(path.read_bytes()[:400])
    data = adapter(photo_root)
    with pytest.raises(DataError, match=rf"1 of 27\n.*{path.name}"):
        store_inputs(tmp_path, data.pair_set().input_set, data.read_input)
    assert list((tmp_path / "inputs").iterdir()) == []


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


def test_the_real_set_has_all_its_foregrounds(shared_data):
    pairs = adapter(shared_data / "imagenet9_photo").pair_set()
    assert len(pairs.pairs) == 2 * 204
    assert {pair.class_id for pair in pairs.pairs} == set(range(9))
