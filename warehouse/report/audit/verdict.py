"""The top of the report: what failed, what each model goes by, what changed, what to trust."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from decaf.registry.messages import judged, place_of
from warehouse.report.audit.facts import COMPONENTS, Facts, Row
from warehouse.report.audit.trust import trust_sentences
from warehouse.report.cells import score

MOST = 8
"""Models, entries and warnings that are listed; sections below have all of them."""
MOST_BARS = 3
"""Pair types that are drawn for a model, those that should not matter first."""
SCALES = (0.1, 0.25, 0.5, 1.0)
"""What bars end at: the first that holds them all."""
SAID = {
    "decides_by": ("decides by {}", "decide by {}", "what should not matter"),
    "leans_on": ("leans on {}", "lean on {}", "what should not matter"),
    "ignores": ("ignores {}", "ignore {}", "what should matter"),
    "contradicts": ("answers against itself", "answer against themselves", ""),
    "unstable": ("is unstable", "are unstable", ""),
    "reacts_to": ("reacts to {}", "react to {}", "what was changed"),
    "no_response": ("responds to {}", "respond to {}", "nothing that was changed"),
    "no_results": ("has not been scored yet", "have not been scored yet", ""),
}
"""Rules of ``out_findings`` as what a model does, several do, and to what unless it is all one."""
DECISIONS = (
    ("not safe", "Not safe", "breaks a limit", "break a limit"),
    ("undecided", "Undecided", "may break a limit", "may break a limit"),
    ("safe", "Safe by the limits of the study", "keeps them", "keep them"),
)
"""Decisions by the limits of the study, the worst first, as a headline."""
VERBS = {"increase": "rose by", "decrease": "fell by", "at_most": "is", "at_least": "is"}
ALLOWED = {"increase": "{} is", "decrease": "{} is", "at_most": "at most {} is"}
AUDITED_ALIKE = ("none", "version")
"""Changes of an entry that leave its content as it was."""


class Response(NamedTuple):
    """Bar of one pair type on the path with the larger Abs; ``row`` is of ``responses``."""

    name: str
    expect: str
    row: Row
    path: str
    """Name of the path; empty where the study has one."""
    others: tuple[tuple[str, float], ...]
    """Other paths with their Abs, as marks on the bar."""
    limit: float | None
    """Abs that is safe at most, or wanted at least."""


class Finding(NamedTuple):
    """What one model goes by; the sentence begins with what is printed bold."""

    model: str
    """Its id, or what a registry calls it."""
    model_id: str
    """Its id where ``model`` is another name; else empty."""
    decision: str | None
    """``safe``, ``not safe`` or ``undecided`` by the limits of the study; None without any."""
    begins: str
    rest: str
    responses: tuple[Response, ...]
    doubts: tuple[str, ...]
    """Sentences on what could change the finding."""


class Failure(NamedTuple):
    """A version whose failed gates stand; a line for each rule that failed."""

    standing: Row
    lines: tuple[str, ...]
    compared: str
    """The entry and version that it was compared with; empty without one."""


class Verdict(NamedTuple):
    """What a reader who stops early leaves with."""

    headline: str
    failures: tuple[Failure, ...]
    findings: tuple[Finding, ...]
    scale: float
    """Score units at the end of the bars."""
    changes: tuple[str, ...]
    """What the registry has that it had not, a line an entry."""
    trust: tuple[tuple[str, str], ...]
    """What is ``well``, what to ``mind``, and a ``note`` on the data, each with its words."""


def verdict_of(facts: Facts) -> Verdict:
    """Say what the findings, gates and warnings of an audit come to."""
    stands = [row for row in facts.standing if row.accepted_at is None]
    drawn = [
        row.display_name
        for row in facts.names
        if row.kind == "pair_type" and row.expect != "control"
    ]
    findings = [_finding(facts, row, drawn) for row in facts.findings[:MOST]]
    bars = [bar for finding in findings for bar in finding.responses]
    largest = max((bar.row.upper_95 or bar.row.abs_response or 0.0 for bar in bars), default=1.0)
    return Verdict(
        _headline(facts, stands),
        tuple(
            Failure(row, tuple(_failed(facts, row.entry)), _compared(facts, row.entry))
            for row in stands
        ),
        tuple(findings),
        next((scale for scale in SCALES if largest <= scale), largest),
        tuple(_changes(facts)),
        tuple(trust_sentences(facts)),
    )


def _finding(facts: Facts, row: Row, pair_types: Sequence[str]) -> Finding:
    """Make the finding of a model, with bars of pair types that its responses have."""
    by_type: dict[str, list[Row]] = {}
    for response in facts.responses:
        if response.model_id == row.model_id:
            by_type.setdefault(response.pair_type, []).append(response)
    bars = [_bar(by_type[name]) for name in pair_types if name in by_type][:MOST_BARS]
    doubts = [
        doubt.sentence
        for doubt in facts.doubts
        if (doubt.model_id, doubt.pair_type) == (row.model_id, row.pair_type)
        and (doubt.path == row.path or doubt.doubt == "paths")
    ]
    begins, colon, rest = row.sentence.partition(": ")
    model_id = facts.ids.get(row.model_id, "")
    return Finding(
        row.model_id, model_id, row.decision, begins + colon, rest, tuple(bars), tuple(doubts)
    )


def _bar(on_paths: Sequence[Row]) -> Response:
    """Make the bar of one pair type: the path with the larger Abs, the others as marks."""
    row = max(on_paths, key=lambda each: each.abs_response)
    others = tuple((each.path, each.abs_response) for each in on_paths if each is not row)
    return Response(
        row.pair_type,
        row.expect.replace("_", " ") if row.expect != "unknown" else "",
        row,
        row.path if others else "",
        others,
        row.wanted_limit if row.safe_limit is None else row.safe_limit,
    )


def _headline(facts: Facts, stands: list[Row]) -> str:
    if len(stands) == 1:
        return f"{stands[0].entry}: version {stands[0].version} failed its gates"
    if stands:
        return f"{len(stands)} of {len(facts.entries)} versions in the registry failed their gates"
    if any(row.decision for row in facts.findings):
        return _decision(facts)
    by_rule: dict[str, list[Row]] = {}
    for row in facts.findings:
        by_rule.setdefault(row.rule, []).append(row)
    said = []
    for rule, rows in by_rule.items():
        one, several, of = SAID[rule]
        names = {row.pair_type_name for row in rows if row.rule != "no_response"}
        what = names.pop() if len(names) == 1 else of
        said.append((several if len(rows) > 1 else one).format(what))
    count = len(facts.findings)
    if count == 1:
        return f"{facts.findings[0].model_id} {said[0]}"
    if len(said) == 1:
        return f"{'Both' if count == 2 else f'All {count}'} models {said[0]}"
    counted = (f"{len(rows)} {words}" for rows, words in zip(by_rule.values(), said, strict=True))
    return f"Of {count} models, {', '.join(counted)}"


def _failed(facts: Facts, entry: str) -> Iterator[str]:
    """What each failed rule found of an entry, what it allows, and how far that is beyond it."""
    failed = [row for row in facts.verdicts if (row.entry, row.verdict) == (entry, "fail")]
    for row in failed[:MOST]:
        numbers = (row.found, row.lower_limit, row.upper_limit, row.gate_limit, row.beyond_by)
        if row.rule == "decrease":
            numbers = (-row.found, -row.upper_limit, -row.lower_limit, *numbers[3:])
        found, lower, upper, limit, beyond = (written(facts, value) for value in numbers)
        allowed = ALLOWED.get(row.rule, "at least {} is").format(limit)
        decided = ""
        if row.source_count is not None:
            decided = f", after {row.source_count:,} of {row.planned_source_count:,} sources"
        yield (
            f"{row.metric.replace('_', ' ')} on {place_of(row._asdict())} {VERBS[row.rule]} "
            f"{found} ({row.level:.0%}: {lower} to {upper}), {allowed} allowed: beyond it by at "
            f"least {beyond}{decided}"
        )
    if len(failed) > MOST:
        yield f"and {len(failed) - MOST} more"


def _compared(facts: Facts, entry: str) -> str:
    (row,) = (row for row in facts.entries if row.entry == entry)
    return f"{row.compared_entry} {row.version_compared}" if row.compared_entry else ""


def _changes(facts: Facts) -> Iterator[str]:
    changed = [row for row in facts.entries if row.change not in AUDITED_ALIKE]
    early = {facts.ids.get(row.model_id, row.model_id) for row in facts.stops}
    for entry in changed[:MOST]:
        before = "" if entry.version_before is None else f"{entry.version_before} → "
        what = "" if entry.change == entry.state else f" ({entry.change})"
        own = [row for row in facts.drift if row.entry == entry.entry]
        against = "last_passed" if any(row.against == "last_passed" for row in own) else "previous"
        own = [row for row in own if row.against == against]
        moved = [
            f"{row.metric.replace('_', ' ')} on {place_of(row._asdict())} "
            f"{written(facts, row.value_before)} → {written(facts, row.value)}"
            # Components say what became of a response; shares only of how much of it.
            for row in sorted(own, key=lambda r: (r.metric not in COMPONENTS, -abs(r.change)))[
                :MOST_BARS
            ]
        ]
        more = f" and {len(own) - len(moved)} more" if len(own) > len(moved) else ""
        still = "; nothing moved by more than chance" if entry.version_before else ""
        found = f"; {', '.join(moved)}{more}" if moved else still
        if entry.model_id in early:
            found = "; it was scored no further than its gates needed"
        verdict = judged(entry.verdict, entry.state) or entry.state
        yield (
            f"{entry.entry} {before}{entry.version}{what}: "
            f"{verdict}{found if entry.state == 'audited' else ''}"
        )
    if len(changed) > MOST:
        yield f"and {len(changed) - MOST} more"
    if facts.entries and not changed:
        yield "nothing since the re-audit before"


def _decision(facts: Facts) -> str:
    """Say whether the models keep the limits of the study."""
    count, decided = len(facts.findings), Counter(row.decision for row in facts.findings)
    decision, headline, one, several = next(each for each in DECISIONS if decided[each[0]])
    part = decided[decision]
    subject = f"all {count} models" if part == count else f"{part} of {count} models"
    subject = facts.findings[0].model_id if count == 1 else subject
    return f"{headline}: {subject} {one if part == 1 else several}"


def written(facts: Facts, value: float | None) -> str:
    """A score; a plain 0 where nothing was found."""
    return "0" if value == 0 else score(value, facts.decimals)
