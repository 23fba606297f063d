"""Attribution methods that start from another reference than the path that removes features."""

import pytest
from small_studies import network_card, of_scenes

from decaf.data.pair_columns import PairColumns
from decaf.data.records import Pair
from decaf.plan.references import remark_compared_path, remark_references
from decaf.plan.study import Study

GREY = {"kind": "removal", "side": 2, "value": [0.5, 0.5, 0.5]}
BLUR = {"kind": "removal", "side": 2, "baseline": "blur", "sigma": 2, "radius": 3}


@pytest.mark.parametrize(
    ("method", "is_remarked"),
    [
        ({}, True),
        ({"value": [0.5]}, False),
        ({"value": [0.5, 0.5, 0.25]}, True),
        ({"baseline": "mean", "value": [0.5]}, True),
        ({"baseline": "blur", "sigma": 2, "radius": 3}, False),
        ({"baseline": "blur", "sigma": 2, "radius": 3, "value": [0.25]}, False),
        ({"baseline": "blur"}, True),
        ({"baseline": "uniform"}, False),
    ],
)
def test_a_reference_of_no_path_is_remarked_on(tmp_path, method, is_remarked):
    methods = {"ig": {"kind": "integrated_gradients"} | method, "area": {"kind": "area"}}
    remarks = remark_references(study(tmp_path, {"grey": GREY, "blur": BLUR}, methods))
    assert len(remarks) == is_remarked
    assert all("ig" in remark and "area" not in remark for remark in remarks)


def test_paths_that_remove_nothing_have_no_reference(tmp_path):
    methods = {"rise": {"kind": "rise"}}
    assert not remark_references(study(tmp_path, {"blend": {"kind": "blend"}}, methods))


def study(folder, paths, attributions):
    cards = [network_card("net", weights="net.pt")]
    return Study.model_validate(of_scenes(folder, cards, paths=paths, attributions=attributions))


@pytest.mark.parametrize(
    ("paths", "compared"),
    [
        ({"d5": {"stages": 5}, "d9": {"stages": 9}}, ("d5", "d9")),
        ({"d9": {"stages": 9}, "d5": {"stages": 5}}, ("d9", "d5")),
        ({"whole": {"pair_types": ["whole"]}, "d5": {}, "wing": {"pair_types": ["wing"]}},
         ("d5", "wing")),
        ({"whole": {"pair_types": ["whole"]}, "d5": {"pair_types": ["beak"]}}, None),
    ],
)  # fmt: skip
def test_a_path_that_attribution_tables_leave_out_is_remarked_on(tmp_path, paths, compared):
    pairs = PairColumns.of([of_feature("beak", 1), of_feature("wing", 2), of_feature("whole", 0)])
    settings = {name: {"kind": "removal"} | path for name, path in paths.items()}
    methods = {"area": {"kind": "area"}}
    remarks = remark_compared_path(study(tmp_path, settings, methods), pairs)
    assert len(remarks) == (compared is not None)
    if compared:
        first, second = compared
        assert f"E of the path {first}," in remarks[0]
        assert f"without {second}:" in remarks[0]
    assert not remark_compared_path(study(tmp_path, settings, {}), pairs)


def of_feature(pair_type, feature):
    return Pair(f"a__{pair_type}", "a", pair_type, 0, "all", 0, 0, feature)
