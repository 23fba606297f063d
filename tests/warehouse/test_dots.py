"""The chart of models: which changes it draws, and how it counts models within the limits."""

from types import SimpleNamespace

import pytest

from warehouse.report.audit.dots import dots_picture


def response(model_id, pair_type, expect, abs_response, limit):
    safe_limit, wanted_limit = (limit, None) if expect == "should_not_matter" else (None, limit)
    return SimpleNamespace(
        model_id=model_id,
        path="blend",
        pair_type=pair_type,
        expect=expect,
        abs_response=abs_response,
        safe_limit=safe_limit,
        wanted_limit=wanted_limit,
    )


def facts(*responses):
    score = '{"kind": "class_probability"}'
    return SimpleNamespace(responses=responses, paths=("blend",), run=SimpleNamespace(score=score))


@pytest.mark.parametrize(
    ("postcode", "title"),
    [
        (0.118, "The model does not keep the limits of Abs on richer and postcode"),
        (0.02, "The model keeps the limits of Abs on richer and age"),
    ],
)
def test_the_change_that_is_worst_for_its_limit_is_drawn(postcode, title):
    picture = dots_picture(
        facts(
            response("m", "age", "should_not_matter", 0.03, 0.05),
            response("m", "postcode", "should_not_matter", postcode, 0.05),
            response("m", "job", "should_matter", 0.4, 0.1),
            response("m", "richer", "should_matter", 0.11, 0.1),
        )
    )
    assert picture.title == title


def test_without_a_change_that_should_matter_nothing_is_drawn():
    assert not dots_picture(facts(response("m", "age", "should_not_matter", 0.03, 0.05))).svg
