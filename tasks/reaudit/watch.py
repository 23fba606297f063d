"""Watch the gates of changed entries while they are scored."""

from dataclasses import replace

import pyarrow as pa

from decaf.errors import BadInput
from decaf.plan.refining import list_rules
from decaf.plan.resolution import recorded_card
from decaf.registry.entries import LAST_PASSED, PREVIOUS
from tasks.looks.watch import Watch, watch_entries
from tasks.plan import AuditPlan
from tasks.progress import announce
from tasks.reaudit.plan import RegistryDiff, reaudit_rows
from tasks.reaudit.recorded import NONE, RETURNED, VERSION
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.tables.declarations import TABLES


def with_references(diff: RegistryDiff) -> RegistryDiff:
    """Add the versions that changed entries are compared with, if the study may score more of them.

    Comparisons need equal blocks and stages of both versions. A version whose files were deleted,
    or whose card is no longer trusted, is announced and not scored further.
    """
    study = diff.study
    is_refined = bool(list_rules(study.paths, study.stages))
    if (study.stop is None and not is_refined) or diff.previous is None:
        return diff
    values = {"study": study.study, "against": _against(diff), "refines": is_refined}
    with connect_whole(diff.store, study.study) as connection:
        connection.register("pending", pending(diff, None))
        references = connection.sql(query("looks/references"), params=values).fetchall()
    cards = []
    for model_id, label, card, weights in references:
        try:
            cards.append(recorded_card(study, card, weights))
        except BadInput as error:
            announce(f"{label} ({model_id}) cannot be scored further for comparisons: {error}")
    return replace(diff, references=tuple(cards))


def watch_changed(diff: RegistryDiff, plan: AuditPlan) -> Watch:
    """Watch the changed entries of a re-audit; models of other entries keep their blocks.

    An earlier version is scored on at least as many blocks as the entry that is compared with it.
    """
    changes, study = diff.changes(), plan.study.study
    finished_models = [
        resolved.model_id
        for resolved in diff.resolved
        if resolved.card and changes[resolved.entry.label] in (NONE, VERSION, RETURNED)
    ]
    finished_models += [card.id for card in diff.references]
    with connect_whole(plan.store, study) as connection:
        values = {"study": study, "models": finished_models}
        scored = connection.sql(query("looks/stopped"), params=values).fetchall()
    return watch_entries(plan, pending(diff, plan.run_id), _against(diff), dict(scored))


def pending(diff: RegistryDiff, run_id: str | None) -> pa.Table:
    """Rows that a re-audit will record."""
    _, rows = reaudit_rows(diff, run_id)
    return pa.Table.from_pylist(rows, schema=TABLES["registry_entries"].schema)


def _against(diff: RegistryDiff) -> str:
    return PREVIOUS if diff.study.compare_with == PREVIOUS else LAST_PASSED
