"""Verdicts that stand, by hand."""

from decaf.registry.gates import Judged
from tasks.reaudit.comparisons import keep_standing


def judged(pair_type, limit, verdict):
    place = ("net", "evidence", "increase", pair_type, "blend", None)
    return Judged(*place, limit, 0.95, None, None, None, verdict, None)


def test_a_failure_stands_once_where_its_gates_are_not_applicable_any_more():
    """Two gates fail on walls; then neither of them, nor that on shapes, applies."""
    failed = [judged("wall", 0.01, "fail"), judged("wall", 0.02, "fail")]
    now = [judged(row.pair_type, row.limit, "not applicable") for row in failed]
    shapes = judged("shape", 0.01, "not applicable")
    assert keep_standing([*now, shapes], failed) == [*failed, shapes]
    # What applies now is what counts.
    passed = [judged("wall", row.limit, "pass") for row in failed]
    assert keep_standing(passed, failed) == passed


def test_a_verdict_other_than_a_failure_stands_at_the_same_limit_only():
    earlier = [judged("wall", 0.01, "pass"), judged("shape", 0.01, "undecided")]
    now = [judged(name, 0.01, "not applicable") for name in ("wall", "shape", "floor")]
    assert keep_standing(now, earlier) == [*earlier, now[2]]
    stricter = [judged("wall", 0.005, "not applicable")]
    assert keep_standing(stricter, earlier) == stricter
