"""A stranger's tables, images and arrays: each fault is refused by name, none is read too far."""

import os
import zipfile

import numpy as np
import pytest
from ended_commands import refused
from own_data import rows_of_squares, save, signals, square, write_table

from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.image_pairs import ImagePairs
from decaf.errors import DataError

HEADER = ("factual", "counterfactual")
PAIR = ["images/s0-black.png", "images/s0-white.png"]
OTHER = ["images/s1-black.png", "images/s1-white.png"]


def looked_at(data):
    """Everything that a run does with a data set before it scores."""
    pairs = data.pair_set()
    data.verify(pairs)
    return [data.read_input(image) for image in pairs.inputs]


TABLES = {
    "no column": ([["a", "b"]], ("factual", "counterfactul"), r"did you mean 'counterfactul'"),
    "doubled pair": ([PAIR, OTHER, PAIR], HEADER, r"rows 1 and 3 are one pair, 'images/s0-black"),
    "doubled id": ([[*PAIR, "x"], [*OTHER, "x"]], (*HEADER, "pair_id"), "are one pair, 'x'"),
    "empty cell": ([PAIR, [PAIR[0], ""]], HEADER, "row 2: column 'counterfactual' is empty"),
    "empty label": ([[*PAIR, "a"], [*OTHER, ""]], (*HEADER, "label"), "row 2: column 'label'"),
    "parent": ([["images/..", PAIR[1]]], HEADER, "it is a folder, not a file"),
    "up and down": ([["images/../../secret.png", PAIR[1]]], HEADER, "lies outside of"),
    "two labels": (
        [[*PAIR, "a"], [PAIR[0], OTHER[1], "b"]],
        (*HEADER, "label"),
        "has the labels 'a' and 'b'; expected one label for each image",
    ),
    "long number": ([[*PAIR, "9" * 400]], (*HEADER, "label"), "expected class numbers"),
    "outside": ([["../secret.png", PAIR[1]]], HEADER, r"'\.\./secret\.png' lies outside of"),
    "from the root": ([["/etc/hostname", PAIR[1]]], HEADER, "'/etc/hostname' lies outside of"),
    "link outside": ([["images/link.png", PAIR[1]]], HEADER, r"link\.png' lies outside of"),
    "circle": ([["images/circle.png", PAIR[1]]], HEADER, r"circle\.png"),
    "absent": ([["images/none.png", PAIR[1]]], HEADER, r"none\.png: No such file.*put it there"),
    "folder": ([["images", PAIR[1]]], HEADER, "it is a folder, not a file"),
    "pipe": ([["images/pipe.png", PAIR[1]]], HEADER, "it is a pipe, not a file"),
    "text": ([["pairs.csv", PAIR[1]]], HEADER, r"pairs\.csv cannot be decoded"),
    "long name": ([["x" * 600, PAIR[1]]], HEADER, "has 600 letters; expected 1 to 500"),
    "escape": ([["a\x1b[2Jb.png", PAIR[1]]], HEADER, "has letters that cannot be printed"),
    "two sizes": (
        [[PAIR[0], "images/small.png"]],
        HEADER,
        r"s0-black.png comes out as \(16, 16, 3\) and .*small\.png as \(8, 8, 3\); expected one",
    ),
    "no class": ([[*PAIR, "dgo"]], (*HEADER, "label"), "did you mean 'dog'"),
    "no weight": ([[*PAIR, "2"], [*OTHER, "much"]], (*HEADER, "weight"), "row 2: weight 'much'"),
    "weight of 0": ([[*PAIR, "0"]], (*HEADER, "weight"), "has the weight 0.0; .* leave out a pair"),
    "weight below 0": ([[*PAIR, "-1"]], (*HEADER, "weight"), r"weight -1\.0; expected a finite"),
    "no finite weight": ([[*PAIR, "inf"]], (*HEADER, "weight"), "weight 'inf'; expected a number"),
    "huge weight": ([[*PAIR, "1e999"]], (*HEADER, "weight"), "has the weight inf"),
    "empty weight": ([[*PAIR, ""]], (*HEADER, "weight"), "row 1: column 'weight' is empty"),
    "long split": ([[*PAIR, "s" * 501]], (*HEADER, "split"), "has 501 letters"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_images_that_cannot_be_meant(name, tmp_path):
    folder = tmp_path / "data"
    rows_of_squares(folder, range(2))
    save(tmp_path / "secret.png", square(9, 9))
    save(folder / "images" / "small.png", square(1, 2)[:8, :8])
    (folder / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "images" / "circle.png").symlink_to("circle.png")
    os.mkfifo(folder / "images" / "pipe.png")
    rows, header, words = TABLES[name]
    write_table(folder / "pairs.csv", rows, header)
    classes = ["cat", "dog"] if name == "no class" else []
    data = ImagePairs(adapter="image_pairs", pairs=folder / "pairs.csv", classes=classes)
    with pytest.raises(DataError, match=words):
        looked_at(data)


def test_links_inside_the_folder_are_followed(tmp_path):
    rows_of_squares(tmp_path, range(1))
    (tmp_path / "images" / "link.png").symlink_to("s0-white.png")
    write_table(tmp_path / "pairs.csv", [[PAIR[0], "images/link.png"]], HEADER)
    read = looked_at(ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv"))
    np.testing.assert_array_equal(read[1], square(40, 255))


def test_folders_without_a_common_name(tmp_path):
    save(tmp_path / "a" / "1.png", square(1, 2))
    save(tmp_path / "b" / "2.png", square(1, 2))
    folders = {"factual": tmp_path / "a", "counterfactual": tmp_path / "b"}
    with pytest.raises(DataError, match="has 1 files and .* 1, none of which are called the same"):
        looked_at(ImagePairs(adapter="image_pairs", **folders))
    with pytest.raises(DataError, match="none is no folder; expected one of images"):
        looked_at(ImagePairs(adapter="image_pairs", **folders | {"factual": tmp_path / "none"}))


FACTUAL, CHANGED = signals(3)


def with_header(text):
    """An array file of a header in somebody's words, with room for what it says."""
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + bytes(99)


def saved(array, **options):
    return lambda path: np.save(path, array, **options)


ARRAYS = {
    "objects": (saved(np.array([{"a": 1}, None, 2], object)), "which would have to be unpickled"),
    "records": (saved(np.zeros(3, "f8,i4")), "expected numbers, or texts of a fixed length"),
    "dates": (saved(np.zeros(3, "datetime64[s]")), "holds datetime64"),
    "complex": (saved(FACTUAL.astype(np.complex64)), "holds complex64"),
    "another length": (saved(FACTUAL[:2]), r"is float32 \(3, 2, 16\); expected float32 \(2, 2, 16"),
    "another type": (saved(FACTUAL.astype(float)), r"expected float64 \(3, 2, 16\)"),
    "one number": (saved(np.float32(1)), "expected .n, …. with nothing empty"),
    "nothing": (saved(FACTUAL[:0]), "nothing empty"),
    "texts": (saved(np.array(["a", "b", "c"])), r"expected <U1 \(3,\), as"),
    "cut short": (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"), "cannot be read"),
    "no array": (lambda path: path.write_bytes(b"a text"), "cannot be read"),
    "no byte": (lambda path: path.write_bytes(b""), "cannot be read"),
    "a huge shape": (
        lambda path: path.write_bytes(
            with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 9)}")
        ),
        "is cut short: 227 of 36,000,000,000,092 bytes",
    ),
    "a negative shape": (
        lambda path: path.write_bytes(
            with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 9)}")
        ),
        "nothing empty",
    ),
    "code for a header": (
        lambda path: path.write_bytes(with_header("__import__('os').abort()")),
        "cannot be read",
    ),
    "a pipe": (os.mkfifo, "it is a pipe, not a file"),
    "a folder": (lambda path: path.mkdir(), "it is a folder, not a file"),
    "absent": (lambda path: None, "No such file or directory"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_cannot_be_meant(name, tmp_path):
    make, words = ARRAYS[name]
    make(tmp_path / "factual.npy")
    np.save(tmp_path / "counterfactual.npy", CHANGED)
    files = {role: tmp_path / f"{role}.npy" for role in HEADER}
    with pytest.raises(DataError, match=words):
        looked_at(Arrays(adapter="arrays", **files))


BESIDE = {
    "labels of another length": ("label", np.zeros(2, int), r"int64 \(2,\); expected whole"),
    "labels that are no numbers": ("label", np.zeros(3), r"float64 \(3,\); expected whole"),
    "a negative label": ("label", np.array([0, -1, 2]), "label '-1'; expected class numbers from"),
    "sources of two axes": ("source", np.zeros((3, 1), int), "expected whole numbers or texts"),
    "types without a letter": ("pair_type", np.array(["a", "", "b"]), "has 0 letters"),
    "objects": ("source", np.array(["a", None, 2], object), "have to be unpickled"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_said_beside_the_arrays(name, tmp_path):
    role, array, words = BESIDE[name]
    for file, own in (("factual", FACTUAL), ("counterfactual", CHANGED), (role, array)):
        np.save(tmp_path / f"{file}.npy", own)
    files = {key: tmp_path / f"{key}.npy" for key in (*HEADER, role)}
    with pytest.raises(DataError, match=words):
        looked_at(Arrays(adapter="arrays", **files))


def test_archives_are_neither_unpacked_nor_believed(tmp_path):
    packed, odd = tmp_path / "packed.npz", tmp_path / "odd.npz"
    np.savez_compressed(packed, factual=np.zeros((4, 10**6), np.float32))
    assert packed.stat().st_size < 10**5
    with zipfile.ZipFile(odd, "w") as archive:
        archive.writestr("factual.npy", b"no array")
    for file, words in (
        (packed, "'factual' of .* is compressed, so it cannot be mapped"),
        (odd, "cannot be read"),
    ):
        with pytest.raises(DataError, match=words):
            looked_at(Arrays(adapter="arrays", factual=file, counterfactual=file))
    np.savez(packed, factul=FACTUAL)
    with pytest.raises(DataError, match="has no array 'factual'; did you mean 'factul'"):
        looked_at(Arrays(adapter="arrays", factual=packed, counterfactual=packed))
    packed.write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"packed\.npz cannot be read"):
        looked_at(Arrays(adapter="arrays", factual=packed, counterfactual=packed))


def test_a_command_says_what_is_wrong_and_leaves_nothing(study, write, decaf, tmp_path):
    rows_of_squares(tmp_path, range(2))
    write_table(tmp_path / "pairs.csv", [PAIR, OTHER], HEADER)
    data = {"adapter": "image_pairs", "pairs": str(tmp_path / "pairs.csv")}
    file = tmp_path / "images" / "s1-white.png"
    file.write_bytes(b"no image")
    config = write({**study, "data": data})
    done = decaf("data", config, "--html", tmp_path / "sheet.html")
    refused(done, "images that cannot be used: 1", f"{file} cannot be decoded")
    assert not (tmp_path / "sheet.html").exists()
    data |= {"columns": {"factual": "befor"}}
    refused(decaf("data", write({**study, "data": data})), "has no column 'befor'")


def test_a_path_that_cannot_reveal_signals_is_refused_by_the_plan_and_the_run(
    study, write, decaf, prefect_server, tmp_path
):
    for role, array in (("factual", FACTUAL), ("counterfactual", CHANGED)):
        np.save(tmp_path / f"{role}.npy", array)
    data = {"adapter": "arrays"} | {role: str(tmp_path / f"{role}.npy") for role in HEADER}
    of_paths = {
        "mist": ({"kind": "blend"}, "path mist (kind: blend): ", "a blur (sigma 8.0) needs images"),
        "patches": ({"kind": "patches"}, "patches need images"),
        "removal": ({"kind": "removal", "baseline": "blur"}, "pair 'row-0000000' has none"),
        "grid": ({"kind": "removal", "side": 2}, "pair 'row-0000000' has none"),
        "context": ({"kind": "context"}, "no second context"),
    }
    for name, (path, *words) in of_paths.items():
        config = write({**study, "data": data, "paths": {name: path}})
        refused(decaf("plan", config), *words)
    refused(decaf("run", config, **prefect_server), "no second context")
    assert not list((tmp_path / "warehouse" / "receipts" / "units").rglob("*.json"))
