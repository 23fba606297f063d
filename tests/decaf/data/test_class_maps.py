import json
import os
from pathlib import Path

import pytest

from decaf.data.class_maps import class_map, load_shipped_maps, outputs_of
from decaf.errors import DataError
from decaf.plan.study import Study
from decaf.scoring.scores.superclass_probability import SuperclassProbability

IMAGENET9 = load_shipped_maps()["imagenet9"]


def written(tmp_path, mapping, name="map.json"):
    path = tmp_path / name
    path.write_text(json.dumps(mapping))
    return path


def test_ranges_include_both_ends():
    assert outputs_of("0-2 7 9-9") == [0, 1, 2, 7, 9]


def test_no_output_belongs_to_two_superclasses():
    outputs = [output for ranges in IMAGENET9.classes.values() for output in outputs_of(ranges)]
    assert len(outputs) == len(set(outputs)) == 370
    assert all(0 <= output < 1000 for output in outputs)


def test_superclasses_are_numbered_as_the_folders_of_the_challenge():
    assert list(IMAGENET9.classes) == [
        *("dog", "bird", "wheeled vehicle", "reptile", "carnivore", "insect"),
        *("musical instrument", "primate", "fish"),
    ]
    mapping = IMAGENET9.mapping
    assert [mapping[o] for o in (151, 7, 436, 33, 281, 300, 889, 365, 0)] == [
        *(0, 1, 2, 3, -1, 5, 6, 7, 8)
    ]


def test_the_shipped_map_is_the_official_one(shared_data):
    official = shared_data / "imagenet9_photo" / "in_to_in9.json"
    assert IMAGENET9.mapping == class_map(official, 9)
    load_shipped_maps, read = (
        SuperclassProbability(kind="superclass_probability", class_map=given)
        for given in ("imagenet9", official)
    )
    assert load_shipped_maps.identity() == read.identity()


def test_a_shipped_map_is_no_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {"0": 1, "1": 0, "2": -1}, "imagenet9")
    assert class_map(Path("imagenet9"), 9) == IMAGENET9.mapping
    assert class_map(tmp_path / "imagenet9", 2) == (1, 0, -1)


def study(root, name="imagenet9"):
    model = {"source": "function", "id": "one", "family": "any", "function": "any:one"}
    return Study(
        study="try",
        data={"adapter": "imagenet9", "root": str(root)},
        models=[model | {"output": "logits"}],
        score={"kind": "superclass_probability", "class_map": str(name)},
        paths={"blend": {"kind": "blend"}},
    )


def test_the_map_beside_the_data_comes_before_the_shipped_one(tmp_path):
    assert study(tmp_path).score.mapping == IMAGENET9.mapping
    before = study(tmp_path).score.identity()
    official = {str(output): superclass for output, superclass in enumerate(IMAGENET9.mapping)}
    file = written(tmp_path, official, "in_to_in9.json")
    assert study(tmp_path).score.class_map == file
    # The same content is the same study.
    assert study(tmp_path).score.identity() == before
    written(tmp_path, official | {"281": 4}, "in_to_in9.json")
    assert [study(tmp_path).score.mapping[output] for output in (280, 281)] == [4, 4]
    assert study(tmp_path).score.identity() != before
    other = written(tmp_path, official, "other.json")
    assert study(tmp_path, other).score.class_map == other
    assert study(tmp_path / "elsewhere").score.identity() == before
    # The folder of the photos may be named itself; the file lies beside it then.
    assert study(tmp_path / "bg_challenge").score.class_map == file


def test_a_file_called_as_the_official_one_maps_all_outputs(tmp_path):
    official = {str(output): superclass for output, superclass in enumerate(IMAGENET9.mapping)}
    del official["999"]
    file = written(tmp_path, official, "in_to_in9.json")
    with pytest.raises(DataError, match=r"in_to_in9.json .* 999 .* 1000"):
        class_map(file, 9)
    own = written(tmp_path, official, "own.json")
    assert class_map(own, 9) == IMAGENET9.mapping[:999]


NO_WHOLE_NUMBERS = ("0.9", "1.0", "true", '"1"', "null", "[1]", "{}")
TEXTS = {
    **{f'{{"0": 0, "1": {value}}}': '"1": ' for value in NO_WHOLE_NUMBERS},
    '{"0": 0, "1": 1, "0": 1}': "output 0 twice",
    '{"0": 0, "1": 1, "00": 0}': "output 0 twice",
    "{0: 1}": r"map\.json is not JSON",
    "[" * 100_000: r"map\.json is not JSON",
    **dict.fromkeys(('{"dog": 0}', '{"0": 0, "-1": 1}', "[0, 1]", '["dog"]', "7"), "whole numbers"),
    '{"0": 0, "1": 0}': "-1 or to 0 … 1.*: 1; .*none",
    '{"0": 0, "1": 2}': ": 1; .*: 2",
    '{"0": 0, "1": 1, "3": 1}': "2; .* 0 to 2",
    '{"0": 0, "2": 1}': "1; .* 0 to 1",
    '{"0": 0}': ": 1; .*none",
    "{}": ": 0, 1",
}
"""Files for two superclasses, and values that the message of the refusal has."""


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_text_that_is_no_map_is_refused(tmp_path, number):
    text, values = [*TEXTS.items()][number]
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(DataError, match=values):
        class_map(tmp_path / "map.json", 2)


def test_a_pipe_is_no_map(tmp_path):
    os.mkfifo(tmp_path / "map.json")
    with pytest.raises(DataError, match=r"map\.json: .* pipe"):
        class_map(tmp_path / "map.json", 2)


def test_a_shipped_map_has_its_name_and_its_number_of_superclasses():
    with pytest.raises(DataError, match="imagenet9 .*: 9;"):
        class_map(Path("imagenet9"), 10)
    with pytest.raises(DataError, match="'imagenet9'"):
        class_map(Path("imagenet-9"), 9)
