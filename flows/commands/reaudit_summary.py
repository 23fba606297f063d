"""Summary that a re-audit prints: entries, failed gates, drift and alerts."""

from collections.abc import Mapping, Sequence
from typing import Any

from duckdb import DuckDBPyConnection
from rich.text import Text

from decaf.foundation.number_text import score_text, signed_text
from decaf.plan.study import Study
from decaf.registry.entries import LAST_PASSED
from decaf.registry.messages import (
    AGAINST,
    explain_unchanged_content,
    finding,
    place_of,
    verdict_text,
    with_shown_names,
)
from flows.commands.display import query_command, table_of
from flows.commands.remarks import (
    remark_ended,
    remark_loosened,
    remark_unapplied_limits,
    remark_warnings,
)
from flows.commands.terminal import say
from tasks.reaudit import standing as verdicts
from tasks.reaudit.events import has_events
from tasks.reaudit.judge import FALSE_DISCOVERY_RATE
from tasks.reaudit.recorded import AUDITED, COMPARED, GATES, NONE, RETURNED, VERSION
from tasks.terminal import Terminal
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.report.audit.facts import rows_of
from warehouse.storage import Storage

MOST_DRIFT = 10
"""Most rows of drift that are printed, the largest changes first."""
JUDGED_AGAIN = {
    GATES: "the gates have changed",
    COMPARED: "the version of 'compare_with:' has changed",
}
"""Changes after which stored results are judged again, and words for them."""
NOT_PASSED = {
    "fail": ", which failed its gates",
    "undecided": ", whose verdict is undecided",
    "no gate applies": ", to which no gate applied",
    None: ", which was never judged",
}
"""Words for verdicts of a version that others are compared with."""
DRIFT = (
    "FROM out_drift WHERE study = '{study}' "
    f"AND p_adjusted <= {FALSE_DISCOVERY_RATE} ORDER BY abs(change) DESC"
)


def print_summary(
    console: Terminal, store: Storage, study: Study, summary: Mapping[str, Any]
) -> None:
    """Print entries, remarks, failed gates, drift, delivered alerts and the report's file."""
    names = ("entry", "version", "before", "passed", "change", "verdict")
    table = table_of(f"{study.study}, re-audit {summary['reaudit_id'][:12]}", names, 6)
    for entry in summary["entries"]:
        verdict = verdict_text(entry["verdict"], entry["state"])
        if entry["accepted_at"]:
            verdict = "accepted"
        cells = (entry["entry"], entry["version"], *_before(entry), entry["change"], verdict)
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    _say_reasons(console, summary["entries"])
    for remark in list_remarks(store, study, summary["entries"]):
        say(console, remark)
    for verdict in verdicts.select_unaccepted(summary["standing"]):
        say(console, f"{verdict['entry']} {verdict['version']} failed its gates:")
        for row in verdict["rows"]:
            say(console, f"  {finding(row, study.names)}")
    judged_anew = {entry["entry"] for entry in summary["entries"] if _is_judged_anew(entry)}
    drift = [row for row in summary["drift"] if row["entry"] in judged_anew]
    _print_drift(console, study, drift)
    count = len(summary["alerts"])
    delivery = study.alerts.describe_delivery(count, has_events=has_events(study))
    if delivery and not summary["undelivered"]:
        say(console, delivery)
    if study.report_file and study.report_file.exists():
        say(console, f"Report: {study.report_file}")


def list_remarks(store: Storage, study: Study, entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Remarks on the versions of ``entries``: warnings, limits, ended failures, and acceptances."""
    names: dict[str, str] = {}
    for entry in entries:
        name, model_id = f"{entry['entry']} {entry['version']}", entry["model_id"]
        names[model_id] = f"{names[model_id]}, {name}" if model_id in names else name
    has_reference = study.compare_with == LAST_PASSED
    with connect_whole(store, study.study) as connection:
        return [
            *remark_warnings(rows_of(connection, "warnings", study.study), names),
            *remark_unapplied_limits(connection, study.study),
            *remark_ended(connection, study.study),
            *(remark_loosened(connection, study.study) if has_reference else ()),
            *_list_acceptances(connection, study.study),
        ]


def _list_acceptances(connection: DuckDBPyConnection, study: str) -> list[str]:
    """Lines with the user, time and reason of each acceptance that holds."""
    rows = connection.sql(query("registry/answers"), params={"study": study}).fetchall()
    return [
        f"{entry} {version} is accepted {acceptance}"
        for entry, _, version, verdict, acceptance in sorted(rows)
        if verdict == "accepted"
    ]


def _print_drift(console: Terminal, study: Study, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the largest changes, and why each version is compared with which.

    A change since a version that is compared for two reasons is printed once.
    """
    names = ("entry", "version_before", "version", "pair_type", "path", "variant", "metric")
    by_reason = sorted(rows, key=lambda row: [*AGAINST].index(row["against"]), reverse=True)
    once = {tuple(row[name] for name in names): row for row in by_reason}
    drift = sorted(once.values(), key=lambda row: -round(abs(row["change"]), 9))
    if not drift:
        return
    names = ("entry", "of", "column", "before", "now", "change", "95 % interval")
    table = table_of(
        "Changes since the compared version (false discovery rate 5 %), largest first", names, 3
    )
    reasons = {}
    for stored_row in drift[:MOST_DRIFT]:
        row = with_shown_names(stored_row, study.names)
        numbers = (score_text(row[name]) for name in ("value_before", "value"))
        interval = f"[{signed_text(row['change_lower'])}, {signed_text(row['change_upper'])}]"
        versions = f"{row['entry']} {row['version_before']} → {row['version']}"
        reasons[versions] = AGAINST[row["against"]]
        place = (Text(versions), Text(place_of(row)), row["metric"])
        table.add_row(*place, *numbers, signed_text(row["change"]), Text(interval))
    console.print(table)
    for versions, reason in reasons.items():
        say(console, f"{versions}: against {reason}")
    if len(drift) > MOST_DRIFT:
        say(console, f"and {len(drift) - MOST_DRIFT} more: {query_command(study, DRIFT)}")


def _is_judged_anew(entry: Mapping[str, Any]) -> bool:
    """True if this re-audit judged the entry; otherwise an earlier verdict stands, or none."""
    return entry["state"] == AUDITED and entry["change"] not in (NONE, VERSION, RETURNED)


def _say_reasons(console: Terminal, entries: Sequence[Mapping[str, Any]]) -> None:
    """Print why entries were judged without a model, or compared with another entry."""
    for change, reason in JUDGED_AGAIN.items():
        if again := [entry["entry"] for entry in entries if entry["change"] == change]:
            say(console, f"judged again, since {reason}: {', '.join(again)}")
    by_label = {entry["entry"]: entry for entry in entries}
    for entry in entries:
        if entry["change"] == RETURNED:
            judging = (entry[name] for name in ("version_judged", "judged_at", "verdict"))
            say(console, explain_unchanged_content(entry["entry"], entry["version"], *judging))
        elif entry["compared_entry"] and _is_judged_anew(entry):
            version = f"version {entry['version_compared']} of {entry['compared_entry']}"
            remark = _remark_reference(by_label.get(entry["compared_entry"]))
            say(console, f"{entry['entry']} {entry['version']} is compared with {version}{remark}")


def _remark_reference(compared: Mapping[str, Any] | None) -> str:
    """Warn of a version that did not pass, but that another entry is compared with."""
    if compared is None or compared["accepted_at"]:
        return ""
    return NOT_PASSED.get(compared["verdict"], "")


def _before(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["version_before"] or "", entry["version_passed"] or ""
