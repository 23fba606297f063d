"""Sentences of a report on the control change and on the number of stages."""

from types import SimpleNamespace

import pytest

from warehouse.report.audit import trust


@pytest.mark.parametrize(
    ("rows", "mark", "words"),
    [
        ([(None, None)], "note", "No pair type is a control"),
        ([(0.1, None)], "mind", "Too few sources"),
        ([(0.0, True), (0.0, False)], "mind", "ever moves the score"),
        ([(0.1, False), (0.0, False)], "well", "larger than"),
        ([(0.1, True), (0.1, False)], "mind", "in 1 of 2 responses"),
    ],
)
def test_the_control(rows, mark, words):
    rows = [
        SimpleNamespace(model_id="m", control_response=response, reacts_to_any_change=reacts)
        for response, reacts in rows
    ]
    found_mark, sentence = trust._on_control(rows)
    assert (found_mark, words in sentence) == (mark, True)


def test_stages_of_paths_that_repeat_the_effect_are_no_reason_for_more():
    shared = {"stop_reason": None, "stage_error": 0.03, "is_converged": False}
    flips = SimpleNamespace(model_id="m", repeats_effect=True, **shared)
    fades = SimpleNamespace(model_id="m", repeats_effect=False, **shared)
    assert [*trust._on_stages([flips])] == []
    ((mark, sentence),) = trust._on_stages([flips, fades])
    assert mark == "mind"
    assert "0.030" in sentence
    assert "1 of 1 responses" in sentence


def test_responses_closest_to_the_control_come_with_numbers():
    def row(pair_type, difference, lower, upper, control=0.035, role="evidence"):
        return SimpleNamespace(
            model_id="m",
            role=role,
            pair_type=pair_type,
            path="blend",
            control="floor",
            control_response=control,
            control_difference=difference,
            control_lower_95=lower,
            control_upper_95=upper,
        )

    rows = [row("man", 0.007, 0.001, 0.012), row("age", -0.005, None, None)]
    ((mark, sentence),) = trust._compare_with_control(rows)
    assert mark == "note"
    closest, _, further = sentence.partition("; ")
    assert "age on blend: 0.030 and 0.035 (floor), difference −0.005" in closest
    assert "man on blend: 0.042 and 0.035 (floor), difference 0.007 [0.001 to 0.012]" in further
    unused = [
        row("man", 0.1, None, None, control=0),
        row("age", -0.03, None, None, role="no response"),
    ]
    assert [*trust._compare_with_control(unused)] == []
