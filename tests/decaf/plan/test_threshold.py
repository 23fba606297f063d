"""Remarks on an endpoint threshold that nobody set for a score that is no probability."""

from typing import ClassVar, Literal

import pytest
from small_studies import network_card, of_scenes

from decaf.plan.study import Study
from decaf.plan.threshold import remark_default_epsilon
from decaf.scoring.scores.margin import Margin


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


class Share(Margin):
    """A score from 0 to 1."""

    bounds: ClassVar = (0.0, 1.0)
    kind: Literal["share"] = "share"


class LogProbability(Margin):
    """A score from -20 to 0."""

    bounds: ClassVar = (-20.0, 0.0)
    kind: Literal["log_probability"] = "log_probability"


def test_bounds_tell_whether_the_default_threshold_fits(tmp_path):
    settings = of_scenes(tmp_path, [network_card("net", weights="net.pt")])
    study = Study.model_validate(settings)
    assert "epsilon" not in study.model_fields_set
    share, logarithm = (
        study.model_copy(update={"score": kind(classes=2)}) for kind in (Share, LogProbability)
    )
    assert remark_default_epsilon(share) == []
    (remark,) = remark_default_epsilon(logarithm)
    assert "from -20 to 0" in remark
