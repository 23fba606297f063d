"""Verdict rows above the table of models: the component of the report, for rows of the page."""

from collections import namedtuple
from typing import NamedTuple

from flows.view.snapshot import NAMED, Record, Snapshot
from flows.view.tables import Rows
from warehouse.report.audit.facts import Row
from warehouse.report.audit.verdict_rows import (
    Finding,
    Heading,
    headings_of,
    scale_of,
    verdict_row,
)

MOST = 8
"""Most models that are shown; the table below has all models."""


class Verdicts(NamedTuple):
    """Verdict rows of the first models of a page."""

    headings: tuple[Heading, ...]
    findings: tuple[Finding, ...]
    scale: float
    """Score units at the end of the bars."""
    has_paths: bool
    """True if a bar has marks of other paths."""
    has_limits: bool


def verdicts_of(snapshot: Snapshot, rows: Rows) -> Verdicts | None:
    """Make verdict rows of the models of one study, in the order of the page; else None."""
    study = rows.address.fixed_values.get("study")
    if rows.page.name != "models" or study is None or not rows.answer.num_rows:
        return None
    names = names_of_study(snapshot, study)
    models = rows.answer.slice(0, MOST).to_pylist()
    ids = [model["model_id"] for model in models]
    bars_of_study = snapshot.ask_query("verdict_bars", study=study)
    responses = with_display_names(
        snapshot, study, [bar for bar in bars_of_study if bar["model_id"] in ids]
    )
    shown_models = with_display_names(snapshot, study, models)
    headings = headings_of(names, responses, shown_models)
    findings = tuple(
        verdict_row(row, responses, headings, "" if row.model_id == model_id else model_id)
        for row, model_id in zip(shown_models, ids, strict=True)
    )
    bars = [bar for finding in findings for bar in finding.responses if bar]
    return Verdicts(
        headings,
        findings,
        scale_of(snapshot.score_of(study), [bar.row for bar in bars]),
        any(bar.other_paths for bar in bars),
        any(bar.limit is not None for bar in bars),
    )


def names_of_study(snapshot: Snapshot, study: str) -> tuple[Row, ...]:
    """Names of pair types, paths and models of a study with their display names."""
    return _rows_of([row for row in snapshot.ask_query("names") if row["study"] == study])


def with_display_names(snapshot: Snapshot, study: str, records: list[Record]) -> tuple[Row, ...]:
    """Rows with the display names of a study in place of stored names; NULL stays."""
    names_by_kind = names_of_study(snapshot, study)
    display_names = {(row.kind, row.name): row.display_name for row in names_by_kind}
    names = [
        {
            kind: display_names.get((kind, record[kind]), record[kind])
            for kind in NAMED
            if kind in record
        }
        for record in records
    ]
    return _rows_of([record | shown for record, shown in zip(records, names, strict=True)])


def _rows_of(records: list[Record]) -> tuple[Row, ...]:
    """Named tuples of records with the same columns."""
    if not records:
        return ()
    row_type = namedtuple("Row", records[0])
    return tuple(row_type(**record) for record in records)
