"""Events for Prefect's automations, in addition to alerts."""

import os
from collections.abc import Mapping
from typing import Any

from decaf.plan.study import Study
from tasks.reaudit.recorded import AUDITED, COMPARED, GATES, NONE
from tasks.step import is_in_flow

FAILED, FINISHED, NEW_VERSION = (
    "decaf.reaudit.failed",
    "decaf.reaudit.finished",
    "decaf.version.new",
)
VERDICTS = ("pass", "fail", "undecided", "no gate applies")


def has_events(study: Study) -> bool:
    """True if a study emits events, and a Prefect server takes them."""
    return study.alerts.events and (is_in_flow() or bool(os.environ.get("PREFECT_API_URL")))


def emit_outcome(study: Study, content: Mapping[str, Any]) -> None:
    """Emit an event for the end of a re-audit, and one for each entry with another version.

    ``content`` is the summary of the re-audit.
    """
    if not study.alerts.events:
        return
    entries = content["entries"]
    counts = {name: sum(entry["verdict"] == name for entry in entries) for name in VERDICTS}
    for entry in entries:
        is_new = (
            entry["change"] not in (NONE, GATES, COMPARED)
            and entry["version"] != entry["version_before"]
        )
        if entry["state"] == AUDITED and is_new:
            names = ("entry", "version", "version_before", "change", "verdict", "model_id")
            emit(NEW_VERSION, study, {name: entry[name] for name in names}, entry["entry"])
    findings = len(content["alerts"])
    payload = {"reaudit_id": content["reaudit_id"], "entries": len(entries), "findings": findings}
    emit(FINISHED, study, payload | {"verdicts": counts})


def emit_failure(study: Study, error: Exception) -> None:
    """Emit that a re-audit ended with an error; the next re-audit resumes it."""
    if study.alerts.events:
        emit(FAILED, study, {"error": type(error).__name__, "problem": str(error)})


def emit(event: str, study: Study, payload: Mapping[str, Any], entry: str = "") -> None:
    """Emit an event of a study or an entry of its registry; does nothing outside a Prefect flow."""
    if not is_in_flow():
        return
    from prefect.events import emit_event

    kind, name = ("entry", f"{study.study}.{entry}") if entry else ("study", study.study)
    emit_event(
        event=event,
        resource={
            "prefect.resource.id": f"decaf.{kind}.{name}",
            "prefect.resource.name": name.replace(".", " ", 1) if entry else name,
        },
        payload={"study": study.study, **payload},
    )
