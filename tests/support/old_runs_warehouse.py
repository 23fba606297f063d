"""A study of several runs that share units, with everything that a run can name."""

from datetime import UTC, datetime

from planned_units import Planned, commit_rows
from small_warehouse import (
    commit_outcome,
    commit_pairs,
    commit_profiles,
    commit_run,
    commit_scores,
)

from warehouse.commits import receipts
from warehouse.commits.writer import commit, open_root

RUNS = {
    "r1": {"models": ("a", "b"), "epsilon": 0.02, "day": 1},
    "r2": {"models": ("b", "c"), "epsilon": 0.02, "day": 2},
    "r3": {"models": ("c", "d"), "epsilon": 0.1, "day": 3},
}
"""Each shares a model with the next; the last one routes its scores anew."""


def three_runs(root, study="s", run_ids=tuple(RUNS)):
    """Commit some of the three runs; return the store."""
    store = open_root(root)
    for run_id in run_ids:
        add_run(store, study, run_id, **RUNS[run_id])
    return store


def add_run(store, study, run_id, models, epsilon, day, digest="pairs", is_finished=True):
    """Commit a run with corruptions and a baseline of each model, and an analysis.

    Existing commits stay unchanged.
    """
    more = [Planned(f"{model}-measured", "corrupt", "", model) for model in models]
    components, definition = (("components", "score"),), (("definition", "{}"),)
    more += [
        Planned(f"{model}-lime", "explain", "lime", model, None, 1, components) for model in models
    ]
    matched = f"{run_id}-matched"
    more.append(Planned(matched, "analyse", "matched_pairs", block=None, parts=definition))
    if not receipts.exists(store, "pairs", study, digest):
        commit_pairs(store, study, digest)
    commit_run(store, study, run_id, models, epsilon, day, digest, more)
    for model in models:
        add_model(store, study, model, epsilon)
    pair = {"unit_key": matched, "position": 0}
    for side, model in zip(("left", "right"), models, strict=True):
        pair |= {f"{side}_model_id": model, f"{side}_source_id": "", f"{side}_abs_response": 0.5}
    _commit_unit(store, study, matched, "matched_pairs", pair)
    if is_finished:
        commit_outcome(store, study, run_id, day)


def add_model(store, study, model, epsilon):
    """Commit the results of a run for a model, unless they exist."""
    seed = ord(model[0])
    corrupted = {"unit_key": f"{model}-measured", "image_id": "p0/same"}
    corrupted |= {"corruption": "blur", "class_scores": [0.5, 0.5], "predicted_class": 0}
    said = {"unit_key": f"{model}-lime", "method": "lime", "component": "score"}
    said |= {"score": 0.5, "explained_rows": 3}
    makers = {
        f"{model}-scores": lambda: commit_scores(store, study, model, seed),
        f"{model}-at-{epsilon}": lambda: commit_profiles(store, study, model, epsilon, seed),
        f"{model}-measured": lambda: _commit_unit(
            store, study, f"{model}-measured", "corruptions", corrupted, model
        ),
        f"{model}-lime": lambda: _commit_unit(
            store, study, f"{model}-lime", "baseline_scores", said, model
        ),
    }
    for key, make in makers.items():
        if not receipts.exists(store, "units", study, key):
            make()


def add_reaudit(store, study, reaudit_id, run_id, day, entries, judged_by=None):
    """Commit a re-audit, its verdicts and its delivered alerts.

    ``entries`` has by entry the model (None if the entry failed), the previous re-audit, and the
    re-audit of the last version that passed if that differs; another re-audit may have judged them.
    """
    rows = [
        {"reaudit_id": reaudit_id, "run_id": run_id, "entry": entry, "name": entry, "version": "1"}
        | {"resolved_at": datetime(2026, 3, day, tzinfo=UTC), "alias": "", "digest": "d"}
        | {"is_followed": True}
        | {"state": "audited" if model else "failed", "change": "weights", "model_id": model}
        | {"weights_sha256": "0", "preprocessing_sha256": "0", "previous_reaudit_id": before}
        | {
            "judged_reaudit_id": judged_by or reaudit_id,
            "passed_reaudit_id": passed[0] if passed else before,
        }
        for entry, (model, before, *passed) in entries.items()
    ]
    verdict = {"reaudit_id": reaudit_id, "position": 0, "entry": "net", "metric": "evidence"}
    verdict |= {"rule": "increase", "gate_limit": 0.1, "level": 0.95, "verdict": "pass"}
    commit_rows(store, "reaudits", study, reaudit_id, {"registry_entries": rows})
    commit_rows(store, "verdicts", study, reaudit_id, {"gate_verdicts": [verdict]})
    commit(store, "alerts", study, reaudit_id, {})


def _commit_unit(store, study, key, table, row, model=None):
    """Commit a unit of one row, alone."""
    commit_rows(store, "units", study, key, {table: [row]}, model, units=(key,))
