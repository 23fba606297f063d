"""Remarks on the results of a run, for the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from decaf.errors import number_of
from decaf.foundation.names import metric_name, shown_name
from decaf.foundation.number_text import limit_text, text_beside_limit
from decaf.plan.study import Study
from decaf.registry.messages import NO_VERSION, minute
from tasks.runs import list_changed_keys, read_newest_run
from warehouse.query.views import query
from warehouse.storage import Storage

STOP_REASONS = {
    "converged": "converged",
    "at_most": "the most that 'at_most' allows",
    "exact": "exact, since they show every state",
}
"""Words for the reasons of ``out_refinements``."""
OF_VERDICTS = (
    "below_chance",
    "missed_classes",
    "constant_score",
    "no_response",
    "unmoved_pairs",
    "groups_above_limit",
)
"""Warnings of ``out_warnings`` that may change a verdict."""


def remark_warnings(warnings: Iterable[Any], names: Mapping[str, str] | None = None) -> list[str]:
    """Remark on warnings that may change a verdict, and on quarantine.

    ``warnings`` are rows of ``out_warnings``; ``names`` are those of versions of a registry, by the
    model's id.
    """
    remarks, names = [], names or {}
    for row in warnings:
        name = names.get(row.model_id, row.model_id)
        if row.warning in OF_VERDICTS:
            remarks.append(f"{name}: {row.detail}")
        elif row.warning == "quarantined":
            trajectories = f"{row.affected_count:,} of its trajectories"
            remarks.append(f"{name}: {trajectories} quarantined: a score was not finite")
    return remarks


def remark_changed_study(config: Path, study: Study, store: Storage) -> list[str]:
    """Remark on keys of a study that the run shown does not have."""
    run = read_newest_run(store, study.study)
    if run is None or not (keys := list_changed_keys(run, study)):
        return []
    return [f"{config} differs from the run shown ({', '.join(keys)}): run it first"]


def remark_unapplied_limits(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on limits of gates on a change that do not apply although a version came before."""
    rows = connection.sql(
        "SELECT entry, version, count(*), reason FROM out_verdicts WHERE study = $study "
        "AND verdict = 'not applicable' AND NOT contains(reason, $no_version) "
        "GROUP BY ALL ORDER BY ALL",
        params={"study": study, "no_version": NO_VERSION},
    ).fetchall()
    return [
        f"{entry} {version}: {number_of(count, 'limit')} on changes since an earlier version not "
        f"applied: {reason}"
        for entry, version, count, reason in rows
    ]


def remark_loosened(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on versions that pass only by looser gates, so that none is compared with them.

    They are the present versions of a registry's entries, and the versions before them.
    """
    rows = connection.sql(query("registry/loosened"), params={"study": study}).fetchall()
    remarks = []
    for entry, version, loosened, passed, metrics, moment in rows:
        failed = f"failed {', '.join(map(metric_name, metrics))} on {minute(moment)}"
        compared = f"with version {passed}" if passed else "with no version"
        if version == loosened:
            remarks.append(
                f"{entry} {version} {failed}, and the gates were loosened since: later versions "
                f"are compared {compared}, unless decaf accept accepts version {version}"
            )
        else:
            remarks.append(
                f"{entry} {version} is compared {compared}, not {loosened}: version {loosened} "
                f"{failed}, the gates were loosened for it, and nobody accepted it"
            )
    return remarks


def remark_ended(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on failures that the newest re-audit ended without a new version that passes."""
    rows = connection.sql(query("registry/ended"), params={"study": study}).fetchall()
    remarks = []
    for entry, version, metrics, moment, version_now, change, is_gone in rows:
        reason = f"version {version_now} does not fail"
        if is_gone:
            reason = "the registry no longer lists it"
        elif change is not None:
            reason = f"this changed: {change}"
        failed = f"{', '.join(map(metric_name, metrics))} since {minute(moment)}"
        remarks.append(f"the failure of {entry} {version} in {failed} ended because {reason}")
    return remarks


def remark_stops(stops: Sequence[Any]) -> list[str]:
    """Remark on models that were not scored to the end.

    ``stops`` are rows of the report's query of that name.
    """
    if not stops:
        return []
    counts = [row.source_count for row in stops]
    least, most, planned = min(counts), max(counts), max(row.planned_source_count for row in stops)
    undecided = sum(row.outcome != "decided" for row in stops)
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    undecided_text = f" ({undecided} without a decision)" if undecided else ""
    return [
        f"{number_of(len(stops), 'model')} stopped early{undecided_text}, after {span} of "
        f"{planned:,} sources; --to-the-end scores the rest"
    ]


def remark_refinements(connection: duckdb.DuckDBPyConnection, study: Study) -> list[str]:
    """Remark on the stages at which each refined path of the current run stopped, and why."""
    rows = connection.sql(
        "SELECT path, stage_count, error, until, reason FROM out_refinements "
        "WHERE study = $study AND reason IS NOT NULL",
        params={"study": study.study},
    ).fetchall()
    return [
        f"path {shown_name(path, study.names)}: {stage_count} stages, {STOP_REASONS[reason]}"
        + (
            ""
            if error is None
            else f"; leaving out every second stage changes means by at most "
            f"{text_beside_limit(error, until)}"
        )
        + f" (required: {limit_text(until)})"
        for path, stage_count, error, until, reason in rows
    ]
