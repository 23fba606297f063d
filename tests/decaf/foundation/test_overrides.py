"""Settings without a file, and overrides of keys: by hand first, then any of them."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from decaf.errors import ConfigError
from decaf.foundation.yaml_source import load


class Whatever(BaseModel, extra="allow"):
    """Takes whatever is given."""


def loaded(source, overrides=()):
    return load(source, Whatever, overrides).model_dump()


GIVEN = {"study": "try", "models": [{"id": "one"}, {"id": "two"}], "data": {"seed": 1}}


def test_settings_without_a_file_are_what_their_file_would_say(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "/somewhere")
    settings = GIVEN | {"report": "${PLACE}/a", "note": "é: [x] 'y' \U0001f642", "epsilon": 1e-05}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(settings, allow_unicode=True))
    assert loaded(settings) == loaded(path) == settings | {"report": "/somewhere/a"}


def test_overrides_of_keys_places_and_what_is_not_there():
    words = ["study=nightly", "models.1.batch_size=8", "data.table.file=a=b", "models.0={id: 3}"]
    assert loaded(GIVEN, words) == {
        "study": "nightly",
        "models": [{"id": 3}, {"id": "two", "batch_size": 8}],
        "data": {"seed": 1, "table": {"file": "a=b"}},
    }
    assert loaded(GIVEN, {"data.seed": None}) == GIVEN | {"data": {"seed": None}}
    assert loaded(GIVEN, ["data.seed="]) == GIVEN | {"data": {"seed": None}}


def test_an_override_changes_one_place_of_an_anchor(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("a: &one {x: 1}\nb: *one\n")
    assert loaded(path, ["b.x=2"]) == {"a": {"x": 1}, "b": {"x": 2}}


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("study", "'study'"),
        ("=3", "'=3'"),
        ("models.2.id=x", "override models.2.id:1: '2'"),
        ("models.-1.id=x", "'-1'"),
        ("models.first.id=x", "'first'"),
        ("study.name=x", "'name'"),
        ("study=[", "override study:1"),
        ("study=${NOT_THERE}", "NOT_THERE"),
        ("study=!!python/name:os.abort ''", "!!python/name:os.abort"),
        ("study=" + "[" * 50 + "]" * 50, "40"),
        ("study=.inf", "finite"),
    ],
)
def test_an_override_that_cannot_be_made_is_refused(override, words):
    with pytest.raises(ConfigError) as refused:
        loaded(GIVEN, [override])
    assert words in str(refused.value)


def test_what_an_override_breaks_is_said_with_its_key():
    class Seeded(BaseModel):
        seed: int

    class Study(BaseModel):
        data: Seeded

    with pytest.raises(ConfigError, match="override data.seed:1: 'data.seed'"):
        load({"data": {"seed": 1}}, Study, ["data.seed=x"])
    with pytest.raises(ConfigError, match="configuration:1: 'data.seed'"):
        load({"data": {"seed": "x"}}, Study)


KEYS = st.text("abcXYZ_09", min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("aé: -#'\"\\{}[]&*!|>%@\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), KEYS, KEYS, VALUES)
def test_any_value_at_any_key(settings, first, second, value):
    assert loaded(settings, {first: value}) == settings | {first: value}
    below = settings.get(first, {})
    if isinstance(below, dict):
        wanted = settings | {first: below | {second: value}}
        assert loaded(settings, {f"{first}.{second}": value}) == wanted
