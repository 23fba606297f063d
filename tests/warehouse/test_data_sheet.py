"""The page of pairs: pictures, curves and cells of what differs, and nobody's markup."""

import base64
import io
import re

import featured_images
import numpy as np
import pytest
from PIL import Image

from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.adapters.table_pairs import TablePairs
from decaf.data.overview import describe_pair, some_pairs
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from warehouse.report.data_sheet import write_data_sheet

ROWS = "who,age,job\na,40,cook\nb,31,\n"
HOSTILE = "<script>alert(1)</script>"


def page_of(tmp_path, plus, minus, name="one"):
    """The page of one pair of arrays."""
    arrays = {"0": plus, "1": minus}
    inputs = tuple(Input(f"{name}/{place}", "any", place, place) for place in arrays)
    pairs = PairSet(inputs, (Pair(name, name, "a type", 3, "all", 0, 1),), "a test")
    shown = some_pairs(pairs, lambda image: arrays[image.location], None)
    write_data_sheet(tmp_path / "sheet.html", "tiny", ["1 pair"], shown)
    return (tmp_path / "sheet.html").read_text()


def test_curves_of_both_signals_share_one_scale(tmp_path):
    plus = np.array([[0, 1, 2], [5, 5, 5]], np.float32)
    minus = np.array([[0, 4, 2], [5, 5, 5]], np.float32)
    page = page_of(tmp_path, plus, minus)
    points = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', page)
    assert points == [
        # From 0 to 4 over 80 px, three points over 400 px.
        ("factual", "0.0,80.0 200.0,60.0 400.0,40.0"),
        ("counterfactual", "0.0,80.0 200.0,0.0 400.0,40.0"),
        ("factual", "0.0,0.0 200.0,0.0 400.0,0.0"),
        ("counterfactual", "0.0,0.0 200.0,0.0 400.0,0.0"),
    ]
    assert "1 of 6 values differ" in page
    assert "2 x 3 float32" in page


def test_changed_columns_of_rows_stand_out(tmp_path):
    page = page_of(tmp_path, np.array([1.0, 2.5]), np.array([1.0, -3.0]))
    changed = re.findall(r'<table class="changed">.*?</table>', page)
    assert changed == [
        '<table class="changed"><tr><th>2</th></tr><tr><td>2.5</td></tr>'
        "<tr><td>-3</td></tr></table>"
    ]
    assert page.count("<table") == 2
    wide = np.zeros(1000)
    page = page_of(tmp_path, wide, (np.arange(1000) == 900).astype(float))
    assert page.count("<table") == 64
    assert '<table class="changed"><tr><th>901</th>' in page


@pytest.fixture
def rows(tmp_path):
    """Two rows of a table, each with another age, with another job, and without its job."""
    (tmp_path / "rows.csv").write_text(ROWS)
    changes = {"older": {"add": {"age": 10}}, "out": {"set": {"job": None}}}
    settings = {"table": tmp_path / "rows.csv", "id": "who", "removed": ["job"]}
    return TablePairs(adapter="table_pairs", changes=changes, **settings)


def test_rows_are_shown_by_their_columns_as_models_get_them(rows, tmp_path):
    shown = some_pairs(rows.pair_set(), rows.read_input, rows.read_mask)
    said = [(d["pair_id"], d["factual"], d["counterfactual"]) for d in map(describe_pair, shown)]
    assert said == [
        ("a__without job", "job cook", "job removed"),
        ("b__without job", "job missing", "job removed"),
        ("a__older", "age 40", "age 50"),
        ("b__older", "age 31", "age 41"),
        ("a__out", "job cook", "job missing"),
    ]
    write_data_sheet(tmp_path / "sheet.html", "tiny", [], shown)
    page = (tmp_path / "sheet.html").read_text()
    assert "1 of 2 columns differ" in page
    assert (
        '<table class="changed"><tr><th>job</th></tr><tr><td>cook</td></tr>'
        "<tr><td>removed</td></tr></table>" in page
    )
    assert "<table><tr><th>age</th></tr><tr><td>40</td></tr><tr><td>40</td></tr></table>" in page


def test_a_removed_feature_is_veiled_and_one_that_lies_nowhere_is_said(tmp_path):
    names = featured_images.photos(tmp_path / "photos")
    features = featured_images.mask_files(tmp_path / "masks", names)
    data = {"adapter": "image_features", "images": str(tmp_path / "photos"), "features": features}
    birds = ImageFeatures.model_validate(data)
    shown = some_pairs(birds.pair_set(), birds.read_input, birds.read_mask, 12)
    said = {one.pair.pair_id: (describe_pair(one)["counterfactual"], one) for one in shown}
    assert said["0/bird-2.png__wing"][0] == "without wing: nowhere in it"
    line, head = said["0/bird-0.png__head"]
    assert line == "without head: 11.7 % of it"  # 10 x 12 of 32 x 32 px
    np.testing.assert_array_equal(head.removed, featured_images.parts(0)[0])
    write_data_sheet(tmp_path / "sheet.html", "birds", [], [head])
    page = (tmp_path / "sheet.html").read_text()
    assert "head: 11.7 % of it" in page
    picture = base64.b64decode(re.findall(r'base64,([^"]*)"', page)[1])
    pixels = np.asarray(Image.open(io.BytesIO(picture)))[::3, ::3]  # 96 px instead of 32
    np.testing.assert_array_equal(pixels[~head.removed], head.plus[~head.removed])
    veiled = head.minus[head.removed] // 3 + 107
    np.testing.assert_array_equal(pixels[head.removed], veiled)


def test_pictures_are_small_and_volumes_are_said_in_words(tmp_path):
    image = np.zeros((1000, 2000, 3), np.uint8)
    page = page_of(tmp_path, image, image + 1)
    assert page.count("data:image/png;base64,") == 2
    assert len(page) < 8000
    volume = np.zeros((1, 2, 3, 4), np.float32)
    page = page_of(tmp_path, volume, volume)
    assert "0 of 24 values differ" in page
    assert "<polyline" not in page


def test_the_page_counts_the_channels_and_columns_that_it_shows(tmp_path):
    signal = np.zeros((9, 2), np.float32)
    assert "0 of 18 values differ; 8 of 9 channels are shown" in page_of(tmp_path, signal, signal)
    row = np.zeros(65)
    assert "0 of 65 values differ; 64 of 65 columns are shown" in page_of(tmp_path, row, row)


def test_names_are_no_markup(tmp_path):
    assert HOSTILE not in page_of(tmp_path, np.zeros(2), np.ones(2), HOSTILE)


def test_inputs_of_two_sizes_are_refused(tmp_path):
    with pytest.raises(DataError, match="pair one: its inputs are 2 float64 and 3 float64"):
        page_of(tmp_path, np.zeros(2), np.zeros(3))
