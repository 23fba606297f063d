"""Watch the gates of changed entries while they are scored."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from decaf.errors import BadInput
from decaf.plan.refining import list_rules
from decaf.plan.resolution import recorded_card
from decaf.registry.gates import limits_changes
from tasks.looks.watch import Watch, watch_entries
from tasks.plan import AuditPlan
from tasks.progress import announce
from tasks.reaudit.comparisons import against
from tasks.reaudit.plan import RegistryDiff, reaudit_rows
from tasks.reaudit.recorded import AUDITED, DECISIVE, NONE, REAUDITS, RETURNED, VERSION, Row
from warehouse.commits import receipts
from warehouse.query.damage import connect_whole, fetch_whole
from warehouse.query.views import query
from warehouse.tables.declarations import TABLES

UNCHANGED = (NONE, VERSION, RETURNED)
"""Changes after which no gate judges an entry."""


def with_references(diff: RegistryDiff) -> RegistryDiff:
    """Add the versions that changed entries are compared with, if they must be scored again.

    Comparisons need equal pairs, blocks and stages of both versions. A version whose files were
    deleted, or whose card is no longer trusted, is announced and not scored further.
    """
    study = diff.study
    is_refined = bool(list_rules(study.paths, study.stages))
    if diff.previous is None or not (study.stop or is_refined or limits_changes(study.gates)):
        return diff
    rows = pending(diff, None)
    values = {"study": study.study, "against": against(study), "refines": is_refined}
    values["outdated"] = _list_outdated(diff, rows.to_pylist())
    with connect_whole(diff.store, study.study) as connection:
        connection.register("pending", rows)
        references = connection.sql(query("looks/references"), params=values).fetchall()
    cards = []
    for model_id, label, name, card, weights in references:
        try:
            cards.append(recorded_card(study, name, card, weights))
        except BadInput as error:
            announce(f"{label} ({model_id}) cannot be scored further for comparisons: {error}")
    return replace(diff, references=tuple(cards))


def _list_outdated(diff: RegistryDiff, rows: Sequence[Row]) -> list[str]:
    """Ids of earlier re-audits that changed ``rows`` refer to, with other pairs or settings."""
    if not limits_changes(diff.study.gates):
        return []
    names = ("previous_reaudit_id", "passed_reaudit_id", "compared_reaudit_id")
    changed = [row for row in rows if row["state"] == AUDITED and row["change"] not in UNCHANGED]
    reaudit_ids = {row[name] for row in changed for name in names}
    earlier = (
        receipts.read_one(diff.store, REAUDITS, diff.study.study, reaudit_id)
        for reaudit_id in sorted(reaudit_ids - {None, *(row["reaudit_id"] for row in rows)})
    )
    return [
        receipt.key
        for receipt in earlier
        if any(receipt.inputs.get(name) != diff.inputs.get(name) for name in DECISIVE)
    ]


def watch_changed(diff: RegistryDiff, plan: AuditPlan) -> Watch:
    """Watch the changed entries of a re-audit; models of other entries keep their blocks.

    An earlier version is scored on at least as many blocks as the entry that is compared with it.
    """
    changes, study = diff.changes(), plan.study.study
    finished_models = [
        resolved.model_id
        for resolved in diff.resolved
        if resolved.card and changes[resolved.entry.label] in UNCHANGED
    ]
    finished_models += [card.id for card in diff.references]
    scored = fetch_whole(plan.store, study, query("looks/stopped"), models=finished_models)
    return watch_entries(plan, pending(diff, plan.run_id), against(diff.study), dict(scored))


def pending(diff: RegistryDiff, run_id: str | None) -> pa.Table:
    """Rows that a re-audit will record."""
    _, rows = reaudit_rows(diff, run_id)
    return pa.Table.from_pylist(rows, schema=TABLES["registry_entries"].schema)
