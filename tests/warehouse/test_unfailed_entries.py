"""Reasons for the verdicts of models without a standing failure."""

from datetime import UTC, datetime
from types import SimpleNamespace

from warehouse.report.audit.reaudit import unfailed_entries

DAY = datetime(2026, 3, 1, 8, tzinfo=UTC)


def test_models_without_a_failure_have_their_own_reasons():
    def entry(name, verdict, state="audited", accepted_at=None, problem=None):
        return SimpleNamespace(
            entry=name,
            version="1",
            verdict=verdict,
            state=state,
            accepted_at=accepted_at,
            problem=problem,
        )

    def limit(name, verdict, reason=None):
        return SimpleNamespace(entry=name, verdict=verdict, reason=reason)

    entries = [
        entry("gone", None, state="gone"),
        entry("cut", None, state="failed", problem="its card is cut"),
        entry("ungated", None),
        entry("good", "pass"),
        entry("inside", "undecided"),
        entry("constant", "undecided"),
        entry("accepted", "undecided", accepted_at=DAY),
        entry("itself", "no gate applies"),
    ]
    verdicts = [
        *(limit("good", "pass"), limit("good", "not applicable", "there is no version before it")),
        *(limit("inside", "undecided"), limit("inside", "pass")),
        limit("constant", "undecided", "its scores are constant"),
        limit("accepted", "undecided"),
        limit("itself", "not applicable", "it is compared with itself"),
    ]
    facts = SimpleNamespace(entries=entries, verdicts=verdicts, standing=[], stops=[1])
    found = {row.entry: row for row in unfailed_entries(facts, "c.yaml")}
    expected = {
        "gone": "no longer lists it",
        "cut": "its card is cut",
        "ungated": "no gates",
        "good": "1 limit passed.",
        "inside": "1 limit passed, 1 undecided; a limit lies inside",
        "constant": "1 limit undecided; its scores are constant.",
        "accepted": "accepted on 2026-03-01 08:00 UTC",
        "itself": "No gate applies; it is compared with itself.",
    }
    assert {name: words in found[name].words for name, words in expected.items()} == dict.fromkeys(
        expected, True
    )
    with_command = {name for name, row in found.items() if row.command}
    assert with_command == {"inside"}
