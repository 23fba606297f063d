"""Remarks on the results of a run, for the terminal."""

import duckdb

from decaf.errors import number_of
from decaf.foundation.number_text import limit_text, score_text
from decaf.registry.messages import NO_VERSION

STOP_REASONS = {
    "converged": "converged",
    "at_most": "the most that 'at_most' allows",
    "exact": "exact, since they show every state",
}
"""Words for the reasons of ``out_refinements``."""


def remark_chance(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on models of the current run whose accuracy is that of a guess."""
    rows = connection.sql(
        "SELECT model_id, detail FROM core_chance_warnings WHERE study = $study ORDER BY ALL",
        params={"study": study},
    ).fetchall()
    return [f"{model_id}: {detail}" for model_id, detail in rows]


def remark_results(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on accuracy at chance and on quarantined trajectories of the current run."""
    rows = connection.sql(
        "SELECT model_id, count(*) FROM stg_quarantine SEMI JOIN core_run_units "
        "USING (study, model_id, unit_key) WHERE study = $study GROUP BY ALL ORDER BY ALL",
        params={"study": study},
    ).fetchall()
    return remark_chance(connection, study) + [
        f"{model_id}: {count:,} of its trajectories quarantined: a score was not finite"
        for model_id, count in rows
    ]


def remark_unapplied_limits(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on limits of gates on a change that do not apply although a version came before."""
    rows = connection.sql(
        "SELECT entry, version, count(*), reason FROM out_verdicts WHERE study = $study "
        "AND verdict = 'not applicable' AND NOT contains(reason, $no_version) "
        "GROUP BY ALL ORDER BY ALL",
        params={"study": study, "no_version": NO_VERSION},
    ).fetchall()
    return [
        f"{entry} {version}: {number_of(count, 'limit')} on a change not applied: {reason}"
        for entry, version, count, reason in rows
    ]


def remark_stops(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on models of the current run that were not scored to the end."""
    ((count, least, most, planned, undecided),) = connection.execute(
        "SELECT count(*), min(source_count), max(source_count), max(planned_source_count), "
        "count_if(NOT is_decided) FROM out_stops WHERE study = $study",
        {"study": study},
    ).fetchall()
    if not count:
        return []
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    undecided_text = f", {undecided} of them before a decision" if undecided else ""
    return [
        f"{number_of(count, 'model')} stopped early, after {span} of {planned:,} sources"
        f"{undecided_text}; --to-the-end scores the rest"
    ]


def remark_refinements(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark where the stages of each refined path of the current run stopped, and why."""
    rows = connection.sql(
        "SELECT path, stage_count, error, until, reason FROM out_refinements "
        "WHERE study = $study AND reason IS NOT NULL",
        params={"study": study},
    ).fetchall()
    return [
        f"path {path}: {stage_count} stages, {STOP_REASONS[reason]}"
        + (
            ""
            if error is None
            else f"; without every second one, a mean changes by up to {score_text(error)}"
        )
        + f" (until {limit_text(until)})"
        for path, stage_count, error, until, reason in rows
    ]
