"""Remarks and error of a re-audit in which entries differ in their verdict."""

from types import SimpleNamespace

import pytest

from decaf.errors import GatesFailed
from decaf.registry.messages import describe_undecided
from flows.commands.reaudit_outcome import find_outcome


def verdict(entry, word, **more):
    row = {
        **{"entry": entry, "metric": "accuracy", "rule": "at_least", "pair_type": None},
        **{"path": None, "variant": None, "gate_limit": 0.7, "found": 0.705, "level": 0.95},
        **{"lower_limit": 0.691, "upper_limit": 0.719, "verdict": word, "reason": None},
        **{"source_count": None, "planned_source_count": None},
    }
    moment = "2026-03-01T08:00:00"
    return {
        **{"entry": entry, "version": "1", "verdict": word, "is_followed": True, "rows": [row]},
        **{"accepted_at": None, "failed_gates": ["accuracy"], "content_failed_since": moment},
        **{"entry_failing_since": moment, "is_compared_with": False},
        **more,
    }


def outcome(only=()):
    summary = {
        "entries": [],
        "standing": [verdict("bad", "fail")],
        "undecided": [verdict("open", "undecided")],
        "undelivered": [],
    }
    study = SimpleNamespace(gates={"accuracy": ()}, names={}, undecided="fail", compare_with="")
    return find_outcome(study, summary, "nightly.yaml", only, only, [])


def test_reasons_of_undecided_verdicts_are_told_beside_a_failure():
    remarks, error = outcome()
    assert isinstance(error, GatesFailed)
    assert "open" not in str(error)
    assert len(remarks) == 1
    assert "open 1" in remarks[0]
    assert "0.691" in remarks[0]
    assert "0.691" not in outcome(["bad"]).remarks[0]


@pytest.mark.parametrize(
    ("verdict_of_other", "proposes_pairs"), [("undecided", False), ("not applicable", True)]
)
def test_more_pairs_are_proposed_only_if_they_could_decide(verdict_of_other, proposes_pairs):
    open_verdict = verdict("open", "undecided")
    (row,) = open_verdict["rows"]
    unmeasured = {"lower_limit": None, "upper_limit": None, "reason": "all scores are equal"}
    open_verdict["rows"].append(row | unmeasured | {"verdict": verdict_of_other})
    text = describe_undecided(open_verdict, "nightly.yaml")
    assert ("more pairs" in text) is proposes_pairs
