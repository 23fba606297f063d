"""Keys of units: those of warehouses that exist."""

import pickle

from decaf.plan.units import Unit


def test_a_key_depends_on_parts_and_not_on_their_order():
    parts = {"model": 'größe/"a"', "pairs": "digest", "code": "1"}
    unit = Unit("score", "blend", "m", 3, parts)
    assert unit.key == Unit("score", "blend", "m", 3, dict(reversed(parts.items()))).key
    assert unit.key == pickle.loads(pickle.dumps(unit)).key
    assert unit.key != Unit("score", "blend", "m", 3, parts | {"pairs": "other"}).key


def test_a_key_depends_on_what_is_needed_in_any_order():
    one, two = (Unit("score", name, "m", 0, {"path": name}) for name in "ab")
    routes = [Unit("route", "", "m", 0, {}, needs=needs) for needs in ((one, two), (two, one), ())]
    assert routes[0].key == routes[1].key != routes[2].key


def test_keys_are_those_that_warehouses_have():
    # sha256 of '["predict",{},[]]', and of '["score",{"code":"1","pairs":"p"},[KEY]]'.
    need = Unit("predict", "", "m", 0, {})
    assert need.key == "2cc003f72ec776b39367f75934eeba48"
    unit = Unit("score", "", "m", 0, {"pairs": "p", "code": "1"}, (need,))
    assert unit.key == "3143163f704dfc422d79d87a54dfedf2"


def test_people_read_display_names_and_blocks_from_one():
    names = {"small_vit": "ViT 99", "fade": "fading in"}
    shown = Unit("score", "fade", "small_vit", 2, {}).describe(names)
    assert shown == "ViT 99, block 3"
    assert Unit("fit", "other_path", None, None, {}).describe(names) == "fit other path"
