"""Keys of units: the same for the same parts, however they are held."""

import pickle

import pytest

from decaf.plan.units import SharedParts, Unit

PARTS = {"model": 'größe/"a"', "score": "s", "code": "1", "weights": "0"}


def test_parts_of_a_block_are_those_of_a_mapping():
    held = SharedParts(PARTS).of_block("digest")
    assert held == {**PARTS, "pairs": "digest"}
    assert (len(held), "pairs" in held, held.get("none")) == (5, True, None)


@pytest.mark.parametrize("parts", [PARTS, {}, {"a": "1"}, {"z": "1"}])
def test_a_key_depends_on_parts_and_not_on_how_they_are_held(parts):
    plain = Unit("score", "blend", "m", 3, {**parts, "pairs": "digest"})
    held = Unit("score", "blend", "m", 3, SharedParts(parts).of_block("digest"))
    assert held.key == plain.key
    assert pickle.loads(pickle.dumps(held)).key == plain.key
    assert held.key != Unit("score", "blend", "m", 3, SharedParts(parts).of_block("other")).key


def test_a_key_depends_on_what_is_needed_in_any_order():
    one, two = (Unit("score", name, "m", 0, {"path": name}) for name in "ab")
    routes = [Unit("route", "", "m", 0, {}, needs=needs) for needs in ((one, two), (two, one), ())]
    assert routes[0].key == routes[1].key != routes[2].key


def test_keys_are_those_that_warehouses_have():
    # sha256 of '["predict",{},[]]', and of '["score",{"code":"1","pairs":"p"},[KEY]]'.
    need = Unit("predict", "", "m", 0, {})
    assert need.key == "2cc003f72ec776b39367f75934eeba48"
    unit = Unit("score", "", "m", 0, SharedParts({"code": "1"}).of_block("p"), needs=(need,))
    assert unit.key == "3143163f704dfc422d79d87a54dfedf2"
