"""Remarks on the results of a run."""

from types import SimpleNamespace

from flows.commands.remarks import remark_stops


def stop(source_count, outcome):
    """Row of the report's query of stopped models."""
    return SimpleNamespace(source_count=source_count, planned_source_count=20, outcome=outcome)


def test_models_that_stopped_without_a_decision_are_counted():
    stops = [stop(4, "decided"), stop(9, "undecided"), stop(9, "undecided")]
    (remark,) = remark_stops(stops)
    assert remark.startswith("3 models stopped early (2 without a decision), after 4 to 9 of 20")
    assert "decision" not in remark_stops(stops[:1])[0]
    assert remark_stops([]) == []
