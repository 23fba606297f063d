"""Check what is in the warehouse, and stop the run when something is found."""

from collections import Counter

from decaf.errors import ChecksFailed, ScoringFailed
from tasks.plan import AuditPlan
from tasks.units.scope import of_kind
from warehouse.query.catalog import connect
from warehouse.query.checks import CheckResult, run_checks
from warehouse.storage import Root


def verify(root: Root, study: str | None = None) -> list[CheckResult]:
    """Run every check on one study, or on all; reads the warehouse, writes nothing.

    Raises ChecksFailed, naming each check that found offending rows, with the first of them.
    """
    with connect(root) as connection:
        results = run_checks(connection, study)
    failed = [result for result in results if result.offending_count]
    if failed:
        lines = [
            f"{result.name}: {result.offending_count} rows, for example {result.examples[0]}"
            for result in failed
        ]
        place = f"{study or 'all studies'} in {root}"
        raise ChecksFailed(
            f"{len(failed)} of {len(results)} checks of {place} found offending rows:\n  "
            + "\n  ".join(lines)
        )
    return results


def too_many_quarantined(plan: AuditPlan) -> dict[str, str]:
    """What is to be said of models with more trajectories in quarantine than the study allows.

    A model without any finite trajectory is always among them.
    """
    with connect(plan.root) as connection:
        withheld = connection.sql(
            "SELECT unit_key, count(*) FROM stg_quarantine WHERE study = $study GROUP BY ALL",
            params={"study": plan.study.study},
        ).fetchall()
    of_unit = dict(withheld)
    total, found, limit = Counter(), Counter(), plan.study.quarantine
    for unit in of_kind(plan.units, "score"):
        total[unit.model_id] += unit.row_count
        found[unit.model_id] += of_unit.get(unit.key, 0)
    return {
        model_id: f"{found[model_id]:,} of {count:,} trajectories are quarantined, since a score "
        f"was not finite; 'quarantine:' allows a share of {limit:g}: see what the model returns "
        "for their inputs, or allow more"
        for model_id, count in total.items()
        if found[model_id] == count or found[model_id] > limit * count
    }


def refuse_quarantined(plan: AuditPlan) -> None:
    """Raise ScoringFailed when too many trajectories of a model are quarantined; names each."""
    if problems := too_many_quarantined(plan):
        lines = (f"{model_id}: {problem}" for model_id, problem in problems.items())
        raise ScoringFailed("\n".join(lines))
