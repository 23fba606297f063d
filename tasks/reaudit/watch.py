"""Watch the gates of what changed in a registry while it is scored."""

from tasks.looks.watch import Watch, watch_entries
from tasks.plan import AuditPlan
from tasks.reaudit.plan import RegistryDiff, reaudit_rows
from tasks.reaudit.recorded import NONE, RETURNED, VERSION
from warehouse.query.damage import connect_whole
from warehouse.query.views import query


def watch_changed(diff: RegistryDiff, plan: AuditPlan) -> Watch:
    """Watch the changed entries of a re-audit; the models of others go as far as they went."""
    changes, study = diff.changes(), plan.study.study
    kept = [
        resolved.model_id
        for resolved in diff.resolved
        if resolved.card and changes[resolved.entry.label] in (NONE, VERSION, RETURNED)
    ]
    with connect_whole(plan.root, study) as connection:
        values = {"study": study, "models": kept}
        scored = connection.sql(query("looks/stopped"), params=values).fetchall()
    _, rows = reaudit_rows(diff, plan.run_id)
    return watch_entries(plan, rows, dict(scored))
