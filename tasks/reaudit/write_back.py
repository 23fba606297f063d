"""What was found of each version, written to the registry itself where it keeps that."""

from decaf.errors import AlertFailed, RegistryError
from decaf.plan.study import Study
from decaf.registry.entries import Answer, Finding
from decaf.registry.gates import VERDICTS as VERDICTS_OF_GATES
from tasks.progress import announce
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage

IN_ORDER = ("no gate applies", *VERDICTS_OF_GATES[1:-1], "accepted", VERDICTS_OF_GATES[-1])
"""Verdicts on an entry, from the best to the worst."""
FAILED = IN_ORDER[-2:]
LATER = "The next decaf reaudit writes them again"


def write_findings(store: Storage, study: Study, reaudit_id: str) -> None:
    """Write all that the newest re-audit found; does nothing where the registry keeps nothing.

    Raises AlertFailed when the registry does not take it.
    """
    file = study.report_file.absolute().as_uri() if study.report_file else ""
    report = study.alerts.report_url or file
    try:
        study.registry.keep(reaudit_id, report, findings(store, study.study))
    except RegistryError as error:
        raise AlertFailed(
            f"the findings cannot be written back: {error}. The audit is kept. {LATER}"
        ) from error


def write_answers(store: Storage, study: Study) -> None:
    """Write of each version that failed whether somebody has accepted it, since when and why.

    That is asked of the warehouse each time, so what could not be written is written by the next
    call. A registry that does not take it is warned of.
    """
    registry = study.registry
    if not registry.keeps_findings:
        return
    found = answers(store, study.study).items()
    failed = [
        Finding(*version, answer, {}) for version, answer in found if answer.verdict in FAILED
    ]
    try:
        registry.keep_answers(failed)
    except RegistryError as error:
        announce(f"warning: the registry does not say who accepted what: {error}. {LATER}")


def findings(store: Storage, study: str) -> list[Finding]:
    """What the newest re-audit of a study found of each audited version: verdict, E, C and F."""
    with connect_whole(store, study) as connection:
        rows = connection.sql(query("registry/findings"), params={"study": study}).fetchall()
    answered = answers(store, study)
    found: dict[tuple[str, str], Finding] = {}
    for name, version, metric, place, is_alone, *value in rows:
        answer = answered.get((name, version), Answer())
        of = found.setdefault((name, version), Finding(name, version, answer, {}))
        of.values[metric if is_alone else f"{metric}.{place}"] = tuple(value)
    return list(found.values())


def answers(store: Storage, study: str) -> dict[tuple[str, str], Answer]:
    """The verdict on each judged version that is there now, by its model's name and its own.

    A version that is followed under several names has the worst of its verdicts.
    """
    with connect_whole(store, study) as connection:
        rows = connection.sql(query("registry/answers"), params={"study": study}).fetchall()
    rows.sort(key=lambda row: IN_ORDER.index(row[2]))
    return {
        (name, version): Answer(verdict, accepted if verdict in FAILED else "")
        for name, version, verdict, accepted in rows
    }
