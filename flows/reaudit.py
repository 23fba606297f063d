"""Re-audit a registry: resolve → pair → smoke test → compute → check → judge → report → notify."""

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.utilities.annotations import opaque

from decaf.plan.study import load_study
from tasks.prefect import audit_steps as steps
from tasks.prefect import reaudit_steps
from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root, remove_temporary_files
from warehouse.upkeep.compaction import repair_compactions


@flow(name="reaudit", flow_run_name="reaudit-{config.stem}")
def reaudit(config: Path) -> dict[str, Any]:
    """Audit what changed in the registry of a study, and say what it found.

    Reads the registry, the data and the models; writes downloads, the input file, the warehouse
    and the report; sends alerts. What has a receipt is not done again.
    """
    study = load_study(config)
    root = open_root(study.warehouse)
    with study_lock(root, study.study):
        remove_temporary_files(root, study.study)
        repair_compactions(root, study.study)
        found = reaudit_steps.resolve(study, root)
        if found.is_changed:
            pairs = opaque(steps.pair(study))
            pixels = steps.store(study, pairs)
            steps.fit(study, pairs, pixels)
            found, plan = reaudit_steps.audit(found, pairs.unwrap(), pixels)
            remove_temporary_files(root, study.study)
            if plan is not None:
                steps.analyse(opaque(plan), pixels)
                steps.check(opaque(plan))
            if found.is_changed:
                reaudit_steps.record(opaque(found), opaque(plan))
        reaudit_steps.judge(root, study)
        reaudit_steps.report(root, study)
        return reaudit_steps.notify(root, study)
