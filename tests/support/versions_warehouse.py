"""A registry whose entries are the models of the scenes: three re-audits, recorded by hand."""

from datetime import timedelta

from planned_units import STARTED, commit_rows
from scenes_warehouse import MODELS, STUDY

NAMES = ("net", "plain", "left", "bad", "late")
"""Entries: judged by gates, without gates, gone, failed, and failed after a first version."""
GATE = {"position": 0, "metric": "evidence", "rule": "increase", "gate_limit": 0.1, "level": 0.95}
GATE |= {"pair_type": "wall_hue", "path": "blend"}
FOUND = {"found": 0.4321, "lower_limit": 0.4, "upper_limit": 0.5, "verdict": "fail"}


def add_registry(store, names=NAMES, problem="no card", accepted=None, by="ada", why="brighter"):
    """Record the re-audits ``first``, ``second`` and ``third`` of the entries.

    Versions 2 and 3 of the first entry fail their gate in the second and the third re-audit;
    ``by`` accepts the verdict of the re-audit ``accepted``.
    """
    net, plain, left, bad, late = names
    new, failed = {"change": "new"}, {"state": "failed", "change": "failed", "problem": problem}
    at_first = {net: new, plain: new, left: new, late: new, bad: failed}
    add_reaudit(store, "first", 0, at_first)
    second = {"version": "2", "change": "weights", "model_id": MODELS[1]}
    second |= {"previous_reaudit_id": "first", "passed_reaudit_id": "first"}
    later = {
        bad: failed,
        left: {"state": "gone", "change": "gone"},
        late: failed | {"version": "2"},
    }
    add_reaudit(store, "second", 1, {net: second, plain: {"change": "none"}, **later})
    third = second | {"version": "3", "previous_reaudit_id": "second"}
    add_reaudit(store, "third", 2, {net: third, plain: {"change": "none"}, **later})
    nothing = dict.fromkeys(("found", "lower_limit", "upper_limit"))
    unanswered = {"verdict": "not applicable", "reason": "there is no version before it"}
    add_verdict(store, "first", net, nothing | unanswered)
    add_verdict(store, "second", net, FOUND)
    add_verdict(store, "third", net, FOUND | {"found": 0.4567})
    if accepted:
        acceptance = {"reaudit_id": accepted, "entry": net, "version": "2", "is_undo": False}
        acceptance |= {"accepted_at": STARTED, "accepted_by": by, "why": why}
        commit_rows(store, "acceptances", STUDY, "acceptance", {"acceptances": [acceptance]})


def add_reaudit(store, reaudit_id, day, entries):
    """Record a re-audit; ``entries`` has by entry the columns that differ from a first version."""
    rows = [
        {"reaudit_id": reaudit_id, "run_id": "r", "resolved_at": STARTED + timedelta(days=day)}
        | {"entry": entry, "name": entry, "version": "1", "alias": "", "is_followed": True}
        | {"digest": "d", "state": "audited", "judged_reaudit_id": reaudit_id}
        | {"model_id": None if "state" in of_entry else MODELS[0]}
        | of_entry
        for entry, of_entry in entries.items()
    ]
    commit_rows(store, "reaudits", STUDY, reaudit_id, {"registry_entries": rows})


def add_verdict(store, reaudit_id, entry, answer):
    """Record the verdict of the gate on an entry; ``answer`` has the columns of its finding."""
    row = {"reaudit_id": reaudit_id, "entry": entry} | GATE | answer
    commit_rows(store, "verdicts", STUDY, reaudit_id, {"gate_verdicts": [row]})
