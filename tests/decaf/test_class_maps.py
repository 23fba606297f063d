import json
from pathlib import Path

import pytest

from decaf.class_maps import IMAGENET9, class_map, imagenet9, outputs_of
from decaf.errors import DataError
from decaf.scores.superclass_probability import SuperclassProbability


def written(tmp_path, mapping, name="map.json"):
    path = tmp_path / name
    path.write_text(json.dumps(mapping))
    return path


def test_ranges_include_both_ends():
    assert outputs_of("0-2 7 9-9") == [0, 1, 2, 7, 9]


def test_no_output_belongs_to_two_superclasses():
    outputs = [output for ranges in IMAGENET9.values() for output in outputs_of(ranges)]
    assert len(outputs) == len(set(outputs)) == 370
    assert all(0 <= output < 1000 for output in outputs)


def test_superclasses_are_numbered_as_the_folders_of_the_challenge():
    assert list(IMAGENET9) == [
        *("dog", "bird", "wheeled vehicle", "reptile", "carnivore", "insect"),
        *("musical instrument", "primate", "fish"),
    ]
    mapping = imagenet9()
    assert [mapping[o] for o in (151, 7, 436, 33, 281, 300, 889, 365, 0)] == [
        *(0, 1, 2, 3, -1, 5, 6, 7, 8)
    ]


def test_the_shipped_map_is_the_official_one(shared_data):
    official = shared_data / "imagenet9_photo" / "in_to_in9.json"
    assert imagenet9() == class_map(official, 9)
    shipped, read = (
        SuperclassProbability(kind="superclass_probability", class_map=given)
        for given in ("imagenet9", official)
    )
    assert shipped.identity() == read.identity()


def test_a_file_comes_before_a_shipped_map_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert class_map(Path("imagenet9"), 9) == imagenet9()
    written(tmp_path, {"0": 1, "1": 0, "2": -1}, "imagenet9")
    assert class_map(Path("imagenet9"), 2) == (1, 0, -1)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"0": 0, "1": 0}, r"2 outputs to -1 or to 0 … 1.*never mapped to: 1; no superclass: none"),
        ({"0": 0, "1": 2}, "never mapped to: 1; no superclass: 2"),
        ({"0": 0, "1": 1, "3": 1}, "3 outputs and none is called 2; expected 0 to 2"),
        ({"dog": 0}, "not an object of whole numbers"),
        ([0, 1], "not an object of whole numbers"),
    ],
)
def test_a_map_that_does_not_fit_says_why(tmp_path, mapping, message):
    with pytest.raises(DataError, match=message):
        class_map(written(tmp_path, mapping), 2)


def test_a_shipped_map_has_its_own_number_of_superclasses():
    with pytest.raises(DataError, match=r"class map imagenet9 .*never mapped to: 9;"):
        class_map(Path("imagenet9"), 10)


def test_a_map_that_is_not_there_names_the_shipped_one(tmp_path):
    with pytest.raises(DataError, match=r"No such file.*did you mean 'imagenet9'"):
        class_map(Path("imagenet-9"), 9)
