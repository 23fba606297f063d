"""The sentence of a report on the control change."""

from types import SimpleNamespace

import pytest

from warehouse.report.audit import trust


@pytest.mark.parametrize(
    ("rows", "mark", "words"),
    [
        ([(None, None)], "note", "No pair type is a control"),
        ([(0.1, None)], "mind", "Too few sources"),
        ([(0.0, True), (0.0, False)], "mind", "never moves the score"),
        ([(0.1, False), (0.0, False)], "well", "each exceeds"),
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
