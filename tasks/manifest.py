"""Commit the manifest of a run: its pairs, models, units of work, and outcome."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from decaf.foundation.digests import short
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.editions import FORCINGS, OUTCOMES, commit_forcing
from tasks.make_task import software
from tasks.pair_rows import pair_tables
from tasks.plan import AuditPlan
from tasks.runs import newest_run
from warehouse.commits import receipts
from warehouse.commits.writer import commit, next_moment
from warehouse.tables.declarations import (
    CLASS_NAMES,
    MODEL_FAILURES,
    MODELS,
    PATHS,
    RUN_OUTCOMES,
    RUN_REMARKS,
    RUN_UNITS,
    RUNS,
    UNIT_PARTS,
    Table,
)

FAILURES = "failures"
"""Kind of commits with the models that failed in the last attempt of a run."""


def commit_run(plan: AuditPlan) -> None:
    """Commit the pairs and the manifest of a run, which makes it the current one of its study.

    Does nothing if it is the current run. If another run came after it, it is committed again with
    a new start, under the same key.
    """
    study, name = plan.study, plan.study.study
    pairs_key = short(plan.pairs.analysed_digest)
    if pairs_key not in receipts.keys(plan.store, "pairs", name):
        commit(plan.store, "pairs", name, pairs_key, pair_tables(plan.pairs))
    if newest_run(plan.store, name) == plan.run_id:
        return
    started_at = next_moment(plan.store, "runs", name)
    run = {
        "run_id": plan.run_id,
        "started_at": started_at,
        "epsilon": study.epsilon,
        "pairs_digest": plan.pairs.analysed_digest,
        "scored_digest": plan.pairs.means_digest,
        "unit_count": len(plan.work.units),
        "score": json.dumps(study.score.identity(), sort_keys=True),
        "config": study.model_dump_json(),
        "software": json.dumps(software(), sort_keys=True),
    }
    remarks = [
        {"run_id": plan.run_id, "position": position, "remark": remark}
        for position, remark in enumerate(plan.remarks)
    ]
    names = [
        {"run_id": plan.run_id, "class_id": class_id, "name": name}
        for class_id, name in enumerate(plan.pairs.class_names)
    ]
    tables = {
        "runs": _table(RUNS, [run]),
        "run_units": _unit_rows(plan.run_id, plan.work.units),
        "unit_parts": _part_rows(plan.run_id, plan.work.units),
        "models": _model_rows(plan.run_id, study.models, plan.work.units),
        "paths": _path_rows(plan.run_id, study, plan.pairs.input_set.digest),
        "run_remarks": _table(RUN_REMARKS, remarks),
        "class_names": _table(CLASS_NAMES, names),
    }
    commit(plan.store, "runs", name, plan.run_id, tables, software=software(), at=started_at)


def commit_outcome(plan: AuditPlan, forward_rows: int, quarantined_count: int) -> None:
    """Commit that all units of the run are stored and all checks have passed."""
    outcome = {
        "run_id": plan.run_id,
        "finished_at": next_moment(plan.store, "runs", plan.study.study),
        "forward_rows": forward_rows,
        "quarantined_count": quarantined_count,
    }
    rows = _table(RUN_OUTCOMES, [outcome])
    at = next_moment(plan.store, FORCINGS, plan.study.study)
    commit(plan.store, OUTCOMES, plan.study.study, plan.run_id, {"run_outcomes": rows}, at=at)


def commit_failures(plan: AuditPlan, reasons: Mapping[str, str]) -> None:
    """Commit which models of a run failed, and why; replaces those of its earlier attempt."""
    rows = [
        {"run_id": plan.run_id, "model_id": model_id, "reason": reason}
        for model_id, reason in reasons.items()
    ]
    if rows or plan.run_id in receipts.keys(plan.store, FAILURES, plan.study.study):
        tables = {MODEL_FAILURES.name: _table(MODEL_FAILURES, rows)}
        commit(plan.store, FAILURES, plan.study.study, plan.run_id, tables)


def record_forced(plan: AuditPlan) -> str:
    """Record the forced units before they are computed; returns a sentence with their number."""
    if not plan.forced:
        return "--force: these units were forced already or are not stored yet; resuming"
    commit_forcing(plan.store, plan.study.study, plan.forced)
    return f"{len(plan.forced)} units of work are computed again"


def _unit_rows(run_id: str, units: Sequence[Unit]) -> pa.Table:
    names = ("kind", "name", "model_id", "block", "row_count")
    rows = [
        {"run_id": run_id, "unit_key": unit.key} | {name: getattr(unit, name) for name in names}
        for unit in units
    ]
    return _table(RUN_UNITS, rows)


def _part_rows(run_id: str, units: Sequence[Unit]) -> pa.Table:
    rows = [
        {"run_id": run_id, "unit_key": unit.key, "part": part, "value": value}
        for unit in units
        for part, value in unit.parts.items()
    ]
    return _table(UNIT_PARTS, rows)


def _model_rows(run_id: str, cards: Sequence[ModelCard], units: Sequence[Unit]) -> pa.Table:
    weights = {unit.model_id: unit.parts["weights"] for unit in units if "weights" in unit.parts}
    rows = [
        {
            "run_id": run_id,
            "model_id": card.id,
            "position": position,
            "family": card.family,
            "architecture": card.origin,
            "weights_sha256": weights[card.id],
            "card": card.model_dump_json(),
            "training": card.training_record(),
        }
        for position, card in enumerate(cards)
    ]
    return _table(MODELS, rows)


def _path_rows(run_id: str, study: Study, inputs: str) -> pa.Table:
    rows = [
        {
            "run_id": run_id,
            "path": name,
            "position": position,
            "kind": path.kind,
            "identity": json.dumps(path.identity(inputs), sort_keys=True),
            "t": path.grid(study.grid).tolist(),
            "repetition_count": path.repetitions,
            "has_common_start": path.has_common_start,
            "pair_types": path.pair_types,
        }
        for position, (name, path) in enumerate(study.paths.items())
    ]
    return _table(PATHS, rows)


def _table(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=table.schema)
