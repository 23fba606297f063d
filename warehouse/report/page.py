"""Assemble the report of a study and write it as one HTML file."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from decaf.errors import WriteFailed
from warehouse.report import templates
from warehouse.report.audit import figures, tables
from warehouse.report.audit.changes import changed_pairs
from warehouse.report.audit.dots import dots_picture
from warehouse.report.audit.facts import Facts, read_facts
from warehouse.report.audit.looks import (
    list_rule_progress,
    look_pictures,
    look_tables,
    stops_lead,
    stops_title,
)
from warehouse.report.audit.page_top import page_top_of
from warehouse.report.audit.pairs import PICTURE_CHARACTERS, pair_cards, single_pairs
from warehouse.report.audit.reaudit import (
    count_gates,
    strip_of,
    unfailed_entries,
    versions_side_by_side,
)
from warehouse.report.gauges import MOST_GAUGES, gauges_of
from warehouse.report.order import sections_of
from warehouse.report.paper import tables as paper_tables
from warehouse.report.paper.pictures import paper_pictures
from warehouse.report.paper.reading import NO_PAPER, Paper, read_paper
from warehouse.report.registry import history_pictures, registry_tables

MAX_BYTES = 2_000_000
"""Largest size of a report; models are left out until it fits."""

MAX_SETTING = 60
"""Most characters of a setting of a score that is shown (a class map has more)."""


def write_report(
    connection: duckdb.DuckDBPyConnection,
    study: str,
    target: Path,
    *,
    has_paper: bool = False,
    sections: Sequence[str] | None = None,
    config: str = "CONFIG",
) -> Facts:
    """Write the report of a study's newest run, finished or not; returns the numbers that it read.

    Reads aggregates, the strongest pairs, and the tables of the paper if ``has_paper``. If a page
    would exceed ``MAX_BYTES``, pictures of pairs are left out first, then models; the page states
    it. ``sections`` are the sections below the verdict, by default all that are not empty. Commands
    on the page name the study's file ``config``. The file appears whole or not at all, and replaces
    an existing one.

    Raises UnknownName when the warehouse has no run of the study, and WriteFailed when the disk
    refuses, or no page under ``MAX_BYTES`` can be made.
    """
    # Means by parts of the pairs take as long as all other queries together.
    unread = set() if not sections or "breakdowns" in sections else {"breakdowns"}
    if not has_paper:
        unread.add("benchmark_warnings")
    facts = read_facts(connection, study, unread)
    paper = read_paper(connection, study) if has_paper else NO_PAPER
    shown = len(facts.models)
    for pictures in (PICTURE_CHARACTERS, PICTURE_CHARACTERS // 4, 0):
        page = render(facts, paper, shown, pictures, sections, config)
        if len(page) <= MAX_BYTES:
            break
    while len(page) > MAX_BYTES:
        shown //= 2
        if shown == 0:
            raise WriteFailed(
                f"the report of {study} has {len(page):,} bytes with one model and no pictures of "
                f"pairs; expected at most {MAX_BYTES:,}: audit fewer pair types or paths"
            )
        page = render(facts, paper, shown, 0, sections, config)
    templates.write(target, "report", page)
    return facts


def render(
    facts: Facts,
    paper: Paper,
    shown_count: int,
    picture_characters: int,
    sections: Sequence[str] | None,
    config: str,
) -> bytes:
    """Make the page, UTF-8; tables and pictures per model show the first ``shown_count`` models.

    Pictures of pairs have at most ``picture_characters`` in base64.
    """
    left_out = {row.model_id for row in facts.models[shown_count:]}
    # Pictures of the paper join rows by model id, so they get profiles without display names.
    profiles = facts.of_models(shown_count).profiles
    facts = facts.for_people()
    shown = facts.of_models(shown_count)
    parts = {
        "breakdowns": tables.breakdown_tables(shown),
        "registry": registry_tables(facts),
        "stops": look_tables(facts),
        "paper": paper_tables.paper_tables(paper.without_models(left_out), facts.study),
    }
    # Changed pairs get pictures first; the strongest pairs get the remaining characters.
    changed = changed_pairs(facts, picture_characters // 2)
    strongest = pair_cards(shown, picture_characters // (2 if changed.entries else 1))
    empty = [name for name, content in (*parts.items(), ("pairs", strongest.types)) if not content]
    single = single_pairs(shown) if strongest.types else ()
    titles = {"breakdowns": tables.breakdown_title(shown), "stops": stops_title(facts)}
    if facts.verdicts:
        titles["registry"] = count_gates(facts)
    page_sections = sections_of(sections, empty, titles)
    has_pairs = any(section.name == "pairs" for section in page_sections)
    top = page_top_of(facts, config, strongest.cards if has_pairs else single)
    return templates.render(
        "page.html.j2",
        **parts,
        sections=page_sections,
        facts=facts,
        is_official=bool(paper.data and paper.data.is_official),
        shown_count=shown_count,
        written_at=datetime.now(UTC),
        score=score_definition(facts.run.score, facts.run.target_name),
        top=top,
        glance=tables.glance_table(facts),
        replicates=max((row.replicate_count for row in facts.intervals), default=0),
        pair_types=tables.pair_table(facts),
        models=tables.model_table(shown),
        warnings=facts.table("warnings", "Warnings"),
        profiles=tables.profile_tables(shown),
        ratios=tables.ratio_table(facts),
        ranks=tables.rank_table(facts),
        sweep=tables.sweep_table(facts),
        costs=tables.cost_table(facts, shown),
        bars=list(figures.bar_pictures(shown)),
        slopes=list(figures.slope_pictures(shown)),
        stages=list(figures.stage_pictures(shown)),
        strongest=strongest,
        single_pairs=single,
        dots=dots_picture(facts),
        gauges=gauges_of(facts.verdicts[:MOST_GAUGES], facts.run.score),
        version_strip=strip_of(facts),
        version_pairs=[versions_side_by_side(facts, failure) for failure in top.failures],
        other_models=unfailed_entries(facts, config) if top.failures else [],
        changed=changed,
        history=history_pictures(facts),
        look_pictures=look_pictures(facts),
        rule_progress=list_rule_progress(facts),
        stops_lead=stops_lead(facts),
        data_note=paper_tables.data_note(paper.data),
        budget_note=paper_tables.budget_note(paper),
        fingerprints=paper_tables.fingerprints(paper.data),
        paper_pictures=paper_pictures(paper, profiles),
    )


def score_definition(text: str, target_name: str | None = None) -> str:
    """Write the JSON of a score definition in words; long settings are left out.

    A name of the target replaces its number. Text of another form stays as it is.

    Examples
    --------
    >>> score_definition('{"kind": "superclass_probability", "classes": 9}')
    'superclass probability (classes 9)'
    """
    try:
        fields = dict(json.loads(text))
        kind = str(fields.pop("kind")).replace("_", " ")
        if target_name is not None:
            fields["target"] = target_name
    except (ValueError, TypeError, KeyError):
        return text
    settings = ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in fields.items()
        if value is not None and len(str(value)) <= MAX_SETTING
    )
    return f"{kind} ({settings})" if settings else kind
