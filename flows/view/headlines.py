"""Sentences above a table: its finding, and how to read it."""

from itertools import takewhile
from operator import itemgetter

from decaf.errors import number_of
from decaf.foundation.number_text import count_text, score_text
from flows.view.declared import ROLE
from flows.view.snapshot import Snapshot
from flows.view.tables import Rows, read_study

SINGULAR = {"entries": "entry"}
"""Names of one row of a page, where they are not those of the page without their last letter."""
STATES = {"pass": "passed its gates", "undecided": "is undecided, for the reasons at its gates"}
UNWANTED = ("decides_by", "leans_on")
"""Rules of models that react to changes that should not matter."""
EXPECTATIONS = {"should_matter": "It should matter.", "should_not_matter": "It should not matter."}
MEANS = (
    "Means over pairs, in score units: evidence (E) has the sign of the endpoint difference, "
    "contradiction (C) has the opposite sign, and fragility (F) is the response of pairs whose "
    "endpoint difference is below the threshold."
)


def headline(snapshot: Snapshot, rows: Rows) -> str:
    """Finding of a table in one sentence."""
    fixed_values, name = rows.address.fixed_values, rows.page.name
    if name == "studies":
        return f"{number_of(rows.total, 'study', 'studies')} in this warehouse"
    if name == "runs":
        place = fixed_values.get("study", "all studies")
        return f"{number_of(rows.total, 'run', 'runs')} of {place}"
    if not rows.total:
        return f"No {name} to show"
    if rows.address.filter:
        return f"{number_of(rows.total, SINGULAR.get(name, name[:-1]), name)} fit the filter"
    if name == "entries" and "study" in fixed_values:
        return _of_entries(snapshot, fixed_values["study"])
    if name == "versions" and {"study", "entry"} <= fixed_values.keys():
        return _of_versions(snapshot, fixed_values["study"], fixed_values["entry"])
    if name == "models" and "study" in fixed_values:
        return _of_models(snapshot, fixed_values["study"])
    if name == "responses" and {"study", "model_id"} <= fixed_values.keys():
        return _of_responses(snapshot, rows)
    if name == "pairs":
        return _of_pairs(snapshot, rows)
    return number_of(rows.total, SINGULAR.get(name, name[:-1]), name)


def lead(snapshot: Snapshot, rows: Rows) -> str:
    """Sentence that explains how to read a table; empty for some tables."""
    fixed_values = rows.address.fixed_values
    match rows.page.name:
        case "studies":
            return "A study is shown by its newest run."
        case "entries":
            return (
                "An entry is a model of a registry, as the newest re-audit of its study found it."
            )
        case "versions":
            return (
                "A verdict is on the content of a version. Gates on a change compare it with "
                "another version, the last that passed unless the study names one."
            )
        case "models":
            return f"Each model with the change that moves its score most, the worst first. {MEANS}"
        case "responses":
            return MEANS
        case "pairs":
            kinds = snapshot.names_of(fixed_values.get("study", ""), "pair_type")
            change = next(
                (row for row in kinds if row["name"] == fixed_values.get("pair_type")), None
            )
            reads = "Each row is one pair on one path; open it to see its trajectory."
            if change is None or change["expect"] not in EXPECTATIONS:
                return reads
            subject = f"The pairs change {change['display_name']}."
            return f"{subject} {EXPECTATIONS[change['expect']]} {reads}"
    return ""


def _of_models(snapshot: Snapshot, study: str) -> str:
    findings = read_study(snapshot, "models", study)
    unwanted = sum(row["rule"] in UNWANTED for row in findings)
    expected = {row["expect"] for row in snapshot.names_of(study, "pair_type")}
    models = number_of(len(findings), "model", "models")
    if "should_not_matter" not in expected:
        return f"{models} of {study}, by the change that moves each most"
    reacts = "reacts" if unwanted == 1 else "react"
    return f"{unwanted or 'None'} of {models} {reacts} to a change that should not matter"


def _of_entries(snapshot: Snapshot, study: str) -> str:
    entries = read_study(snapshot, "entries", study)
    failing = sum(row["entry_failing_since"] is not None for row in entries)
    verb = "fails its" if failing == 1 else "fail their"
    return f"{failing or 'None'} of {number_of(len(entries), 'entry', 'entries')} {verb} gates"


def _of_versions(snapshot: Snapshot, study: str, entry: str) -> str:
    """State of the newest version, or since which version the entry fails."""
    of_study = read_study(snapshot, "versions", study)
    versions = sorted(
        (row for row in of_study if row["entry"] == entry), key=itemgetter("resolved_at")
    )
    newest = versions[-1]
    subject = f"Version {newest['version']} of {entry}"
    if newest["state"] == "gone":
        return f"{entry} is gone from its registry"
    if newest["state"] == "failed":
        return f"{subject} could not be audited"
    if newest["accepted_at"]:
        return f"{subject} was accepted"
    if newest["verdict"] != "fail":
        return f"{subject} {STATES.get(newest['verdict'], 'was judged by no gate')}"
    failing = takewhile(
        lambda row: row["verdict"] in ("fail", None) and not row["accepted_at"], reversed(versions)
    )
    *_, first = (row for row in failing if row["verdict"] == "fail")
    return f"Version {first['version']} is the first bad version of {entry}"


def _of_responses(snapshot: Snapshot, rows: Rows) -> str:
    study, model = rows.address.fixed_values["study"], rows.address.fixed_values["model_id"]
    of_model = [row for row in read_study(snapshot, "responses", study) if row["model_id"] == model]
    top = max(of_model, key=lambda row: row["abs_response"])
    change = snapshot.display_name(study, "pair_type", top["pair_type"])
    path = snapshot.display_name(study, "path", top["path"])
    size = score_text(top["abs_response"])
    model = snapshot.display_name(study, "model_id", model)
    return f"{model} reacts most to {change} on path {path}: by {size} on average"


def _of_pairs(snapshot: Snapshot, rows: Rows) -> str:
    total, unmoved = sum(rows.roles.values()), rows.roles.get("none", 0)
    who, reacts, not_at_all = "All models", "react", "do not react"
    fixed_values = rows.address.fixed_values
    if model := fixed_values.get("model_id"):
        who = snapshot.display_name(fixed_values.get("study", ""), "model_id", model)
        reacts, not_at_all = "reacts", "does not react"
    if ROLE in rows.address.fixed_values:
        role = rows.address.fixed_values[ROLE]
        words = "no response" if role == "none" else role
        shown = f"{count_text(rows.total)} of {count_text(total)}"
        return f"{who}: {words} in {shown} trajectories"
    trajectories = number_of(total, "trajectory", "trajectories")
    if not unmoved:
        return f"{who} {reacts} in all {trajectories}"
    return f"{who} {not_at_all} in {count_text(unmoved)} of {trajectories}"
