"""Columns, files and folders of pairs in each other's place: what can be known, and no more."""

import numpy as np
import pytest
from own_data import rows_of_squares, save, square, write_table

from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.image_pairs import ImagePairs
from decaf.data.adapters.table_pairs import TablePairs
from decaf.data.swapped_names import remark_other_pairs, remark_swapped
from decaf.errors import DataError


@pytest.mark.parametrize(
    ("factual", "counterfactual"),
    [
        ("counterfactual", "factual"),
        ("x_cf", "x"),
        ("after", "original"),
        ("Counter-Factual.npy", "rows.npy"),
        ("data/cf/1.png", "data/original/1.png"),
        ("swapped", "photos"),
        ("dark", "plain"),
        ("edits/cat/1.png", "photos/cat/1.png"),
    ],
)
def test_names_that_contradict_their_place(factual, counterfactual):
    (remark,) = remark_swapped([factual], [counterfactual])
    assert f"'{factual}'" in remark
    assert f"'{counterfactual}'" in remark
    assert remark_swapped([counterfactual], [factual]) == ()


@pytest.mark.parametrize(
    ("factual", "counterfactual"),
    [
        ("a", "b"),
        ("before", "after"),
        ("cfg", "scfx"),
        ("original_cf", "original_counter_factual"),
        ("factual", "counter factual"),
    ],
)
def test_names_that_tell_nothing(factual, counterfactual):
    assert remark_swapped([factual], [counterfactual]) == ()


def test_one_name_that_fits_its_place_ends_the_doubt():
    assert remark_swapped(["cf/1.png", "2.png"], ["1.png", "2b.png"]) == ()


def test_a_shifted_column_of_edits_is_remarked_on(tmp_path):
    names = [f"bolt_{number}" for number in range(3)]
    for name in names:
        save(tmp_path / "photos" / f"{name}.png", square(0, 0))
        save(tmp_path / "edits" / f"{name}.png", square(0, 255))
    for edits, count in ((names, 0), ([*names[1:], names[0]], 3)):
        rows = [
            [f"photos/{name}.png", f"edits/{edit}.png"]
            for name, edit in zip(names, edits, strict=True)
        ]
        write_table(tmp_path / "pairs.csv", rows, ("factual", "counterfactual"))
        remarks = ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv").pair_set().remarks
        remarks = [remark for remark in remarks if "of another pair" in remark]
        assert remarks == [] if count == 0 else "in 3 of 3 pairs" in remarks[0]
        assert ("photos/bolt_0.png with edits/bolt_1.png" in "".join(remarks)) == (count > 0)


@pytest.mark.parametrize(
    "pairs",
    [
        [("cat/1.png", "dog/1.png"), ("cat/2.png", "dog/2.png")],
        [("1.png", "1-snow.png"), ("2.png", "2-snow.png")],
        [("a.png", "b.png"), ("b.png", "a.png")],
        [("a.png", "x/c.png"), ("b.png", "x/d.png")],
    ],
)
def test_edits_of_their_own_photos_and_pairs_of_photos(pairs):
    assert [*remark_other_pairs(pairs)] == []


@pytest.mark.parametrize("classes", [(), ("cat", "dog")])
def test_labels_in_the_place_of_files_are_refused(tmp_path, classes):
    rows_of_squares(tmp_path, range(2))
    rows = [[f"images/s{n}-black.png", f"images/s{n}-white.png", "cat"] for n in range(2)]
    write_table(tmp_path / "pairs.csv", rows, ("factual", "label", "counterfactual"))
    data = ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv", classes=classes)
    with pytest.raises(DataError) as error:
        data.pair_set()
    for word in ("'counterfactual'", "'cat'", "'label'", "'images/s0-white.png'", "columns"):
        assert word in str(error.value)


@pytest.mark.parametrize("label", ["../outside.png", "x" * 300, "images/s0-black.png"])
def test_other_faults_keep_their_own_words(tmp_path, label):
    rows_of_squares(tmp_path / "in", range(2))
    save(tmp_path / "outside.png", square(0, 0))
    rows = [["images/s0-black.png", "images/gone.png", label]] * 1
    rows += [["images/s1-black.png", "images/s1-white.png", label]]
    write_table(tmp_path / "in" / "pairs.csv", rows, ("factual", "counterfactual", "label"))
    data = ImagePairs(adapter="image_pairs", pairs=tmp_path / "in" / "pairs.csv")
    with pytest.raises(DataError, match="gone.png"):
        data.pair_set()


def test_columns_and_folders_of_images(tmp_path):
    rows_of_squares(tmp_path, range(2))
    rows = [[f"images/s{n}-black.png", f"images/s{n}-white.png"] for n in range(2)]
    write_table(tmp_path / "pairs.csv", rows, ("original", "cf"))
    columns = {"factual": "original", "counterfactual": "cf"}
    for named, count in ((columns, 0), (dict(zip(columns, ["cf", "original"], strict=True)), 1)):
        data = ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv", columns=named)
        assert len([text for text in data.pair_set().remarks if "swapped" in text]) == count
    for name in ("original", "counterfactual"):
        save(tmp_path / "two" / name / "1.png", square(0, len(name)))
    folders = [tmp_path / "two" / "counterfactual", tmp_path / "two" / "original"]
    data = ImagePairs(adapter="image_pairs", factual=folders[0], counterfactual=folders[1])
    assert "'counterfactual'" in data.pair_set().remarks[0]


def test_files_in_columns_of_images(tmp_path):
    for name in ("original", "counterfactual"):
        save(tmp_path / name / "1.png", square(0, len(name)))
    write_table(
        tmp_path / "pairs.csv",
        [["counterfactual/1.png", "original/1.png"]],
        ("factual", "counterfactual"),
    )
    remarks = ImagePairs(adapter="image_pairs", pairs=tmp_path / "pairs.csv").pair_set().remarks
    assert any("'counterfactual/1.png'" in remark for remark in remarks)


def test_files_of_arrays_and_tables(tmp_path):
    for name, value in (("rows", 0.0), ("cf", 1.0)):
        np.save(tmp_path / f"{name}.npy", np.full((3, 2), value))
        cells = [[str(row), str(value)] for row in range(3)]
        write_table(tmp_path / f"{name}.csv", cells, ("who", "x"))
    files = {"factual": tmp_path / "cf.npy", "counterfactual": tmp_path / "rows.npy"}
    arrays = Arrays(adapter="arrays", **files)
    tables = {"table": tmp_path / "cf.csv", "counterfactuals": tmp_path / "rows.csv", "id": "who"}
    table = TablePairs(adapter="table_pairs", **tables)
    for data in (arrays, table):
        (remark,) = (text for text in data.pair_set().remarks if "swapped" in text)
        assert "'cf." in remark
        assert "'rows." in remark
