"""Verdicts that stand, by hand."""

from decaf.registry.gates import Judged
from tasks.reaudit.judge import keep_standing_failures


def judged(pair_type, limit, verdict):
    place = ("net", "evidence", "increase", pair_type, "blend", None)
    return Judged(*place, limit, 0.95, None, None, None, verdict, None)


def test_a_failure_stands_once_where_its_gates_are_not_applicable_any_more():
    """Two gates fail on walls; then neither of them, nor that on shapes, applies."""
    failed = [judged("wall", 0.01, "fail"), judged("wall", 0.02, "fail")]
    now = [judged(row.pair_type, row.limit, "not applicable") for row in failed]
    shapes = judged("shape", 0.01, "not applicable")
    assert keep_standing_failures([*now, shapes], failed) == [*failed, shapes]
    # What applies now is what counts.
    passed = [judged("wall", row.limit, "pass") for row in failed]
    assert keep_standing_failures(passed, failed) == passed
