"""Verdict rows above the table of models: the component of the report, for rows of the page."""

from collections import namedtuple
from typing import NamedTuple

from flows.view.snapshot import NAMED, Record, Snapshot
from flows.view.tables import Rows
from warehouse.query.pages import Question
from warehouse.report.audit.facts import Row, query_of
from warehouse.report.audit.verdict_rows import (
    Finding,
    Heading,
    headings_of,
    scale_of,
    verdict_row,
)
from warehouse.report.cells import runnable

MOST = 8
"""Models that are shown; the table below has all."""


class Verdicts(NamedTuple):
    """Verdict rows of the first models of a page."""

    headings: tuple[Heading, ...]
    findings: tuple[Finding, ...]
    scale: float
    """Score units at the end of the bars."""
    has_paths: bool
    """True where a bar has marks of other paths."""
    has_limits: bool


def verdicts_of(snapshot: Snapshot, rows: Rows) -> Verdicts | None:
    """Make verdict rows of the models of one study, in the order of the page; None elsewhere."""
    study = rows.address.about.get("study")
    if rows.page.name != "models" or study is None or not rows.answer.num_rows:
        return None
    question = Question(runnable(query_of("responses"), study), {})
    responses = _with_display_names(snapshot, study, snapshot.ask(question).to_pylist())
    names = tuple(
        namedtuple("Name", row)(**row)
        for row in snapshot.ask_query("names")
        if row["study"] == study
    )
    headings = headings_of(names, responses)
    shown = rows.answer.to_pylist()[:MOST]
    ids = [record["model_id"] for record in shown]
    findings = tuple(
        verdict_row(row, responses, headings, "" if row.model_id == model_id else model_id)
        for row, model_id in zip(_with_display_names(snapshot, study, shown), ids, strict=True)
    )
    bars = [bar for finding in findings for bar in finding.responses if bar]
    score = next(row["score"] for row in snapshot.ask_query("contents") if row["study"] == study)
    return Verdicts(
        headings,
        findings,
        scale_of(score, [bar.row for bar in bars]),
        any(bar.others for bar in bars),
        any(bar.limit is not None for bar in bars),
    )


def _with_display_names(snapshot: Snapshot, study: str, records: list[Record]) -> tuple[Row, ...]:
    """Rows with display names in place of stored names."""

    def add_names(record: Record) -> Record:
        names = {
            kind: snapshot.display_name(study, kind, record[kind])
            for kind in NAMED
            if record[kind] is not None
        }
        return {**record, **names}

    return tuple(namedtuple("Row", record)(**add_names(record)) for record in records)
