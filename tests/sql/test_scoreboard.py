"""The words of the scoreboard, of numbers that are small enough to judge by eye."""

import pytest
from view_tables import define_over

ONE, NONE = (0.9, 0.8, 0.95), (0.9, None, None)
"""An estimate of ours with its interval, and one without."""
THEIRS, BARE = (0.86, 0.83, 0.92), (0.86, None, None)
"""The paper's, with and without."""


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (ONE, THEIRS, "reproduced"),
        (NONE, THEIRS, "reproduced"),
        ((0.83, 0.5, 0.9), THEIRS, "reproduced"),  # its limit counts
        ((0.93, 0.85, 0.95), THEIRS, "same direction"),  # the paper states an interval: it decides
        (ONE, BARE, "reproduced"),
        ((0.9, 0.87, 0.95), BARE, "same direction"),
        ((0.861, 0.8609, 0.8611), BARE, "reproduced"),  # an interval finer than what is printed
        (NONE, BARE, "same direction"),
        ((0.864, None, None), BARE, "reproduced"),  # 0.86 when it is printed
        ((0.865, None, None), BARE, "reproduced"),  # half of the last digit, as doubles have it
        ((0.8651, None, None), BARE, "same direction"),
        ((-0.3, -0.5, -0.1), THEIRS, "different"),  # the sign flips
        ((-0.01, None, None), BARE, "different"),
        ((0.0, None, None), BARE, "different"),  # no effect has no side
        ((0.1, -0.2, 0.3), BARE, "different"),  # no effect, and not the paper's value
        ((0.14, 0.1, 0.18), (0.019, -0.002, 0.042), "different"),  # the paper's has no side
        ((0.9, -0.3, 1.0), THEIRS, "undecided"),  # tiny: it holds the paper's value and none
        ((0.9, 0.0, 1.0), BARE, "undecided"),
        ((0.0, None, None), (0.0, None, None), "reproduced"),  # a published zero
        ((0.1, -0.1, 0.3), (0.0, None, None), "reproduced"),
        ((0.1, 0.05, 0.3), (0.0, None, None), "different"),  # nothing lies on the side of zero
        ((0.03, -0.01, 0.06), (0.019, -0.002, 0.042), "reproduced"),  # the paper's holds none, too
        ((None, None, None), THEIRS, "not run"),
    ],
)
def test_a_correlation(ask, ours, theirs, verdict):
    assert word(ask, ours, theirs, 2, 0, None) == verdict


@pytest.mark.parametrize(
    ("ours", "theirs", "digits", "neutral", "verdict"),
    [
        (135, 135, 0, None, "reproduced"),
        (134, 135, 0, None, "different"),
        (0.45, 0.433, 3, 0.5, "same direction"),  # both tell less than nothing does
        (0.55, 0.433, 3, 0.5, "different"),
        (0.6, 0.641, 3, None, "different"),  # a share has no side
        (0.0503, 0.05079873, None, None, "reproduced"),  # of a figure: three decimals
        (0.0502, 0.05079873, None, None, "different"),
    ],
)
def test_a_count_and_numbers_whose_neutral_value_is_another(
    ask, ours, theirs, digits, neutral, verdict
):
    assert word(ask, (ours, None, None), (theirs, None, None), digits, neutral, None) == verdict


def test_what_is_needed_counts_where_there_is_no_number(ask):
    nothing = (None, None, None)
    assert word(ask, nothing, THEIRS, 2, 0, "a GPU") == "cannot be run here"
    assert word(ask, ONE, THEIRS, 2, 0, "a GPU") == "reproduced"


def word(ask, ours, theirs, digits, neutral, needs):
    given = ", ".join(
        "NULL" if value is None else repr(value)
        for value in (*ours, *theirs, digits, neutral, needs)
    )
    (row,) = ask("verdict_of", f"SELECT verdict_of({given}) AS word")
    return row["word"]


def test_numbers_of_all_studies_are_joined_with_the_size_of_each(columns, open_schema):
    row = {"study": "s", "estimate": "0.9", "lower_95": "0.8", "is_official": "false"}
    covertype = row | {"paper": "covertype", "method": "DECAF", "part": "inversion"}
    covertype |= {"statistic": "rank_correlation", "why": "40 rows"}
    scenes = {"paper": "scenes", "study": "s", "unit": "null", "statistic": "units"}
    unknown = covertype | {"part": "of no table"}
    given = {
        "core_covertype_comparisons": [covertype, unknown],
        "core_scenes_comparisons": [scenes | {"reason": "nothing scored"}],
        "out_models": [{"study": "s", "model_id": "m"}, {"study": "s", "model_id": "n"}],
    }
    with open_schema() as connection:
        define_over(connection, "comparisons", columns, given)
        found = connection.sql(
            "SELECT paper, part, model_count, estimate, reason FROM comparisons() ORDER BY paper"
        ).fetchall()
    assert found == [
        ("covertype", "inversion", 2, 0.9, None),
        ("scenes", None, 2, None, "nothing scored"),
    ]
