"""Remarks on the results of a run."""

from types import SimpleNamespace

import duckdb

from flows.commands.remarks import remark_refinements, remark_stops


def stop(source_count, outcome):
    """Row of the report's query of stopped models."""
    return SimpleNamespace(source_count=source_count, planned_source_count=20, outcome=outcome)


def test_models_that_stopped_without_a_decision_are_counted():
    stops = [stop(4, "decided"), stop(9, "undecided"), stop(9, "undecided")]
    (remark,) = remark_stops(stops)
    assert remark.startswith("3 models stopped early (2 without a decision), after 4 to 9 of 20")
    assert "decision" not in remark_stops(stops[:1])[0]
    assert remark_stops([]) == []


def test_an_error_above_its_limit_does_not_read_as_the_limit():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE out_refinements AS SELECT 's' AS study, 'blend' AS path, "
            "65 AS stage_count, 0.0050376 AS error, 0.005 AS until, 'at_most' AS reason"
        )
        study = SimpleNamespace(study="s", names={})
        (remark,) = remark_refinements(connection, study)
    assert remark.endswith("by at most 0.00504 (required: 0.005)")
