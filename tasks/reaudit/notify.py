"""Tell people and Prefect of the newest re-audit, once all of it is in the warehouse."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from prefect.events import emit_event

from decaf.errors import AlertFailed, RegistryError
from decaf.foundation.digests import json_sha256, short
from decaf.plan.study import Study
from decaf.registry.alerts import append, send
from tasks.reaudit.judge import findings, summary
from tasks.reaudit.plan import ALERTS
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.storage import Root


def notify(root: Root, study: Study) -> dict[str, Any]:
    """Deliver the alerts of the newest re-audit on every channel; none where that is done.

    A channel that fails keeps none of the others from being used; the next call uses all of them
    again, so a receiver may be told twice and is never told not at all. Raises AlertFailed, naming
    the channels that failed.
    """
    content = summary(root, study.study)
    if receipts.exists(root, ALERTS, study.study, content["reaudit_id"]):
        return content | {"changed": False, "alerts": []}
    channels: list[Callable[[], None]] = []
    if study.registry.keeps_findings:
        channels.append(lambda: _write_back(root, study, content))
    if content["alerts"]:
        if study.alerts.events:
            for alert in content["alerts"]:
                _emit(study.study, content["reaudit_id"], alert)
        channels += _receivers(study, content["reaudit_id"], content)
    _deliver(channels)
    commit(root, ALERTS, study.study, content["reaudit_id"], {})
    return content | {"changed": True}


def notify_unreachable(study: Study, problem: str) -> None:
    """Deliver an alert that the registry cannot be reached."""
    now = datetime.now(UTC).isoformat()
    alert = {"kind": "registry.failed", "problem": problem}
    content = {"study": study.study, "resolved_at": now, "alerts": [alert]}
    _deliver(_receivers(study, short(json_sha256(content)), content))


def _receivers(study: Study, delivery: str, content: Mapping[str, Any]) -> list[Callable[[], None]]:
    alerts = study.alerts
    channels: list[Callable[[], None]] = []
    if alerts.file is not None:
        channels.append(lambda: append(alerts, content))
    if alerts.webhook is not None:
        channels.append(lambda: send(alerts.webhook, delivery, content))
    return channels


def _write_back(root: Root, study: Study, content: Mapping[str, Any]) -> None:
    """Write what was found to the registry itself.

    Raises AlertFailed when it does not take it.
    """
    report = study.report_file.absolute().as_uri()
    try:
        study.registry.keep(content["reaudit_id"], report, findings(root, study.study))
    except RegistryError as error:
        raise AlertFailed(
            f"the findings cannot be written back: {error}. The audit is kept; the next decaf "
            "reaudit writes them again"
        ) from error


def _deliver(channels: Iterable[Callable[[], None]]) -> None:
    failures = []
    for channel in channels:
        try:
            channel()
        except AlertFailed as failure:
            failures.append(str(failure))
    if failures:
        raise AlertFailed("\n  ".join(failures))


def _emit(study: str, reaudit_id: str, alert: Mapping[str, Any]) -> None:
    """Emit ``decaf.gate.failed`` and the like, with the entry as the resource."""
    entry = alert["entry"]
    emit_event(
        event=f"decaf.{alert['kind']}",
        resource={
            "prefect.resource.id": f"decaf.entry.{study}.{entry}",
            "prefect.resource.name": f"{study} {entry}",
        },
        payload={"study": study, "reaudit_id": reaudit_id, **alert},
    )
