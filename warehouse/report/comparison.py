"""Compare two runs of a study on one page: changed means, findings, and units that differ.

Runs of one warehouse are compared over the trajectories that both have, with paired intervals.
For runs of two warehouses, whose pairs may differ, the page shows both means side by side.
"""

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from decaf.errors import ConfigError, UnknownName
from decaf.foundation.number_text import MISSING, score_text, signed_text
from warehouse.query.views import query
from warehouse.report import templates
from warehouse.report.audit.changes import Changed, Words, draw_changes
from warehouse.report.audit.facts import Row, Rows, known_run, rows_of
from warehouse.report.both_runs import draw_both_runs
from warehouse.report.cells import Cell, Table, fields_of, table

RESPONSE = "abs_response"
METRICS = ("evidence", "contradiction", "fragility", RESPONSE)


class Side(NamedTuple):
    """One run: its warehouse, its row of ``out_runs``, names, findings and means with intervals."""

    place: str
    run: Row
    names: dict[str, str]
    expect: dict[str, str]
    """Whether each pair type should matter, by its name."""
    findings: dict[str, str]
    found_types: tuple[str, ...]
    """Pair types that the findings are about, the worst first."""
    means: Rows


class Change(NamedTuple):
    """A mean before and now, score units; ``limits`` bound its change, None if runs are not paired.

    ``is_clear``: the interval of the change excludes 0, or the two intervals do not overlap.
    """

    before: float | None
    now: float | None
    limits: tuple[float | None, float | None] | None
    is_clear: bool


class Line(NamedTuple):
    """All metrics of one model, pair type and path."""

    model_id: str
    pair_type: str
    path: str
    changes: dict[str, Change]


def run_named(connection: duckdb.DuckDBPyConnection, study: str, name: str) -> str:
    """Id of the newest run of version ``name``, else of the run whose id starts with ``name``.

    Raises UnknownName if no run before the newest matches, and ConfigError if several run ids
    start with the name.
    """
    runs = _rows(connection, "runs", study=study)
    of_version = [row.run_id for row in runs if name in (row.versions or ())]
    run_ids = of_version[:1] or [row.run_id for row in runs if row.run_id.startswith(name)]
    if not run_ids:
        versions = {version for row in runs for version in row.versions or ()}
        names = [*sorted(versions), *(row.run_id[:8] for row in runs)]
        raise UnknownName.among(f"run or version of {study} before its newest run,", name, names)
    if len(run_ids) > 1:
        raise ConfigError(
            f"{len(run_ids)} runs of {study} begin with {name!r}: "
            f"{', '.join(run[:12] for run in run_ids)}; expected one: give more characters "
            "of its id"
        )
    return run_ids[0]


def read_side(
    connection: duckdb.DuckDBPyConnection, study: str, place: str, run_id: str | None = None
) -> Side:
    """Read one run of a study, its newest unless another is named.

    Raises UnknownName when the warehouse has no run of the study.
    """
    with _showing_run(connection, run_id):
        run = known_run(connection, study)
        findings = _rows(connection, "findings", study=study)
        names = rows_of(connection, "names", study)
        return Side(
            place,
            run,
            {row.name: row.display_name for row in names},
            {row.name: row.expect for row in names if row.kind == "pair_type"},
            {row.model_id: row.sentence for row in findings},
            tuple(row.pair_type for row in findings),
            _rows(connection, "side", study=study),
        )


def write_comparison(
    target: Path, study: str, before: Side, now: Side, paired: duckdb.DuckDBPyConnection | None
) -> Path:
    """Write the page; ``paired`` is the warehouse of both runs, None if each has its own.

    Raises WriteFailed when the disk cannot be written.
    """
    runs = {"run_a": before.run.run_id, "run_b": now.run.run_id}
    moved = _rows(paired, "changes", **runs) if paired else ()
    lines = _lines_of_pairs(moved) if paired else _lines_of_means(before, now)
    moved_most = dict.fromkeys(line.model_id for line in lines)
    models = [*moved_most, *sorted({*before.findings, *now.findings} - moved_most.keys())]
    sides = [("before", before.means, before.findings), ("now", now.means, now.findings)]
    return templates.write(
        target,
        "comparison",
        templates.render(
            "comparison.html.j2",
            study=study,
            before=before,
            now=now,
            is_paired=paired is not None,
            headline=headline(lines, now.names),
            clear=sum(change.is_clear for line in lines for change in line.changes.values()),
            count=sum(len(line.changes) for line in lines),
            has_control=bool(control_lines(lines, now.expect)),
            changes=_change_table(lines, now, runs if paired else None),
            models=models,
            both=draw_both_runs(
                models, sides, now.expect, now.names, now.run.score, now.found_types
            ),
            roles=_plain("compared_roles", "roles", "Roles", paired, runs, now.names),
            parts=_plain("compared_parts", "parts", "Parts", paired, runs),
            changed=_changed_pairs(paired, runs, before, now),
            changed_sql=_runnable_query("pairs", runs),
        ),
    )


def _changed_pairs(
    paired: duckdb.DuckDBPyConnection | None, runs: dict[str, str], before: Side, now: Side
) -> Changed:
    """Cards of the pairs that changed most; none if the runs are not paired."""

    def words_of(row: Row) -> Words:
        return Words(now.names.get(row.entry, row.entry), ("before", "now"), row.entry)

    rows = [
        row._replace(
            type_name=now.names.get(row.pair_type, row.pair_type),
            path_name=now.names.get(row.path, row.path),
        )
        for row in (_rows(paired, "pairs", **runs) if paired else ())
    ]
    return draw_changes(rows, (before.run, now.run), words_of)


def headline(lines: list[Line], names: dict[str, str]) -> str:
    """State the largest change in a sentence."""
    clear = [
        (abs(change.now - change.before), line, metric)
        for line in lines
        for metric, change in line.changes.items()
        if change.is_clear and change.now is not None and change.before is not None
    ]
    if not lines:
        return "The two runs have nothing in common that could be compared"
    if not clear:
        return "Nothing moved by more than chance"
    _, line, metric = max(clear, key=lambda move: move[0])
    change, moved = line.changes[metric], len({line.model_id for _, line, _ in clear})
    what = metric.replace("_", " ").replace("abs response", "the response")
    return (
        f"{moved} of {len({line.model_id for line in lines})} models changed, most of all "
        f"{line.model_id}: {what} on {names.get(line.pair_type, line.pair_type)} "
        f"{score_text(change.before)} → {score_text(change.now)}"
    )


def _lines_of_pairs(rows: Rows) -> list[Line]:
    lines: dict[tuple[str, str, str], dict[str, Change]] = {}
    for row in rows:
        if row.metric in METRICS:
            limits = (row.lower_limit, row.upper_limit)
            is_clear = None not in limits and (limits[0] > 0 or limits[1] < 0)
            change = Change(row.mean_a, row.mean_b, limits, is_clear)
            lines.setdefault((row.model_id, row.pair_type, row.path), {})[row.metric] = change
    return _sort_lines(lines)


def _lines_of_means(before: Side, now: Side) -> list[Line]:
    """Means of models, pair types and paths that both runs have, with the interval of each."""
    rows_before = {row[:4]: row for row in before.means}
    lines: dict[tuple[str, str, str], dict[str, Change]] = {}
    for row in now.means:
        row_before = rows_before.get(row[:4])
        if row_before is None or row.metric not in METRICS:
            continue
        limits = (row.lower_95, row.upper_95, row_before.lower_95, row_before.upper_95)
        apart = None not in limits and (limits[0] > limits[3] or limits[1] < limits[2])
        change = Change(row_before.estimate, row.estimate, None, apart)
        lines.setdefault(row[:3], {})[row.metric] = change
    return _sort_lines(lines)


def _sort_lines(lines: dict[tuple[str, str, str], dict[str, Change]]) -> list[Line]:
    """Lines of the changes, the largest change first."""

    def size(line: Line) -> float:
        return max(abs((c.now or 0) - (c.before or 0)) for c in line.changes.values())

    return sorted((Line(*key, changes) for key, changes in lines.items()), key=size, reverse=True)


def _change_table(lines: list[Line], side: Side, runs: dict[str, str] | None) -> Table:
    def change_cell(line: Line, metric: str) -> Cell:
        change = line.changes.get(metric)
        if change is None or change.before is None or change.now is None:
            return Cell(MISSING)
        by = change.now - change.before
        limits = ""
        if change.limits and None not in change.limits:
            # A no-break space, so that a line ends before the interval, not inside it.
            lower, upper = map(signed_text, change.limits)
            limits = f" [{lower},\N{NO-BREAK SPACE}{upper}]"
        went = f"{score_text(change.before)} → {score_text(change.now)}"
        if change.is_clear and metric == RESPONSE:
            went = judge_change(by, side.expect.get(line.pair_type, "")) + went
        return Cell(signed_text(by) + (" *" if change.is_clear else ""), went + limits)

    controls = control_lines(lines, side.expect)

    def control_cell(line: Line) -> Cell:
        control = controls.get((line.model_id, line.path))
        if control is None or side.expect.get(line.pair_type) == "control":
            return Cell(MISSING)
        return change_cell(control, RESPONSE)

    def name_cell(line: Line, key: str) -> Cell:
        return Cell(side.names.get(getattr(line, key), getattr(line, key)))

    cells = {metric: partial(change_cell, metric=metric) for metric in METRICS}
    cells |= {key: partial(name_cell, key=key) for key in ("pair_type", "path")}
    fields = fields_of("compared", control=control_cell, **cells)
    shown = [field for name, field in fields.items() if controls or name != "control"]
    sql = _runnable_query("changes", runs) if runs else ""
    return table("What moved", shown, lines, sql)


def control_lines(lines: list[Line], expect: Mapping[str, str]) -> dict[tuple[str, str], Line]:
    """Line of the control by model and path; of several controls, the one whose Abs moved most.

    ``expect`` states for each pair type whether it should matter or is a control.
    """
    controls: dict[tuple[str, str], Line] = {}
    for line in lines:
        if expect.get(line.pair_type) == "control" and RESPONSE in line.changes:
            place = (line.model_id, line.path)
            controls[place] = max(controls.get(place, line), line, key=_response_move)
    return controls


def _response_move(line: Line) -> float:
    change = line.changes[RESPONSE]
    return abs((change.now or 0) - (change.before or 0))


def judge_change(by: float, expect: str) -> str:
    """State if a change in the response to a pair type is better or worse; empty if unknown.

    >>> judge_change(-0.2, "should_not_matter"), judge_change(-0.2, "should_matter")
    ('better: ', 'worse: ')
    >>> judge_change(-0.2, "unknown")
    ''
    """
    if expect not in ("should_matter", "should_not_matter"):
        return ""
    return "better: " if (by > 0) == (expect == "should_matter") else "worse: "


def _plain(
    columns: str,
    part: str,
    title: str,
    paired: duckdb.DuckDBPyConnection | None,
    runs: dict[str, str],
    names: dict[str, str] | None = None,
) -> Table | None:
    rows = _rows(paired, part, **runs) if paired else ()
    if not rows:
        return None
    shown = rows if names is None else _with_display_names(rows, names)
    return table(title, fields_of(columns).values(), shown, _runnable_query(part, runs))


def _with_display_names(rows: Iterable[Any], names: dict[str, str]) -> list[Any]:
    """Rows with the display names of their pair types and paths."""
    return [
        row._replace(
            pair_type=names.get(row.pair_type, row.pair_type), path=names.get(row.path, row.path)
        )
        for row in rows
    ]


def _runnable_query(part: str, runs: dict[str, str]) -> str:
    """The query of a part as a reader can run it."""
    text = query(f"comparison/{part}")
    for name, run_id in runs.items():
        text = text.replace(f"${name}", f"'{run_id}'")
    return text


def _rows(connection: duckdb.DuckDBPyConnection, part: str, **given: Any) -> Rows:
    answer = connection.execute(query(f"comparison/{part}"), given)
    row_type = namedtuple("Row", [column[0] for column in answer.description])
    return tuple(map(row_type._make, answer.fetchall()))


@contextmanager
def _showing_run(connection: duckdb.DuckDBPyConnection, run_id: str | None) -> Iterator[None]:
    """Make all views show this run instead of the newest run of its study."""
    if run_id is None:
        yield
        return
    connection.execute("SET VARIABLE shown_run = $run_id", {"run_id": run_id})
    try:
        yield
    finally:
        connection.execute("RESET VARIABLE shown_run")
