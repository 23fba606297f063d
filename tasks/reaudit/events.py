"""Events that Prefect's automations can react to, beside those of alerts."""

from collections.abc import Mapping
from typing import Any

from decaf.plan.study import Study
from tasks.reaudit.recorded import AUDITED, GATES, NONE
from tasks.step import is_in_flow

FAILED, FINISHED, NEW_VERSION = (
    "decaf.reaudit.failed",
    "decaf.reaudit.finished",
    "decaf.version.new",
)
VERDICTS = ("pass", "fail", "not enough evidence", "no gate applies")


def tell_finished(study: Study, content: Mapping[str, Any]) -> None:
    """Emit that a re-audit is done, and an event for every version that it is the first to audit.

    ``content`` is the summary of the re-audit.
    """
    if not study.alerts.events:
        return
    entries = content["entries"]
    counts = {name: sum(entry["verdict"] == name for entry in entries) for name in VERDICTS}
    for entry in entries:
        is_new = (
            entry["change"] not in (NONE, GATES) and entry["version"] != entry["version_before"]
        )
        if entry["state"] == AUDITED and is_new:
            found = ("entry", "version", "version_before", "change", "verdict", "model_id")
            emit(NEW_VERSION, study, {name: entry[name] for name in found}, entry["entry"])
    findings = len(content["alerts"])
    told = {"reaudit_id": content["reaudit_id"], "entries": len(entries), "findings": findings}
    emit(FINISHED, study, told | {"verdicts": counts})


def tell_failed(study: Study, error: Exception) -> None:
    """Emit that a re-audit ended with an error; the next one does what is left."""
    if study.alerts.events:
        emit(FAILED, study, {"error": type(error).__name__, "problem": str(error)})


def emit(event: str, study: Study, payload: Mapping[str, Any], entry: str = "") -> None:
    """Emit an event of a study, or of an entry of its registry, in a flow of Prefect."""
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
