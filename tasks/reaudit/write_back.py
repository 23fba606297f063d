"""Write results and acceptances back to registries that keep them."""

from collections.abc import Mapping, Sequence

from decaf.errors import AlertFailed, RegistryError
from decaf.plan.study import Study
from decaf.registry.entries import Answer, VersionResult
from decaf.registry.messages import finding
from tasks.progress import announce
from tasks.reaudit.standing import list_standing
from warehouse.query.damage import fetch_whole
from warehouse.query.views import query
from warehouse.storage import Storage

PASS, ACCEPTED, FAIL = "pass", "accepted", "fail"
IN_ORDER = (PASS, ACCEPTED, "no gate applies", "undecided", "not audited", FAIL)
"""Verdicts on an entry, from the best to the worst."""
LATER = "the next decaf reaudit tries again to write them"


def write_results(store: Storage, study: Study, reaudit_id: str) -> None:
    """Write the results of the newest re-audit to the registry, if the registry keeps them.

    Raises AlertFailed if the registry refuses them.
    """
    file = study.report_file.absolute().as_uri() if study.report_file else ""
    report = study.alerts.report_url or file
    try:
        study.registry.keep(reaudit_id, report, version_results(store, study))
    except RegistryError as error:
        raise AlertFailed(
            f"the results cannot be written to the registry: {error}; the audit is stored, and "
            f"{LATER}"
        ) from error


def write_answers(store: Storage, study: Study) -> None:
    """Write the acceptance of each version that did not pass, or its absence, to the registry.

    Every call reads all acceptances from the warehouse, so the next call repeats a failed write.
    Announces a warning if the registry refuses them.
    """
    registry = study.registry
    if not registry.keeps_results:
        return
    answered_versions = answers(store, study).items()
    not_passed = [
        VersionResult(*version, answer, {})
        for version, answer in answered_versions
        if answer.verdict != PASS
    ]
    try:
        registry.keep_answers(not_passed)
    except RegistryError as error:
        announce(f"warning: acceptances cannot be written to the registry: {error}. {LATER}")


def version_results(store: Storage, study: Study) -> list[VersionResult]:
    """Verdict, M, E, C and F of each version in the newest re-audit of a study.

    A version that could not be audited has no values.
    """
    rows = fetch_whole(store, study.study, query("registry/results"))
    answered = answers(store, study)
    by_version = {
        version: VersionResult(*version, answer, {}) for version, answer in answered.items()
    }
    for name, version, metric, place, is_alone, *value in rows:
        of_version = by_version.setdefault(
            (name, version), VersionResult(name, version, Answer(), {})
        )
        of_version.values[metric if is_alone else f"{metric}.{place}"] = tuple(value)
    return list(by_version.values())


def answers(store: Storage, study: Study) -> dict[tuple[str, str], Answer]:
    """Verdict on each current version, by the names of its model and of the version.

    A version with several entries has the worst of their verdicts, with the failed gates and the
    acceptances of all entries that have this verdict. So it is accepted only if each of its entries
    passed or is accepted.
    """
    rows = fetch_whole(store, study.study, query("registry/answers"))
    failed_gates = {
        standing["entry"]: [finding(row, study.names) for row in standing["rows"]]
        for standing in list_standing(store, study.study)
    }
    by_version: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = {}
    for entry, name, version, verdict, acceptance in sorted(rows):
        by_version.setdefault((name, version), {}).setdefault(verdict, []).append(
            (entry, acceptance)
        )
    return {
        version: _answer_of(by_verdict, failed_gates) for version, by_verdict in by_version.items()
    }


def _answer_of(
    by_verdict: Mapping[str, Sequence[tuple[str, str]]], failed_gates: Mapping[str, Sequence[str]]
) -> Answer:
    """Worst verdict of a version; ``by_verdict`` has labels of entries, and their acceptances."""
    verdict = max(by_verdict, key=IN_ORDER.index)
    if verdict not in (ACCEPTED, FAIL):
        return Answer(verdict)
    entries = by_verdict[verdict]
    acceptances = dict.fromkeys(acceptance for _, acceptance in entries)
    gates = dict.fromkeys(gate for entry, _ in entries for gate in failed_gates.get(entry, ()))
    return Answer(verdict, "; ".join(acceptances), "; ".join(gates))
