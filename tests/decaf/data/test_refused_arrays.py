"""A stranger's tables, images and arrays: each fault is refused by name, none is read too far."""

import os
import zipfile

import numpy as np
import pytest
from data_looks import refuse_to_look
from own_data import rows_of_squares, save, signals, square, write_table
from small_studies import of_scenes, untrained

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


WITH_ID, LABELLED, WEIGHTED = ((*HEADER, role) for role in ("pair_id", "label", "weight"))
TABLES = {
    "no column": ([["a", "b"]], ("factual", "counterfactul"), "'counterfactul'"),
    "doubled pair": ([PAIR, OTHER, PAIR], HEADER, "rows 1 and 3"),
    "doubled id": ([[*PAIR, "x"], [*OTHER, "x"]], WITH_ID, "'x'"),
    "empty cell": ([PAIR, [PAIR[0], ""]], HEADER, "row 2: column 'counterfactual'"),
    "empty label": ([[*PAIR, "a"], [*OTHER, ""]], LABELLED, "row 2: column 'label'"),
    "parent": ([["images/..", PAIR[1]]], HEADER, "folder"),
    "up and down": ([["images/../../secret.png", PAIR[1]]], HEADER, "outside"),
    "two labels": ([[*PAIR, "a"], [PAIR[0], OTHER[1], "b"]], LABELLED, "'a' and 'b'"),
    "long number": ([[*PAIR, "9" * 400]], LABELLED, "class numbers"),
    "outside": ([["../secret.png", PAIR[1]]], HEADER, r"'\.\./secret\.png' .* outside"),
    "from the root": ([["/etc/hostname", PAIR[1]]], HEADER, "'/etc/hostname' .* outside"),
    "link outside": ([["images/link.png", PAIR[1]]], HEADER, r"link\.png' .* outside"),
    "circle": ([["images/circle.png", PAIR[1]]], HEADER, r"circle\.png"),
    "absent": ([["images/none.png", PAIR[1]]], HEADER, r"none\.png: No such file"),
    "folder": ([["images", PAIR[1]]], HEADER, "folder"),
    "pipe": ([["images/pipe.png", PAIR[1]]], HEADER, "pipe"),
    "text": ([["pairs.csv", PAIR[1]]], HEADER, r"pairs\.csv .* decoded"),
    "long name": ([["x" * 600, PAIR[1]]], HEADER, "600 letters"),
    "escape": ([["a\x1b[2Jb.png", PAIR[1]]], HEADER, "printed"),
    "two sizes": ([[PAIR[0], "images/small.png"]], HEADER, r"\(16, 16, 3\) .* \(8, 8, 3\)"),
    "no class": ([[*PAIR, "dgo"]], LABELLED, "'dog'"),
    "no weight": ([[*PAIR, "2"], [*OTHER, "much"]], WEIGHTED, "row 2: .* 'much'"),
    "weight of 0": ([[*PAIR, "0"]], WEIGHTED, r"0\.0"),
    "weight below 0": ([[*PAIR, "-1"]], WEIGHTED, r"-1\.0"),
    "no finite weight": ([[*PAIR, "inf"]], WEIGHTED, "'inf'"),
    "huge weight": ([[*PAIR, "1e999"]], WEIGHTED, "inf"),
    "empty weight": ([[*PAIR, ""]], WEIGHTED, "row 1: column 'weight'"),
    "long split": ([[*PAIR, "s" * 501]], (*HEADER, "split"), "501 letters"),
}
"""Rows, header, and a value that the message of the refusal has."""


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
    with pytest.raises(DataError, match=r"1 file \(1.png\), .* 1 \(2.png\)"):
        looked_at(ImagePairs(adapter="image_pairs", **folders))
    with pytest.raises(DataError, match="none is not a folder"):
        looked_at(ImagePairs(adapter="image_pairs", **folders | {"factual": tmp_path / "none"}))


FACTUAL, CHANGED = signals(3)


def with_header(text):
    """An array file of a header in somebody's words, with room for what it says."""
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + bytes(99)


def saved(array, **options):
    return lambda path: np.save(path, array, **options)


def written(content):
    return lambda path: path.write_bytes(content)


def shaped(shape):
    """An array file that says it has this shape."""
    return written(with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"))


ARRAYS = {
    "objects": (saved(np.array([{"a": 1}, None, 2], object)), "unpickling"),
    "records": (saved(np.zeros(3, "f8,i4")), "numbers"),
    "dates": (saved(np.zeros(3, "datetime64[s]")), "datetime64"),
    "complex": (saved(FACTUAL.astype(np.complex64)), "complex64"),
    "another length": (saved(FACTUAL[:2]), r"\(3, 2, 16\); .* \(2, 2, 16"),
    "another type": (saved(FACTUAL.astype(float)), r"float64 \(3, 2, 16\)"),
    "one number": (saved(np.float32(1)), "axis of length 0"),
    "nothing": (saved(FACTUAL[:0]), "axis of length 0"),
    "texts": (saved(np.array(["a", "b", "c"])), r"<U1 \(3,\)"),
    "cut short": (written(b"\x93NUMPY\x01\x00"), "cannot be read"),
    "no array": (written(b"a text"), "cannot be read"),
    "no byte": (written(b""), "cannot be read"),
    "a huge shape": (shaped((999999999999, 9)), "227 of 36,000,000,000,092 bytes"),
    "a negative shape": (shaped((-3, 9)), "axis of length 0"),
    "code for a header": (written(with_header("__import__('os').abort()")), "cannot be read"),
    "a pipe": (os.mkfifo, "pipe"),
    "a folder": (lambda path: path.mkdir(), "folder"),
    "absent": (lambda path: None, "No such file or directory"),
}
"""What makes the file of factual inputs, and a value that the message of the refusal has."""


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_cannot_be_meant(name, tmp_path):
    make, words = ARRAYS[name]
    make(tmp_path / "factual.npy")
    np.save(tmp_path / "counterfactual.npy", CHANGED)
    files = {role: tmp_path / f"{role}.npy" for role in HEADER}
    with pytest.raises(DataError, match=words):
        looked_at(Arrays(adapter="arrays", **files))


BESIDE = {
    "labels of another length": ("label", np.zeros(2, int), r"int64 \(2,\)"),
    "labels that are no numbers": ("label", np.zeros(3), r"float64 \(3,\)"),
    "a negative label": ("label", np.array([0, -1, 2]), "'-1'"),
    "sources of two axes": ("source", np.zeros((3, 1), int), r"\(3, 1\)"),
    "types without a letter": ("pair_type", np.array(["a", "", "b"]), "0 letters"),
    "objects": ("source", np.array(["a", None, 2], object), "unpickling"),
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
    np.savez(named := tmp_path / "named.npz", factul=FACTUAL)
    (cut := tmp_path / "cut.npz").write_bytes(named.read_bytes()[:-40])
    values = {packed: "compressed", odd: "odd", named: "'factul'", cut: r"cut\.npz"}
    for file, value in values.items():
        with pytest.raises(DataError, match=value):
            looked_at(Arrays(adapter="arrays", factual=file, counterfactual=file))


def test_a_look_names_the_file_and_leaves_no_sheet(write, tmp_path):
    rows_of_squares(tmp_path, range(2))
    write_table(tmp_path / "pairs.csv", [PAIR, OTHER], HEADER)
    data = {"adapter": "image_pairs", "pairs": str(tmp_path / "pairs.csv")}
    file = tmp_path / "images" / "s1-white.png"
    file.write_bytes(b"no image")
    refuse_to_look(
        write(of_scenes(tmp_path, [untrained(tmp_path, "net")], data=data)),
        str(file),
        html=tmp_path / "sheet.html",
    )
    assert not (tmp_path / "sheet.html").exists()
