"""Keys of units: the same for the same parts, however they are held."""

import pickle

import pytest

from decaf.plan.units import SharedParts, Unit

PARTS = {"model": 'größe/"a"', "score": "s", "code": "1", "weights": "0"}


def test_parts_of_a_block_are_those_of_a_mapping():
    shared = SharedParts(PARTS)
    assert (dict(shared), len(shared), shared.get("none")) == (PARTS, 4, None)
    held = Unit("score", "blend", "m", 3, shared, pairs="digest")
    assert held.parts == {**PARTS, "pairs": "digest"}
    assert Unit("route", "blend", "m", 3, PARTS).parts == PARTS


@pytest.mark.parametrize("parts", [PARTS, {}, {"a": "1"}, {"z": "1"}])
def test_a_key_depends_on_parts_and_not_on_how_they_are_held(parts):
    plain = Unit("score", "blend", "m", 3, {**parts, "pairs": "digest"})
    held = Unit("score", "blend", "m", 3, SharedParts(parts), pairs="digest")
    assert held.key == plain.key
    assert pickle.loads(pickle.dumps(held)).key == plain.key
    assert held.key != Unit("score", "blend", "m", 3, SharedParts(parts), pairs="other").key


def test_a_key_depends_on_what_is_needed_in_any_order():
    one, two = (Unit("score", name, "m", 0, {"path": name}) for name in "ab")
    routes = [Unit("route", "", "m", 0, {}, needs=needs) for needs in ((one, two), (two, one), ())]
    assert routes[0].key == routes[1].key != routes[2].key


def test_keys_are_those_that_warehouses_have():
    # sha256 of '["predict",{},[]]', and of '["score",{"code":"1","pairs":"p"},[KEY]]'.
    need = Unit("predict", "", "m", 0, {})
    assert need.key == "2cc003f72ec776b39367f75934eeba48"
    unit = Unit("score", "", "m", 0, SharedParts({"code": "1"}), (need,), pairs="p")
    assert unit.key == "3143163f704dfc422d79d87a54dfedf2"
