"""Expectations of pair types that no path scores."""

import pytest

from decaf.errors import SettingError
from decaf.plan.expectations import AtMost, LimitedExpectation
from decaf.plan.presentation import check_shown
from decaf.reveal.paths.blend import Blend

LIMIT = LimitedExpectation(should_not_matter=AtMost(at_most=0.01))
TYPES = ("gender", "postcode")
POSTCODE = {"blend": Blend(pair_types=("postcode",))}


@pytest.mark.parametrize("stated", [LIMIT, "should_not_matter", "should_matter", "control"])
def test_an_expectation_that_no_path_can_check_is_refused(stated):
    with pytest.raises(SettingError, match=r"no path scores the pair type 'gender'.*pair_types:"):
        check_shown({"postcode": LIMIT, "gender": stated}, {}, TYPES, POSTCODE, ())


def test_expectations_of_scored_or_unknown_effects_are_taken():
    check_shown({"gender": "unknown", "postcode": LIMIT}, {}, TYPES, POSTCODE, ())
    paths = POSTCODE | {"all": Blend()}
    check_shown({"gender": LIMIT, "postcode": LIMIT}, {}, TYPES, paths, ())
