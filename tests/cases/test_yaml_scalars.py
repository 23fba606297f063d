"""A name that YAML would read as another value is refused; numbers go on."""

import pytest
from registry_folder import put_small_cnn

from decaf.errors import ConfigError
from decaf.foundation.yaml_source import plain_mapping
from decaf.plan.study import load_study

MODEL = """
models:
  - {id: one, family: cnn, architecture: 'factory:torch.nn:Linear', weights: one.safetensors,
     input_size: null, mean: [0.5], std: [0.5]}
"""
STUDY = """
study: names
data:
  adapter: table_pairs
  table: rows.csv
  label: kind
  classes: [a, b]
  categories: {grade: [1.5, 2.5]}
  changes: {older: {set: {price: 1.10}}}
score: {kind: class_probability, classes: 2}
paths: {blend: {kind: blend, sigma: 0}}
epsilon: 0.10
"""


def written(folder, old="", new=""):
    text = STUDY + MODEL
    assert old in text
    path = folder / "study.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


def test_numbers_are_numbers(tmp_path):
    study = load_study(written(tmp_path))
    assert study.epsilon == 0.1
    assert study.data.changes["older"].set == {"price": 1.1}
    assert study.data.categories == {"grade": (1.5, 2.5)}


@pytest.mark.parametrize("names", ["[7, 8]", "[false, true]", '["1.10", "no"]', "[1e3, b]"])
def test_names_that_yaml_leaves_as_they_are_go_on(tmp_path, names):
    study = load_study(written(tmp_path, "[a, b]", names))
    expected = {"[7, 8]": (7, 8), "[false, true]": (False, True), "[1e3, b]": ("1e3", "b")}
    assert study.data.classes == expected.get(names, ("1.10", "no"))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        *(
            ("[a, b]", f"[a, {word}]", 7)
            for word in ("010", "1_0", "0x1F", "12:30", "0b1", "no", "On", "1.10", "+1", "1.")
        ),
        ("[1.5, 2.5]", "[1.10, 1.9]", 8),
        ("[1.5, 2.5]", "[yes, no]", 8),
        ("classes: 2}", "classes: 2, target: yes}", 10),
        ("classes: 2}", "classes: 2, target: 01}", 10),
        ("epsilon: 0.10", "batch_size: 010", 12),
        ("epsilon: 0.10", "batch_size: 1:10", 12),
        ("label: kind", "label: 1.10", 6),
        ("label: kind", "label: 010", 6),
        ("label: kind", "label: kind\n  drop: [on]", 7),
        ("study: names", "study: 1.10", 2),
        ("older", "1.10", 9),
        ("id: one", "id: 1.10", 15),
        ("[a, b]", "[a, 2024-01-01]", 7),
    ],
)
def test_names_that_yaml_would_change_are_refused(tmp_path, old, new, line):
    with pytest.raises(ConfigError, match=rf"study\.yaml:{line}: .*put it in quotes"):
        load_study(written(tmp_path, old, new))


def test_an_override_is_a_name_as_well(tmp_path):
    with pytest.raises(ConfigError, match="put it in quotes"):
        load_study(written(tmp_path), ["data.classes=[no, yes]"])
    changed = load_study(written(tmp_path), {"data.classes": ["no", "1.10"]})
    assert changed.data.classes == ("no", "1.10")


def test_a_card_has_names_of_classes(tmp_path):
    card = tmp_path / "decaf.yaml"
    card.write_text("source: estimator\nclasses: [no, yes]\n")
    with pytest.raises(ConfigError, match=r"decaf\.yaml:2: "):
        plain_mapping(card, "settings")
    assert plain_mapping(card)["classes"] == [False, True]  # of a file that is no card


@pytest.mark.parametrize("version", ["1.10", '"1.10"', "010", "3", "1_0", "yes", "2024-01-01"])
def test_an_alias_is_a_version_as_it_is_written(study, write, tmp_path, version):
    del study["models"]
    root = tmp_path / "registry"
    for name in ("1.1", "1.10", "3", "8", "10", "True"):
        put_small_cnn(root / "net" / name)
    (root / "net" / "aliases.yaml").write_text(f"champion: {version}\n")
    study |= {"registry": {"kind": "folder", "root": str(root), "follow": ["champion"]}}
    config = write(study)
    (entry,) = load_study(config).registry.entries()
    if version in ("3", '"1.10"'):
        assert (entry.version, entry.problem) == (version.strip('"'), "")
    else:
        assert entry.digest == ""
        assert "aliases.yaml:1" in entry.problem
        assert "in quotes" in entry.problem
