"""Limits that no value, or every value, breaks, such as 5 where 5 % is meant."""

import pytest
from small_studies import network_card, of_scenes

from decaf.errors import ConfigError
from decaf.plan.study import Study, load_study

PROBABILITY = {"kind": "class_probability", "classes": 2}
MARGIN = {"kind": "margin", "classes": 2}


def study(tmp_path, score, **changed):
    registry = {"kind": "folder", "root": str(tmp_path)}
    card = network_card("net", weights="net.pt")
    return of_scenes(tmp_path, [card], score=score, registry=registry, **changed)


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"epsilon": 2}, "epsilon"),
        ({"expect": {"wall_hue": {"should_not_matter": {"at_most": 5}}}}, "expect"),
        ({"expect": {"wall_hue": {"should_matter": {"at_least": 1.5}}}}, "expect"),
        ({"gates": {"evidence": {"increase": 5}}}, "gates"),
        ({"gates": {"endpoint_magnitude": {"at_most": 1}}}, "gates"),
        ({"gates": {"accuracy": [{"at_least": 0.9}, {"decrease": 2}]}}, "gates"),
        ({"gates": {"accuracy": {"at_least": 90}}}, "gates"),
        ({"gates": {"evidence": {"at_least": 0}}}, "gates"),
        ({"gates": {"fragility": {"at_most": -0.1}}}, "gates"),
    ],
)
def test_a_limit_outside_of_all_values_is_refused(tmp_path, changed, key):
    with pytest.raises(ConfigError, match=f"'{key}"):
        load_study(study(tmp_path, PROBABILITY, **changed))


def test_scores_without_bounds_have_limits_of_any_size(tmp_path):
    limits = {"expect": {"wall_hue": {"should_not_matter": {"at_most": 5}}}, "epsilon": 2}
    Study.model_validate(study(tmp_path, MARGIN, gates={"evidence": {"increase": 5}}, **limits))
    for gates in ({"accuracy": {"at_least": 90}}, {"evidence": {"at_least": 0}}):
        with pytest.raises(ConfigError, match="'gates"):
            load_study(study(tmp_path, MARGIN, gates=gates))


def test_limits_below_the_largest_value_stand(tmp_path):
    limits = {
        "epsilon": 1,
        "expect": {"wall_hue": {"should_matter": {"at_least": 1}}},
        "gates": {"evidence": {"at_most": 0.99}, "accuracy": {"at_least": 1}},
    }
    assert Study.model_validate(study(tmp_path, PROBABILITY, **limits)).epsilon == 1
