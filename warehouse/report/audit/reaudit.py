"""The re-audit on a page: what failed, what to do, both versions, and the strip of versions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from shlex import quote
from typing import NamedTuple

from decaf.foundation.number_text import percent_text, score_text
from decaf.registry.messages import AGAINST, accepting, place_of
from warehouse.report.audit.facts import Facts, Row
from warehouse.report.audit.versions import Versions, bars_of, bars_of_versions

MOST = 8
"""Most rules, other models and versions that are listed."""
VERBS = {"increase": "rose by", "decrease": "fell by", "at_most": "is", "at_least": "is"}
ALLOWED = {"increase": "{} is", "decrease": "{} is", "at_most": "at most {} is"}
BADGES = {
    "fail": ("failed", "✕ Failed"),
    "pass": ("passed", "✓ Passed"),
    "undecided": ("undecided", "◐ Undecided"),
}
NOT_APPLICABLE = ("none", "– Not applicable")
INSIDE = "a limit lies inside its interval, so more sources may decide it"
"""Reason of an undecided limit that stores no other."""
PAST = {"fail": "failed", "pass": "passed", "undecided": "undecided"}


class Action(NamedTuple):
    """One thing to do, with the commands that do it."""

    title: str
    words: str
    commands: tuple[str, ...]


class Failure(NamedTuple):
    """A version with a standing failure; a line for each failed rule."""

    standing: Row
    headline: str
    counts: str
    lines: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    actions: tuple[Action, ...]


class Span(NamedTuple):
    """One version on the strip; places are percentages from the left."""

    version: str
    words: str
    kind: str
    since: datetime
    start: float
    width: float
    is_first_bad: bool


class Strip(NamedTuple):
    """Versions of every model of a registry over time."""

    title: str
    entries: tuple[tuple[str, tuple[Span, ...]], ...]
    begins: datetime
    ends: datetime

    @property
    def is_first_bad_drawn(self) -> bool:
        """True if the first bad version is drawn; False if there is none or it is too old."""
        return any(span.is_first_bad for _, spans in self.entries for span in spans)


class UnfailedEntry(NamedTuple):
    """A model without a standing failure."""

    entry: str
    version: str
    badge: tuple[str, str]
    words: str
    command: str


def badge_of(verdict: str | None) -> tuple[str, str]:
    """Shape and words for a stored verdict."""
    return BADGES.get(verdict or "", NOT_APPLICABLE)


def failures_of(facts: Facts, config: str) -> tuple[Failure, ...]:
    """Versions with standing failures, with the next commands on the study's file."""
    stands = [row for row in facts.standing if row.accepted_at is None]
    return tuple(
        Failure(
            row,
            headline_of(facts, row),
            count_gates(facts, row.entry),
            tuple(_describe_failures(facts, row.entry)),
            tuple(_facts_of(facts, row)),
            tuple(_actions(row, config, can_score_more=bool(facts.stops))),
        )
        for row in stands
    )


def headline_of(facts: Facts, row: Row) -> str:
    """State what not to deploy, and what to keep instead."""
    subject = f"version {row.version} of {row.entry}"
    if not row.is_followed:
        return f"{subject[0].upper()}{subject[1:]} failed its gates"
    if row.version_passed:
        passed_version = f"version {row.version_passed}, {AGAINST['last_passed']}"
        return f"Do not deploy {subject}. Keep {passed_version}."
    if passed_entry := _passed_elsewhere(facts, row):
        passed_version = f"version {passed_entry.version} ({passed_entry.entry})"
        return f"Do not deploy {subject}. Keep {passed_version}, which passed."
    return f"Do not deploy {subject}. No version before it passed or was accepted."


def _passed_elsewhere(facts: Facts, row: Row) -> Row | None:
    """Entry of the same model, such as its champion, with another version that passed; or None."""
    name = row.entry.partition("@")[0]
    same_model = (each for each in facts.entries if each.entry.partition("@")[0] == name)
    passed = (each for each in same_model if each.verdict == "pass")
    return next((each for each in passed if each.version != row.version), None)


def count_gates(facts: Facts, entry: str | None = None) -> str:
    """Count the limits of gates by verdict, as '3 limits failed, 2 passed, 1 undecided'."""
    rows = [row for row in facts.verdicts if entry in (None, row.entry)]
    counts = Counter(row.verdict for row in rows)
    phrases = [f"{counts[verdict]} {words}" for verdict, words in PAST.items() if counts[verdict]]
    if not phrases:
        return "No gate applies"
    number, _, words = phrases[0].partition(" ")
    noun = "limit" if number == "1" else "limits"
    return ", ".join([f"{number} {noun} {words}", *phrases[1:]])


def _describe_failures(facts: Facts, entry: str) -> Iterator[str]:
    """State for each failed rule its value, its limit, and the distance between both."""
    failed = [row for row in facts.verdicts if (row.entry, row.verdict) == (entry, "fail")]
    for row in failed[:MOST]:
        numbers = (row.found, row.lower_limit, row.upper_limit, row.gate_limit, row.beyond_by)
        if row.rule == "decrease":
            numbers = (-row.found, -row.upper_limit, -row.lower_limit, *numbers[3:])
        measured, lower, upper, limit, beyond = (score_text(value) for value in numbers)
        allowed = ALLOWED.get(row.rule, "at least {} is").format(limit)
        decided = ""
        if row.source_count is not None:
            decided = f", after {row.source_count:,} of {row.planned_source_count:,} sources"
        standing = f"; {row.reason}" if row.reason else ""
        yield (
            f"{row.metric.replace('_', ' ')} on {place_of(row._asdict())} {VERBS[row.rule]} "
            f"{measured} ({percent_text(row.level)}: {lower} to {upper}), {allowed} allowed: "
            f"beyond it by at least {beyond}{decided}{standing}"
        )
    if len(failed) > MOST:
        yield f"and {len(failed) - MOST} more"


def _facts_of(facts: Facts, row: Row) -> Iterator[tuple[str, str]]:
    since = row.entry_failing_since if row.is_followed else row.content_failed_since
    yield "Failing since" if row.is_followed else "Failed at", f"{since:%Y-%m-%d %H:%M} UTC"
    entry = next((each for each in facts.entries if each.entry == row.entry), None)
    if row.is_followed:
        yield "Last that passed or was accepted", row.version_passed or "none before it"
    elif entry and entry.compared_entry:
        yield "Compared with", f"{entry.compared_entry} {entry.version_compared}"
    if entry and entry.change:
        yield "What changed", entry.change
    yield "Alerts delivered before this page", f"{row.alert_count or 0:,}"


def _actions(row: Row, config: str, *, can_score_more: bool) -> Iterator[Action]:
    file = quote(config)
    if row.is_followed and row.version_passed:
        yield Action(
            f"Keep version {row.version_passed}",
            "Point the registry at it again, or register a version that passes. To see all "
            "versions and their verdicts:",
            (f"decaf history {quote(row.entry)}",),
        )
        yield Action(
            "Look closer",
            "Compare both versions pair by pair"
            + (", or score all sources." if can_score_more else "."),
            (
                f"decaf report {file} --against {quote(row.version_passed)}",
                *([f"decaf reaudit {file} --to-the-end"] if can_score_more else []),
            ),
        )
    else:
        yield Action(
            "Look closer",
            "List all versions and their verdicts.",
            (f"decaf history {quote(row.entry)}",),
        )
    if row.is_followed:
        yield Action(
            f"Accept version {row.version} all the same",
            "Your name, the time and the reason are kept.",
            (accepting(config, row.entry),),
        )
    else:
        yield Action(
            "Nothing to accept",
            "`--entry` named this version, which the study does not follow.",
            (),
        )


def versions_side_by_side(facts: Facts, failure: Failure) -> Versions | None:
    """Bars of the last version that passed or was accepted, and of the failed one; else None."""
    standing = failure.standing
    names = [name for name in (standing.version_passed, standing.version) if name]
    history = [row for row in facts.history if row.entry == standing.entry]
    bars = {name: bars_of([row for row in history if row.version == name]) for name in names}
    failed = [row for row in facts.verdicts if (row.entry, row.verdict) == (standing.entry, "fail")]
    versions = bars_of_versions(bars, facts.names, failed, facts.run.score)
    return versions if len(versions.findings) == 2 else None


def strip_of(facts: Facts) -> Strip | None:
    """Strip of all versions with their verdicts; None without two moments."""
    moments = [row.resolved_at for row in facts.versions]
    ends = max([*moments, *(row.resolved_at for row in facts.entries)], default=None)
    if not moments or ends is None or min(moments) == ends:
        return None
    begins = min(moments)
    length = (ends - begins).total_seconds() * 1.08
    entries: dict[str, list[Row]] = {}
    for row in facts.versions:
        entries.setdefault(row.entry, []).append(row)
    stands = {row.entry for row in facts.standing if row.accepted_at is None}
    shown = sorted(entries, key=lambda entry: (entry not in stands, entry))[:MOST]
    strips, title = [], "Versions"
    for entry in shown:
        rows = entries[entry][-MOST:]
        first_bad = _first_bad(entries[entry]) if entry in stands else None
        spans = []
        for row, after in zip(rows, [*rows[1:], None], strict=True):
            until = after.resolved_at if after else None
            start = 100 * (row.resolved_at - begins).total_seconds() / length
            stop = 100 * (until - begins).total_seconds() / length if until else 100.0
            kind, words = badge_of(row.verdict)
            is_first_bad = row is first_bad
            spans.append(
                Span(
                    row.version,
                    words,
                    kind,
                    row.resolved_at,
                    round(start, 2),
                    round(stop - start, 2),
                    is_first_bad,
                )
            )
        strips.append((entry, tuple(spans)))
        if first_bad is not None and title == "Versions":
            title = f"Version {first_bad.version} of {entry} is the first bad one"
    return Strip(title, tuple(strips), begins, ends)


def _first_bad(rows: Sequence[Row]) -> Row | None:
    """First failed version after the last one that passed or was accepted."""
    bad = None
    for row in reversed(rows):
        if row.verdict == "pass" or row.accepted_at is not None:
            break
        if row.verdict == "fail":
            bad = row
    return bad


def unfailed_entries(facts: Facts, config: str) -> list[UnfailedEntry]:
    """Models of the registry without a standing failure."""
    stands = {row.entry for row in facts.standing if row.accepted_at is None}
    accepted = {row.entry: row for row in facts.standing if row.accepted_at is not None}
    unfailed = []
    for row in facts.entries:
        if row.entry in stands:
            continue
        reasons, command = _undecided_reasons(facts, row), ""
        if row.state == "gone":
            words = "The registry no longer lists it."
        elif row.entry in accepted:
            words = f"{accepted[row.entry].accepted_by} accepted it: {accepted[row.entry].why}"
        elif row.accepted_at is not None:
            words = f"It was accepted on {row.accepted_at:%Y-%m-%d %H:%M} UTC."
        elif row.state == "failed":
            words = row.problem
        else:
            counts = "It has no gates" if row.verdict is None else count_gates(facts, row.entry)
            words = "; ".join(filter(None, [counts, *reasons, row.problem])) + "."
            if facts.stops and INSIDE in reasons:
                command = f"decaf reaudit {quote(config)} --to-the-end"
        entry = UnfailedEntry(row.entry, row.version, badge_of(row.verdict), words, command)
        unfailed.append(entry)
    return unfailed


def _undecided_reasons(facts: Facts, entry: Row) -> list[str]:
    """Distinct reasons why limits do not decide; empty for an entry that passed."""
    verdict = "not applicable" if entry.verdict == "no gate applies" else entry.verdict
    open_rows = [
        row
        for row in facts.verdicts
        if (row.entry, row.verdict) == (entry.entry, verdict) and verdict != "pass"
    ]
    return [*dict.fromkeys(row.reason or INSIDE for row in open_rows)][:MOST]
