"""Sentences of a report on how far its findings hold: sample, threshold, stages, paths, control."""

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


def test_the_reason_why_the_number_of_stages_is_not_checked():
    shared = {"stop_reason": None, "stage_error": None, "repeats_effect": False}
    few, even = (SimpleNamespace(stage_count=count, **shared) for count in (9, None))
    ((_, on_even),) = trust._on_stages([even, even])
    ((_, on_few),) = trust._on_stages([even, few])
    assert "halved" in on_even
    assert "sources" in on_few


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


def rows_with(**columns):
    """One row for each value of a column: rows_with(is_firm=[True, False])."""
    ((name, values),) = columns.items()
    defaults = {"epsilon": 0.02, "interval_use": "usable", "source_count": 20, "path": "blend"}
    return [
        SimpleNamespace(**defaults | {"model_id": f"m{place}"} | {name: value})
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("counts", "uses", "mark", "words"),
    [
        ((20, 1000), ("usable", "usable"), "well", "has 20 sources."),
        ((19, 1000), ("rough", "usable"), "mind", "19 sources: its intervals are rough"),
        ((19, 4), ("rough", "none"), "mind", "4 sources: do not rely"),
        ((1, 30), ("none", "usable"), "mind", "1 source: do not rely"),
    ],
)
def test_the_sample(counts, uses, mark, words):
    rows = rows_with(source_count=counts)
    for row, use in zip(rows, uses, strict=True):
        row.interval_use = use
    found_mark, sentence = trust._on_sample(rows)
    assert (found_mark, words in sentence) == (mark, True)


@pytest.mark.parametrize(
    ("shares", "mark", "words"),
    [
        ((0, 0.099), "well", "9.9 %"),
        ((0.1, 0.25), "mind", "25 %"),
        ((0.1, 0.25), "mind", "2 of 2 responses (m0, m1)"),
        ((0, 0.25), "mind", "1 of 2 responses (m1)"),
    ],
)
def test_pairs_near_the_threshold(shares, mark, words):
    found_mark, sentence = trust._on_near_pairs(rows_with(near_frac=shares))
    assert (found_mark, words in sentence) == (mark, True)
    assert "from 0.010 to 0.040" in sentence


def test_roles_that_depend_on_the_threshold():
    assert trust._on_threshold(rows_with(is_firm=[True, True]))[0] == "well"
    mark, sentence = trust._on_threshold(rows_with(is_firm=[True, False, False]))
    assert (mark, "2 of 3 responses (m1, m2)" in sentence) == ("mind", True)


def test_paths_that_agree_or_not():
    assert trust._on_paths(rows_with(paths_agree=[None, None]))[0] == "note"
    assert trust._on_paths(rows_with(paths_agree=[True, None]))[0] == "well"
    mark, sentence = trust._on_paths(rows_with(paths_agree=[True, False, None]))
    assert (mark, "1 of 2 responses (m1)" in sentence) == ("mind", True)


@pytest.mark.parametrize(
    ("reason", "mark"), [("converged", "well"), ("exact", "well"), ("at_most", "mind")]
)
def test_where_doubling_the_stages_stopped(reason, mark):
    rows = rows_with(stop_reason=[reason, reason])
    for row in rows:
        row.stage_count = 17
    ((found_mark, sentence),) = trust._on_refinements(rows)
    assert (found_mark, "blend stopped at 17" in sentence) == (mark, True)
    assert [*trust._on_refinements(rows_with(stop_reason=[None]))] == []


def test_paths_that_only_repeat_the_effect_are_named():
    assert [*trust._on_repeated_effects(rows_with(repeats_effect=[False, None]))] == []
    ((mark, sentence),) = trust._on_repeated_effects(rows_with(repeats_effect=[False, True]))
    assert (mark, "1 of 2 responses (m1)" in sentence) == ("mind", True)
