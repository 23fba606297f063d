"""The page of pairs: pictures, curves and cells of what differs, and nobody's markup."""

import re

import numpy as np
import pytest

from decaf.data.overview import some_pairs
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from warehouse.report.data_sheet import write_data_sheet

HOSTILE = "<script>alert(1)</script>"


def page_of(tmp_path, plus, minus, name="one"):
    """The page of one pair of arrays."""
    arrays = {"0": plus, "1": minus}
    inputs = tuple(Input(f"{name}/{place}", "any", place, place) for place in arrays)
    pairs = PairSet(inputs, (Pair(name, name, "a type", 3, "all", 0, 1),), "a test")
    shown = some_pairs(pairs, lambda image: arrays[image.location])
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


def test_pictures_are_small_and_volumes_are_said_in_words(tmp_path):
    image = np.zeros((1000, 2000, 3), np.uint8)
    page = page_of(tmp_path, image, image + 1)
    assert page.count("data:image/png;base64,") == 2
    assert len(page) < 8000
    volume = np.zeros((1, 2, 3, 4), np.float32)
    page = page_of(tmp_path, volume, volume)
    assert "0 of 24 values differ" in page
    assert "<polyline" not in page


def test_names_are_no_markup(tmp_path):
    assert HOSTILE not in page_of(tmp_path, np.zeros(2), np.ones(2), HOSTILE)


def test_inputs_of_two_sizes_are_refused(tmp_path):
    with pytest.raises(DataError, match="pair one: its inputs are 2 float64 and 3 float64"):
        page_of(tmp_path, np.zeros(2), np.zeros(3))
