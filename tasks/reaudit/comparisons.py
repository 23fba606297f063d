"""Find verdicts that the gates reached against another version than they would use now."""

from collections.abc import Iterable

from decaf.plan.study import Study
from decaf.registry.entries import COMPARISONS
from decaf.registry.gates import NOT_APPLICABLE, RULES, Judged
from tasks.reaudit.recorded import AUDITED, NEW, RecordedReaudit, Row
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage

Content = tuple[str, str]
"""Digests of the weights and the preprocessing of a version."""


def label_compared(study: Study, name: str, label: str) -> str | None:
    """Label of the alias that `compare_with:` names, for an entry ``label`` of the model ``name``.

    None if the study compares with earlier versions, and for the entry of the alias itself.
    """
    alias_label = f"{name}@{study.compare_with}"
    return None if study.compare_with in COMPARISONS or alias_label == label else alias_label


def read_compared(store: Storage, study: Study) -> dict[tuple[str, str], Content]:
    """Content that each entry was compared with, by the id of its re-audit and its label.

    Entries without such a content are left out. Empty if the study compares with earlier versions.
    """
    if study.compare_with in COMPARISONS:
        return {}
    with connect_whole(store, study.study) as connection:
        rows = connection.sql(query("registry/compared"), params={"study": study.study}).fetchall()
    return {
        (reaudit_id, label): (weights, preprocessing)
        for reaudit_id, label, weights, preprocessing in rows
    }


def has_outdated(store: Storage, study: Study, rows: Iterable[Row]) -> bool:
    """True if a verdict on some recorded ``rows`` was reached against another content than theirs.

    Such a verdict is older than the last change of the alias that `compare_with:` names.
    """
    compared = read_compared(store, study)
    return any(
        compared.get((row["judged_reaudit_id"], row["entry"]))
        != compared.get((row["reaudit_id"], row["entry"]))
        for row in rows
        if row["state"] == AUDITED
    )


def leave_undecided(
    study: Study, recorded: RecordedReaudit, judged: Iterable[Judged]
) -> list[Judged]:
    """Make limits on a change that hold undecided if the model lacks the alias to compare with.

    ``recorded`` is the re-audit that judges. Such limits were judged against the last version that
    passed, if any: one that fails against it still fails. None applies to a first version. Limits
    on a value keep their verdicts.
    """
    missing = {
        label: alias_label
        for label, row in recorded.rows.items()
        if row["compared_entry"] is None
        and (alias_label := label_compared(study, row["name"], label))
    }
    first = {label for label, row in recorded.rows.items() if row["change"] == NEW}
    return [
        row._replace(
            found=None,
            lower_limit=None,
            upper_limit=None,
            verdict="undecided",
            reason=f"the registry has no {missing[row.entry]}, which 'compare_with:' names",
        )
        if row.entry in missing
        and RULES[row.rule].is_change
        and (row.verdict == "pass" or (row.verdict == NOT_APPLICABLE and row.entry not in first))
        else row
        for row in judged
    ]
