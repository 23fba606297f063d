"""Messages about a re-audit: sentences, and the bodies that Slack and Teams take."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from decaf.errors import abridge, number_of
from decaf.foundation.names import metric_name, shown_name
from decaf.foundation.number_text import limit_text, percent_text, score_text, signed_text

MOST_ALERTS = 15
"""Most alerts of one body."""
MOST_ROWS = 5
"""Most findings of one message."""
MOST_LETTERS = 1200
"""Most letters of one message; Slack takes 3,000 in a section, Teams 28 kB in a card."""
TITLE_LETTERS = 150
"""Most letters of a title; the most that Slack takes."""
FOUND_AND_ALLOWED = {
    "increase": ("a change of ", "at most +"),
    "decrease": ("a change of ", "at least −"),
    "at_most": ("", "at most "),
    "at_least": ("", "at least "),
}
"""Words before the finding of a rule, and before its limit."""
AGAINST = {
    "another_entry": "the entry that the gates compare with",
    "last_passed": "the last that passed or was accepted",
    "previous": "the version before, which does not count as passed",
}
"""Words for the versions that a changed version is compared with, in order of precedence."""
NO_VERSION = "version before it"
"""Words that every reason of a gate without an earlier version has (``entry_versions``)."""
CARD = "application/vnd.microsoft.card.adaptive"
CARD_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"


def place_of(row: Mapping[str, Any]) -> str:
    """Words for the place where a row of drift or a verdict was measured."""
    kind = row["variant"]
    place = ", ".join(name for name in (row["pair_type"], row["path"]) if name)
    return f"{kind!r} inputs" if kind else place or "all pairs"


def with_shown_names(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Copy a row of drift or a verdict with display names of its pair type, path and metric.

    ``names`` are those that the study sets.
    """
    named = {key: shown_name(row[key], names) for key in ("pair_type", "path") if row[key]}
    return {**row, "metric": metric_name(row["metric"])} | named


def finding(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """State the finding and the limit of a gate, or the reason for no finding.

    Changes and their limits have signs. ``names`` are the display names that the study sets.
    """
    row = with_shown_names(row, names)
    if row["lower_limit"] is None:
        return f"{row['metric']}, {place_of(row)}: {row['reason']}"
    found_words, allowed = FOUND_AND_ALLOWED[row["rule"]]
    number = signed_text if found_words else score_text
    scored_count, planned = row["source_count"], row["planned_source_count"]
    decided = f"; decided after {scored_count:,} of {planned:,} sources" if scored_count else ""
    decided += f"; {row['reason']}" if row.get("reason") else ""
    return (
        f"{row['metric']}, {place_of(row)}: found {found_words}{number(row['found'])} "
        f"[{number(row['lower_limit'])}, {number(row['upper_limit'])}] "
        f"at {percent_text(row['level'])}, "
        f"{allowed}{limit_text(row['gate_limit'])} is allowed{decided}"
    )


def accepting(config: str, entry: str) -> str:
    """Command that accepts the verdict of an entry."""
    return f"decaf accept {shlex.quote(config)} {shlex.quote(entry)} --why TEXT"


def verdict_text(verdict: str | None, state: str) -> str:
    """Verdict on an entry, or why there is none; empty for an audit without gates."""
    return verdict or {"audited": "", "failed": "not audited"}.get(state, state)


def remark_skipped(name: str, last: str, latest: str, audited: Collection[str]) -> str:
    """Remark on numbers between the last audited version and the latest one; else empty.

    ``audited`` are all versions of the entry that were audited, or failed to be, at some time.

    >>> remark_skipped("net", "9", "13", ["10"])
    'net: left out versions 11 to 12; --entry net@11 audits version 11, if it still exists'
    """
    if not (last.isdecimal() and latest.isdecimal()):
        return ""
    numbers = {int(version) for version in audited if version.isdecimal()}
    first, end = int(last) + 1, int(latest) - 1
    while first in numbers:
        first += 1
    while end in numbers:
        end -= 1
    if first > end:
        return ""
    versions = f"version {first}" if first == end else f"versions {first} to {end}"
    if between := sorted(number for number in numbers if first < number < end):
        versions += f" except {abridge([*map(str, between)])}"
    return (
        f"{name}: left out {versions}; --entry {name}@{first} audits version {first}, if it still "
        "exists"
    )


def explain_unchanged_content(
    entry: str, version: str, version_judged: str, moment: str, verdict: str
) -> str:
    """Explain that a version is not judged again, since its content was judged before.

    >>> explain_unchanged_content("net", "4", "2", "2026-03-01T08:00:59", "pass")
    'net 4 has the content of version 2, which passed on 2026-03-01 08:00 UTC: its verdict stands'
    """
    how = f"passed on {minute(moment)}"
    if verdict != "pass":
        how = f"was judged on {minute(moment)}, and accepted later"
    of = "" if version == version_judged else f" has the content of version {version_judged}, which"
    return f"{entry} {version}{of} {how}: its verdict stands"


def minute(moment: str) -> str:
    """A moment of UTC in ISO's form, as people read it.

    >>> minute("2026-03-01T08:00:59+00:00")
    '2026-03-01 08:00 UTC'
    """
    return f"{moment[:16].replace('T', ' ')} UTC"


def describe_standing(verdict: Mapping[str, Any], config: str) -> str:
    """Describe a standing verdict; only a verdict on a followed version can be accepted."""
    entry, version = verdict["entry"], verdict["version"]
    answer = f"; accept with {accepting(config, entry)}"
    if not verdict["is_followed"]:
        answer = "; this version is not followed, so it cannot be accepted"
    gates = ", ".join(map(metric_name, verdict["failed_gates"]))
    return f"{entry} {version} failed {gates} {_since(verdict)}{answer}"


def _since(verdict: Mapping[str, Any]) -> str:
    """Since when this content has failed, and the entry, if earlier versions failed."""
    # A content that failed long ago may have been good, or accepted, in between.
    words = f"since {minute(max(verdict['content_failed_since'], verdict['entry_failing_since']))}"
    if verdict["entry_failing_since"] < verdict["content_failed_since"]:
        words += f" (no version has passed since {minute(verdict['entry_failing_since'])})"
    return words


def describe_undecided(verdict: Mapping[str, Any], config: str) -> str:
    """State in one line why a verdict is undecided, and how to decide it."""
    subject = f"{verdict['entry']} {verdict['version']}"
    if verdict["verdict"] is None:
        state = "it failed its gates, and the study has no gates now; restore 'gates:'"
    elif verdict["verdict"] == "no gate applies":
        state = "no gate applies, for the reasons below; limit a value with at_most or at_least"
    elif any(
        row["lower_limit"] is None for row in verdict["rows"] if row["verdict"] == "undecided"
    ):
        state = "undecided, for the reasons below"
    else:
        state = "undecided, since the limit is inside the interval; to decide it, audit more pairs"
    answer = f", or accept with {accepting(config, verdict['entry'])}"
    return f"{subject}: {state}{answer if verdict['is_followed'] else ''}"


def message(alert: Mapping[str, Any], report: str, config: str, names: Mapping[str, str]) -> str:
    """Alert in sentences: event, findings, report, and how to answer.

    ``names`` are the display names that the study sets.
    """
    if alert["kind"] == "registry.failed":
        return f"The registry cannot be read, so nothing was audited: {alert['problem']}"
    subject = f"{alert['entry']} version {alert['version']}"
    if alert["kind"] == "entry.failed":
        return f"{subject} cannot be audited: {alert['problem']}"
    if alert["kind"] == "entry.moved":
        return f"{subject}: {alert['problem']}"
    rows = [f"  {finding(row, names)}" for row in alert["rows"][:MOST_ROWS]]
    if more := len(alert["rows"]) - len(rows):
        rows.append(f"  and {more} more")
    if pair := alert["strongest_pair"]:
        place = ", ".join(shown_name(pair[name], names) for name in ("pair_type", "path"))
        value = f"{pair['component']} {score_text(pair['value'])}"
        rows.append(f"Strongest pair: {pair['pair_id']} ({place}), {value}")
    breaks = "still breaks" if alert["kind"] == "gate.standing" else "has broken"
    limits = number_of(len(alert["rows"]), "limit")
    before, passed = alert["version_before"], alert["version_passed"]
    compared = f", compared with version {before}" if before else ""
    head = f"{subject} {breaks} {limits} {_since(alert)}{compared}:"
    if passed:
        rows.append(f"Keep version {passed}, the last that passed or was accepted.")
    if report:
        rows.append(f"Report: {report}")
    accept = f"To accept version {alert['version']}: {accepting(config, alert['entry'])}"
    return "\n".join([head, *rows, accept])


def title_of(content: Mapping[str, Any]) -> str:
    """Headline of the alerts of one re-audit."""
    return f"decaf, study {content['study']}: {number_of(len(content['alerts']), 'alert')}"


def slack(content: Mapping[str, Any]) -> dict[str, Any]:
    """Body for a Slack webhook; names in it are neither markup nor mentions."""
    title, texts = title_of(content), _texts(content)
    blocks = [{"type": "header", "text": _plain(title[:TITLE_LETTERS])}]
    blocks += [{"type": "section", "text": _plain(text)} for text in texts]
    text = "\n".join([title, *(text.partition("\n")[0].removesuffix(":") for text in texts)])
    for sign, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, escaped)
    return {"text": text, "blocks": blocks}


def teams(content: Mapping[str, Any]) -> dict[str, Any]:
    """Adaptive card for the webhook of a Teams workflow; its texts have no markup."""
    title = {"type": "TextRun", "text": title_of(content), "weight": "Bolder"}
    body: list[dict[str, Any]] = [{"type": "RichTextBlock", "inlines": [title]}]
    for text in _texts(content):
        first, *lines = text.splitlines()
        body.append({"type": "RichTextBlock", "inlines": [_run(first)], "separator": True})
        body += [{"type": "RichTextBlock", "inlines": [_run(line)]} for line in lines]
    card = {"$schema": CARD_SCHEMA, "type": "AdaptiveCard", "version": "1.4", "body": body}
    attachment = {"contentType": CARD, "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _texts(content: Mapping[str, Any]) -> Sequence[str]:
    alerts = content["alerts"]
    texts = [_shorten(alert["message"]) for alert in alerts[:MOST_ALERTS]]
    return texts + [f"and {len(alerts) - MOST_ALERTS} more"] * (len(alerts) > MOST_ALERTS)


def _shorten(text: str) -> str:
    """Message cut to the limit, with its last line, which says how to answer."""
    if len(text) <= MOST_LETTERS:
        return text
    body, _, last = text.rpartition("\n")
    room = MOST_LETTERS - len(last) - len(" …\n")
    return f"{body[:room]} …\n{last}" if room > 0 else text[:MOST_LETTERS]


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _run(text: str) -> dict[str, str]:
    return {"type": "TextRun", "text": text}
