"""The top of the report: what failed, what each model goes by, what changed, what to trust."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from decaf.data.class_ids import GUESSED
from decaf.registry.messages import judged, place_of
from warehouse.report.audit.facts import COMPONENTS, Facts, Row
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
VERBS = {"increase": "rose by", "decrease": "fell by", "at_most": "is", "at_least": "is"}
ALLOWED = {"increase": "{} is", "decrease": "{} is", "at_most": "at most {} is"}
AUDITED_ALIKE = ("none", "version")
"""Changes of an entry that leave its content as it was."""


class Response(NamedTuple):
    """The bar of one pair type; ``row`` is a profile, the limits are those of Abs, or None."""

    name: str
    expect: str
    row: Row
    lower: float | None
    upper: float | None


class Finding(NamedTuple):
    """What one model goes by; the sentence begins with what is printed bold."""

    model: str
    """Its id, or what a registry calls it."""
    model_id: str
    """Its id where ``model`` is another name; else empty."""
    begins: str
    rest: str
    responses: tuple[Response, ...]


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
    ids = facts.ids
    stands = [row for row in facts.standing if row.accepted_at is None]
    limits = {
        (row.model_id, row.pair_type, row.path): (row.lower_95, row.upper_95)
        for row in facts.intervals
        if row.metric == "abs_response"
    }
    profiles = {(row.model_id, row.pair_type, row.path): row for row in facts.profiles}
    types = facts.profiled_types[:MOST_BARS]
    drawn = [row for row in facts.names if row.kind == "pair_type" and row.display_name in types]
    findings = []
    for row in facts.findings[:MOST]:
        keys = [(row.model_id, one.display_name, row.path) for one in drawn]
        responses = tuple(
            Response(
                one.display_name,
                one.expect.replace("_", " ") if one.expect != "unknown" else "",
                profiles[key],
                *limits.get(key, (None, None)),
            )
            for one, key in zip(drawn, keys, strict=True)
            if key in profiles
        )
        begins, colon, rest = row.sentence.partition(": ")
        model_id = ids.get(row.model_id, "")
        findings.append(Finding(row.model_id, model_id, begins + colon, rest, responses))
    bars = [bar for finding in findings for bar in finding.responses]
    largest = max((bar.upper or bar.row.abs_response or 0.0 for bar in bars), default=1.0)
    return Verdict(
        _headline(facts, stands),
        tuple(
            Failure(row, tuple(_failed(facts, row.entry)), _compared(facts, row.entry))
            for row in stands
        ),
        tuple(findings),
        next((scale for scale in SCALES if largest <= scale), largest),
        tuple(_changes(facts)),
        tuple(_trust(facts)),
    )


def _headline(facts: Facts, stands: list[Row]) -> str:
    if len(stands) == 1:
        return f"{stands[0].entry}: version {stands[0].version} failed its gates"
    if stands:
        return f"{len(stands)} of {len(facts.entries)} versions in the registry failed their gates"
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


def _trust(facts: Facts) -> Iterator[tuple[str, str]]:
    first = [row for row in facts.warnings if _doubts_classes(row)]
    for row in first[:MOST]:
        yield "mind", f"{row.model_id or 'All models'}: {row.detail}"
    done, planned = facts.progress.scored_count, facts.progress.block_count
    if done < planned:
        yield "mind", f"{planned - done} of {planned} blocks are not scored yet."
    else:
        checked = ", and every check passed" if facts.run.is_finished else ""
        yield "well", f"Nothing is missing: {planned} of {planned} blocks are scored{checked}."
    if not any(row.warning == "quarantined" for row in facts.warnings):
        yield "well", "No trajectory is quarantined."
    yield from _trust_in_gates(facts)
    warnings = [row for row in facts.warnings if row not in first]
    for row in warnings[:MOST]:
        count = "" if row.affected_count is None else f"{row.affected_count:,} "
        if row.warning == "remark":
            yield "note", f"{count}{row.detail}"
        else:
            yield "mind", f"{row.model_id or 'All models'}: {count}{row.detail}"
    if hidden := len(first[MOST:]) + len(warnings[MOST:]):
        yield "mind", f"{hidden} more warnings"


def _doubts_classes(row: Row) -> bool:
    """True for a warning that scores may be those of other classes: it stands before all others."""
    is_guess = row.warning == "remark" and GUESSED in row.detail
    return is_guess or row.warning == "below_chance"


def _trust_in_gates(facts: Facts) -> Iterator[tuple[str, str]]:
    for entry in facts.entries:
        if entry.state != "audited" and entry.problem:
            yield "mind", f"{entry.entry} {entry.version} is not audited: {entry.problem}"
    unsure = Counter(row.entry for row in facts.verdicts if row.verdict == "not enough evidence")
    for name, count in unsure.items():
        yield "mind", f"{name}: not enough evidence for {count} rows of its gates."
    for row in facts.standing:
        if row.accepted_at is not None:
            who = f"{row.accepted_by} accepted it: {row.why}"
            yield "mind", f"{row.entry} {row.version} failed its gates, and {who}"
    if any(row.verdict == "pass" for row in facts.entries) and not (facts.standing or unsure):
        yield "well", "Every gate that applies passed."


def written(facts: Facts, value: float | None) -> str:
    """A score; a plain 0 where nothing was found."""
    return "0" if value == 0 else score(value, facts.decimals)
