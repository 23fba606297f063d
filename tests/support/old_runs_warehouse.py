"""A study of several runs that share shards, with everything that a run can name."""

from datetime import UTC, datetime

import pyarrow as pa
from small_warehouse import (
    commit_outcome,
    commit_pairs,
    commit_profiles,
    commit_run,
    commit_scores,
)

from warehouse.commits import receipts
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import TABLES

RUNS = {
    "r1": {"models": ("a", "b"), "epsilon": 0.02, "day": 1},
    "r2": {"models": ("b", "c"), "epsilon": 0.02, "day": 2},
    "r3": {"models": ("c", "d"), "epsilon": 0.1, "day": 3},
}
"""Each shares a model with the next; the last one routes its scores anew."""


def three_runs(root, study="s", run_ids=tuple(RUNS)):
    """Commit some of the three runs; return the root."""
    root = open_root(root)
    for run_id in run_ids:
        add_run(root, study, run_id, **RUNS[run_id])
    return root


def add_run(root, study, run_id, models, epsilon, day, digest="pairs", is_finished=True):
    """Commit a run with a measurement and a baseline of each model, and an analysis.

    What is there already stays as it is.
    """
    measurements = [
        {"run_id": run_id, "measurement_key": f"{model}-measured", "kind": "corruptions"}
        | {"name": "", "model_id": model, "block": 0}
        for model in models
    ]
    baselines = [
        {"run_id": run_id, "baseline_key": f"{model}-lime", "method": "lime"}
        | {"component": "score", "model_id": model}
        for model in models
    ]
    analysis = {"run_id": run_id, "analysis_key": f"{run_id}-matched", "kind": "matched_pairs"}
    planned = {
        "run_measurements": measurements,
        "run_baselines": baselines,
        "run_analyses": [analysis | {"definition": "{}"}],
    }
    if not receipts.exists(root, "pairs", study, digest):
        commit_pairs(root, study, digest)
    commit_run(root, study, run_id, models, epsilon, day, digest, **planned)
    for model in models:
        add_model(root, study, model, epsilon)
    matched = {"analysis_key": f"{run_id}-matched", "run_id": run_id, "position": 0}
    for side, model in zip(("left", "right"), models, strict=True):
        matched |= {f"{side}_model_id": model, f"{side}_source_id": "", f"{side}_abs_response": 0.5}
    _commit(root, "analyses", study, f"{run_id}-matched", "matched_pairs", matched)
    if is_finished:
        commit_outcome(root, study, run_id, day)


def add_model(root, study, model, epsilon):
    """Commit what a run holds of a model, unless it is there."""
    seed = ord(model[0])
    corrupted = {"measurement_key": f"{model}-measured", "image_id": "p0/same"}
    corrupted |= {"corruption": "blur", "class_scores": [0.5, 0.5], "predicted_class": 0}
    said = {"baseline_key": f"{model}-lime", "method": "lime", "component": "score"}
    said |= {"score": 0.5, "explained_rows": 3}
    makers = {
        f"shards/{model}-scores": lambda: commit_scores(root, study, model, seed),
        f"profiles/{model}-at-{epsilon}": lambda: commit_profiles(
            root, study, model, epsilon, seed
        ),
        f"measurements/{model}-measured": lambda: _commit(
            root, "measurements", study, f"{model}-measured", "corruptions", corrupted, model=model
        ),
        f"baselines/{model}-lime": lambda: _commit(
            root, "baselines", study, f"{model}-lime", "baseline_scores", said, model=model
        ),
    }
    for name, make in makers.items():
        kind, key = name.split("/")
        if not receipts.exists(root, kind, study, key):
            make()


def add_reaudit(root, study, reaudit_id, run_id, day, entries):
    """Commit a re-audit, its verdicts and the note that everybody was told.

    ``entries`` has the model (None where the entry failed) and the re-audit before by entry.
    """
    rows = [
        {"reaudit_id": reaudit_id, "run_id": run_id, "entry": entry, "name": entry, "version": "1"}
        | {"resolved_at": datetime(2026, 3, day, tzinfo=UTC), "alias": "", "digest": "d"}
        | {"state": "audited" if model else "failed", "change": "weights", "model_id": model}
        | {"weights_sha256": "0", "feeding_sha256": "0", "previous_reaudit_id": before}
        for entry, (model, before) in entries.items()
    ]
    verdict = {"reaudit_id": reaudit_id, "position": 0, "entry": "net", "metric": "evidence"}
    verdict |= {"rule": "increase", "gate_limit": 0.1, "level": 0.95, "verdict": "pass"}
    _commit(root, "reaudits", study, reaudit_id, "registry_entries", *rows)
    _commit(root, "verdicts", study, reaudit_id, "gate_verdicts", verdict)
    commit(root, "alerts", study, reaudit_id, {})


def _commit(root, kind, study, key, table, *rows, model=None):
    made = pa.Table.from_pylist(list(rows), schema=TABLES[table].schema)
    commit(root, kind, study, key, {table: made}, model_id=model)
