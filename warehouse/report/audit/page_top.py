"""Top of the report: failures, what each model depends on, changes, and remarks on trust."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from decaf.errors import number_of
from decaf.foundation.number_text import limit_text, score_text
from decaf.registry.messages import AGAINST, place_of, verdict_text
from warehouse.report.audit.facts import COMPONENTS, Facts, Row
from warehouse.report.audit.pairs import strongest_address
from warehouse.report.audit.reaudit import PAST, Failure, failures_of, headline_of
from warehouse.report.audit.trust import trust_sentences
from warehouse.report.audit.verdict_rows import (
    MOST_BARS,
    Finding,
    Heading,
    finding_of,
    headings_of,
    scale_of,
)
from warehouse.report.pair_card import Card

MOST = 8
"""Most models, entries and warnings that are listed; sections below have all of them."""
HEADLINE_WORDS = {
    "decides_by": ("decides by {}", "decide by {}", "what should not matter"),
    "leans_on": ("leans on {}", "lean on {}", "what should not matter"),
    "ignores": ("ignores {}", "ignore {}", "what should matter"),
    "contradicts": ("contradicts itself", "contradict themselves", ""),
    "unstable": ("is unstable", "are unstable", ""),
    "reacts_to": ("reacts to {}", "react to {}", "what was changed"),
    "no_response": ("responds to {}", "respond to {}", "nothing that was changed"),
    "failed": ("failed", "failed", ""),
    "no_results": ("has not been scored yet", "have not been scored yet", ""),
}
"""Words by rule of ``out_findings``: for one model, for several, and for several pair types."""
DECISIONS = (
    ("not safe", "Not safe", "breaks a limit", "break a limit"),
    (
        "undecided",
        "Undecided",
        "is neither safe nor unsafe by the limits",
        "are neither safe nor unsafe",
    ),
    ("safe", "Safe by the limits of the study", "keeps them", "keep them"),
)
"""Decisions by the limits of the study, the worst first, as a headline."""
EXPECTED = ("should_matter", "should_not_matter")
AUDITED_ALIKE = ("none", "version")
"""Changes of an entry that leave its content as it was."""


class PageTop(NamedTuple):
    """Top of the page: decision, question, models and trust."""

    headline: str
    question: str
    """Question that the audit answers, in one or two sentences."""
    limit_example: str
    """Key that sets a limit, for a study with neither limits nor gates; empty for others."""
    failures: tuple[Failure, ...]
    headings: tuple[Heading, ...]
    findings: tuple[Finding, ...]
    scale: float
    """Score units at the end of the bars."""
    changes: tuple[str, ...]
    """Changes of the registry since the re-audit before, a line for each entry."""
    trust: tuple[tuple[str, str], ...]
    """Marks (``well``, ``mind`` or ``note``), each with its sentence."""


def page_top_of(facts: Facts, config: str, cards: Sequence[Card] = ()) -> PageTop:
    """Summarise the findings, gates and warnings of an audit.

    Commands for failed versions name the study's file ``config``; models link to the strongest of
    the ``cards`` of the page.
    """
    stands = [row for row in facts.standing if row.accepted_at is None]
    headings = headings_of(facts.names, facts.responses, facts.findings)
    failed = facts.failed_models
    rows = sorted(facts.findings, key=lambda row: row.model_id not in failed)
    findings = tuple(
        finding_of(facts, row, headings)._replace(pair=strongest_address(cards, row))
        for row in rows[:MOST]
    )
    bars = [bar.row for finding in findings for bar in finding.responses if bar]
    return PageTop(
        _headline(facts, stands),
        _question(facts),
        _limit_example(facts),
        failures_of(facts, config),
        headings,
        findings,
        scale_of(facts.run.score, bars),
        tuple(_changes(facts)),
        tuple(trust_sentences(facts)),
    )


def _headline(facts: Facts, stands: list[Row]) -> str:
    if len(stands) == 1:
        return headline_of(facts, stands[0])
    total = f"{sum(row.state != 'gone' for row in facts.entries)} versions in the registry"
    if stands:
        return f"{len(stands)} of {total} failed their gates"
    if count := sum(row.verdict == "undecided" and not row.accepted_at for row in facts.entries):
        return f"{count} of {total} {'is' if count == 1 else 'are'} undecided"
    if any(row.decision for row in facts.findings):
        return _decision(facts)
    by_rule: dict[str, list[Row]] = {}
    for row in facts.findings:
        by_rule.setdefault(row.rule, []).append(row)
    phrases = []
    for rule, rows in by_rule.items():
        singular, plural, of = HEADLINE_WORDS[rule]
        names = {row.pair_type_name for row in rows if row.rule != "no_response"}
        what = names.pop() if len(names) == 1 else of
        if rule == "no_response" and _moved_by_control(facts, rows):
            what = "nothing but a control"
        depends = rule in ("contradicts", "unstable") and any(row.is_firm is False for row in rows)
        at_epsilon = f" at ε = {limit_text(facts.run.epsilon)}" if depends else ""
        phrases.append((plural if len(rows) > 1 else singular).format(what) + at_epsilon)
    count = len(facts.findings)
    if count == 1:
        return f"{facts.findings[0].model_id} {phrases[0]}"
    if len(phrases) == 1:
        return f"{'Both' if count == 2 else f'All {count}'} models {phrases[0]}"
    counted = (
        f"{len(rows)} {words}" for rows, words in zip(by_rule.values(), phrases, strict=True)
    )
    return f"Of {count} models, {', '.join(counted)}"


def _moved_by_control(facts: Facts, findings: Sequence[Row]) -> bool:
    """True if a control moves one of the models by a response that counts."""
    models = {row.model_id for row in findings}
    return any(
        row.expect == "control" and row.model_id in models and row.rule != "no_response"
        for row in facts.responses
    )


def _question(facts: Facts) -> str:
    """State the changes, those with an expectation first, the sources, and the paths."""
    expected = {row.display_name for row in facts.names if row.expect in EXPECTED}
    changes = list(dict.fromkeys(row.pair_type for row in facts.pair_types))
    changes.sort(key=lambda name: name not in expected)
    models = f"{len(facts.models):,} models" if len(facts.models) != 1 else "one model"
    revealed = f", revealed by {_join_names(facts.paths)}" if facts.paths else ""
    return (
        f"how far does a change of {_join_names(changes)} move the score of {models}? "
        f"{number_of(facts.sample.source_count, 'source')}{revealed}."
    )


def _limit_example(facts: Facts) -> str:
    """Give a limit as a study sets it; empty if it has limits, gates or no results."""
    if facts.limits or facts.entries or not facts.responses:
        return ""
    kinds = [row for row in facts.names if row.kind == "pair_type" and row.expect != "control"]
    if not kinds:
        return ""
    should_matter = kinds[0].expect == "should_matter"
    limit = (
        "should_matter: {at_least: 0.5}" if should_matter else "should_not_matter: {at_most: 0.05}"
    )
    return f"expect: {{{json.dumps(kinds[0].name, ensure_ascii=False)}: {{{limit}}}}}"


def _join_names(names: Sequence[str]) -> str:
    """Join names as a sentence does; of many, the first three and the number of the others."""
    shown = [*names[:3], *([f"{len(names) - 3} more"] if len(names) > 3 else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _changes(facts: Facts) -> Iterator[str]:
    changed = [row for row in facts.entries if row.change not in AUDITED_ALIKE]
    early = {facts.ids.get(row.model_id, row.model_id) for row in facts.stops}
    for entry in changed[:MOST]:
        before = "" if entry.version_before is None else f"{entry.version_before} → "
        what = "" if entry.change == entry.state else f" ({entry.change})"
        moves = [row for row in facts.drift if row.entry == entry.entry]
        against = next((kind for kind in AGAINST if kind in {row.against for row in moves}), "")
        moves = [row for row in moves if row.against == against]
        moved = [
            f"{row.metric.replace('_', ' ')} on {place_of(row._asdict())} "
            f"{score_text(row.value_before)} → {score_text(row.value)}"
            # Components first: they show what a response became, other metrics only its size.
            for row in sorted(moves, key=lambda r: (r.metric not in COMPONENTS, -abs(r.change)))[
                :MOST_BARS
            ]
        ]
        more = f" and {len(moves) - len(moved)} more" if len(moves) > len(moved) else ""
        outcome = ""
        if entry.version_before and entry.not_compared:
            outcome = f"; not compared, because {entry.not_compared}"
        elif entry.version_before and entry.change != "returned":
            outcome = "; nothing moved by more than chance"
        if moved:
            reference = f"since version {moves[0].version_before}, {AGAINST[against]}"
            outcome = f"; {reference}: {', '.join(moved)}{more}"
        if entry.model_id in early:
            outcome = "; it was scored only as far as its gates needed"
        verdict = verdict_text(entry.verdict, entry.state) or entry.state
        verdict = PAST.get(verdict, verdict)
        yield (
            f"{entry.entry} {before}{entry.version}{what}: "
            f"{verdict}{outcome if entry.state == 'audited' else ''}"
        )
    if len(changed) > MOST:
        yield f"and {len(changed) - MOST} more"
    if facts.entries and not changed:
        yield "nothing since the re-audit before"


def _decision(facts: Facts) -> str:
    """State whether the models keep the limits of the study."""
    count, decided = len(facts.findings), Counter(row.decision for row in facts.findings)
    decision, headline, singular, plural = next(each for each in DECISIONS if decided[each[0]])
    part = decided[decision]
    subject = f"all {count} models" if part == count else f"{part} of {count} models"
    subject = facts.findings[0].model_id if count == 1 else subject
    return f"{headline}: {subject} {singular if part == 1 else plural}"
