"""Send the alerts and events of the newest re-audit, after it is committed."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa

from decaf.errors import AlertFailed
from decaf.foundation.digests import json_sha256, short
from decaf.plan.study import Study
from decaf.registry.alerts import append, run, send
from decaf.registry.entries import PREVIOUS
from decaf.registry.messages import message
from tasks.reaudit.events import emit, has_events
from tasks.reaudit.judge import summary
from tasks.reaudit.recorded import ALERTS, AUDITED, FAILED, list_newly_failed
from tasks.reaudit.standing import find_strongest_pairs, list_due_alerts
from tasks.reaudit.write_back import write_answers, write_results
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.storage import Storage
from warehouse.tables.declarations import TABLES

PARTIAL = "-partial"
"""End of the key of a receipt that names the channels of a delivery that did not fail."""


def notify(store: Storage, study: Study, config: str) -> dict[str, Any]:
    """Send the alerts of the newest re-audit once, and reminders of standing failures.

    Without a receiver, an alert of a failed verdict stays due: the first receiver gets it.
    Messages name the study's file ``config``. If a channel fails, the others are still used, and
    the next call uses only those that have not taken the same alerts. If the process is killed in
    between, a receiver may get an alert twice, but always gets it. Returns the summary with the
    alerts and, as ``undelivered``, an error message for each channel that failed.
    """
    content, settings, now = summary(store, study), study.alerts, datetime.now(UTC)
    reaudit_id, keys = content["reaudit_id"], receipts.keys(store, ALERTS, study.study)
    is_new, is_heard = reaudit_id not in keys, settings.has_receivers or has_events(study)
    alerts = list_due_alerts(content["standing"], settings, now) if is_new or is_heard else []
    if alerts:
        pairs = find_strongest_pairs(store, study.study)
        alerts = [alert | {"strongest_pair": pairs.get(alert["entry"])} for alert in alerts]
    if is_new:
        alerts += _entry_alerts(content["entries"], list_newly_failed(store, study.study, keys))
    content = {
        **content,
        "changed": is_new,
        "alerts": _add_messages(study, config, content, alerts),
    }
    if not is_new:
        write_answers(store, study)
    if not (is_new or alerts):
        return content | {"undelivered": []}
    delivery = reaudit_id
    if not is_new:  # reminders of one re-audit are numbered
        complete_keys = [key for key in keys if not key.endswith(PARTIAL)]
        delivery += f"-{sum(key.startswith(reaudit_id) for key in complete_keys)}"
    channels: dict[str, Callable[[], None]] = {}
    if settings.events:
        channels["events"] = partial(_emit_events, study, reaudit_id, content["alerts"])
    if is_new and study.registry.keeps_results:
        channels["results"] = partial(write_results, store, study, reaudit_id)
    if alerts:
        channels |= _receivers(study, delivery, content)
    named_alerts = [[alert["kind"], alert["entry"]] for alert in alerts]
    channels = {json_sha256([name, named_alerts]): call for name, call in channels.items()}
    if failures := _deliver_rest(store, study, f"{delivery}{PARTIAL}", channels, keys):
        return content | {"undelivered": failures}
    delivered_at = datetime.now(UTC)
    rows = [
        {"delivery": delivery, "delivered_at": delivered_at, "entry": alert["entry"]}
        | {"reaudit_id": alert.get("reaudit_id", reaudit_id), "kind": alert["kind"]}
        for alert in alerts
        if is_heard
    ]
    table = pa.Table.from_pylist(rows, schema=TABLES[ALERTS].schema)
    commit(store, ALERTS, study.study, delivery, {ALERTS: table})
    return content | {"undelivered": []}


def notify_unreachable(study: Study, config: str, problem: str) -> None:
    """Deliver an alert that the registry cannot be reached."""
    now = datetime.now(UTC).isoformat()
    content = {"study": study.study, "resolved_at": now}
    alerts = _add_messages(
        study, config, content, [{"kind": "registry.failed", "problem": problem}]
    )
    content["alerts"] = alerts
    receivers = _receivers(study, short(json_sha256(content)), content)
    if failures := [failure for call in receivers.values() if (failure := _try_delivery(call))]:
        raise AlertFailed("\n  ".join(failures))


def _entry_alerts(
    entries: list[dict[str, Any]], newly_failed: Collection[str]
) -> list[dict[str, Any]]:
    """Alerts of entries that failed for a new reason, or moved during the re-audit."""
    alerts = []
    for entry in entries:
        details = {name: entry[name] for name in ("entry", "version", "problem")}
        if entry["state"] == FAILED and entry["entry"] in newly_failed:
            alerts.append({"kind": "entry.failed", **details})
        if entry["state"] == AUDITED and entry["problem"]:
            alerts.append({"kind": "entry.moved", **details})
    return alerts


def _add_messages(
    study: Study, config: str, content: Mapping[str, Any], alerts: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Copy alerts with their messages."""
    column = "version_before" if study.compare_with == PREVIOUS else "version_passed"
    before = {
        row["entry"]: row["version_compared"] or row[column] for row in content.get("entries", ())
    }
    report = study.alerts.report_url or (
        str(study.report_file.absolute()) if study.report_file else ""
    )
    complete = []
    for alert in alerts:
        details = alert | {"version_before": before.get(alert.get("entry"))}
        complete.append(alert | {"message": message(details, report, config, study.names)})
    return complete


def _emit_events(study: Study, reaudit_id: str, alerts: list[dict[str, Any]]) -> None:
    for alert in alerts:
        payload = {"reaudit_id": reaudit_id, **alert}
        emit(f"decaf.{alert['kind']}", study, payload, alert["entry"])


def _receivers(
    study: Study, delivery: str, content: Mapping[str, Any]
) -> dict[str, Callable[[], None]]:
    """Calls that deliver to each receiver, by its kind and address; webhooks may share a URL."""
    alerts = study.alerts
    receivers: dict[str, Callable[[], None]] = {}
    if alerts.file is not None:
        receivers[f"file {alerts.file}"] = partial(append, alerts, content)
    if alerts.command is not None:
        receivers[f"command {alerts.command}"] = partial(run, alerts, content)
    for position, webhook in enumerate(alerts.webhook):
        receivers[f"webhook {position} {webhook.url}"] = partial(send, webhook, delivery, content)
    return receivers


def _deliver_rest(
    store: Storage,
    study: Study,
    key: str,
    channels: Mapping[str, Callable[[], None]],
    keys: Collection[str],
) -> list[str]:
    """Deliver to channels that the receipt ``key`` does not name.

    If a channel fails, record the successful ones in that receipt. Returns the error messages of
    the channels that failed.
    """
    delivered = receipts.read_one(store, ALERTS, study.study, key).inputs if key in keys else {}
    failures = {
        name: failure
        for name, call in channels.items()
        if name not in delivered and (failure := _try_delivery(call))
    }
    if not failures:
        return []
    if names := delivered.keys() | (channels.keys() - failures.keys()):
        now = datetime.now(UTC).isoformat()
        commit(store, ALERTS, study.study, key, {}, inputs=dict.fromkeys(sorted(names), now))
    return [*failures.values()]


def _try_delivery(call: Callable[[], None]) -> str:
    """Deliver to one channel; returns its error message, empty if it succeeds."""
    try:
        call()
    except AlertFailed as failure:
        return str(failure)
    return ""
