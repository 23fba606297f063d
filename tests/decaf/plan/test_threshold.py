"""Remarks on an endpoint threshold that nobody set for a score that is no probability."""

import pytest
from small_studies import network_card, of_scenes

from decaf.plan.study import Study
from decaf.plan.threshold import remark_default_epsilon


@pytest.mark.parametrize(
    ("score", "changed", "count"),
    [
        ({"kind": "class_probability", "classes": 2}, {}, 0),
        ({"kind": "margin", "classes": 2}, {}, 1),
        ({"kind": "margin", "classes": 2}, {"epsilon": 0.02}, 0),
    ],
)
def test_a_default_threshold_of_logits_is_remarked_on(tmp_path, score, changed, count):
    settings = of_scenes(tmp_path, [network_card("net", weights="net.pt")], score=score, **changed)
    remarks = remark_default_epsilon(Study.model_validate(settings))
    assert len(remarks) == count
    assert all("margin" in remark and "epsilon" in remark for remark in remarks)
