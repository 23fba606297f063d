"""What the commands print: tables of plans, progress and results."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from shlex import quote

import duckdb
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from decaf.data.pairs import PairSet
from decaf.errors import number_of
from decaf.foundation.number_text import (
    count_text,
    limit_text,
    percent_text,
    score_text,
    signed_text,
)
from decaf.plan.study import Study
from flows.commands.sizes import say_sizes, say_stages
from flows.commands.terminal import say, warn
from tasks.attribution_rows import attribution_rows_left
from tasks.estimate import Work, counted, estimate_of, learnt, trial_seconds, work_of
from tasks.inputs import check_masks
from tasks.plan import AuditPlan
from tasks.progress import clock
from tasks.reasons import misses
from tasks.row_counts import count_rows
from tasks.units.kinds import KINDS
from warehouse.commits.lock import held_studies, is_held
from warehouse.query.damage import around_damage, connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage

EXAMPLE = (
    "SELECT model_id, path, evidence, contradiction, fragility FROM out_model_profiles "
    "WHERE study = '{study}' ORDER BY contradiction DESC LIMIT 5"
)

MOST_VERDICTS = 8
"""Models whose verdicts are printed, the worst first."""
FINDINGS = "SELECT model_id, sentence FROM out_findings WHERE study = '{study}'"

STOP_REASONS = {
    "converged": "converged",
    "at_most": "the most that 'at_most' allows",
    "exact": "exact, since they show every state",
}
"""Words for the reasons of ``out_refinements``."""

MANY_SMALL_FILES = 200
"""Files below 1 MiB of a study from which opening them takes longer than reading them."""


def results(console: Console, store: Storage, study: Study) -> None:
    """Print means per model, remarks, a verdict per model, a query to try and the report's file."""
    with connect_whole(store, study.study) as connection:
        rows = connection.sql(
            "SELECT model_id, pair_type, path, pair_count, active_frac, endpoint_delta, evidence, "
            "contradiction, fragility, abs_response FROM out_model_profiles WHERE study = $study "
            "ORDER BY pair_type, path, position",
            params={"study": study.study},
        ).fetchall()
        verdicts = _verdicts_of(connection, study)
        remarks = [
            *remark_results(connection, study.study),
            *_remark_stops(connection, study.study),
            *_remark_refinements(connection, study.study),
        ]
    names = ("model", "n", "active", "d", "E", "C", "F", "Abs")
    table = table_of(f"Study {study.study}, epsilon {limit_text(study.epsilon)}", names)
    for (pair_type, path), own in groupby(rows, lambda row: row[1:3]):
        table.add_section()
        title = ", ".join(study.names.get(name, name) for name in (pair_type, path))
        table.add_row(Text(title, style="bold"))
        for model, _, _, count, active, d, *scores in own:
            means = (signed_text(d), *map(score_text, scores))
            name = study.names.get(model, model)
            table.add_row(name, count_text(count), percent_text(active), *means)
    console.print(table)
    for line in (*remarks, *verdicts):
        say(console, line)
    console.print("Ask further, for example:")
    say(console, f"  {asking(study, EXAMPLE)}")
    if study.report_file:
        say(console, f"Report: {study.report_file}")


def _verdicts_of(connection: duckdb.DuckDBPyConnection, study: Study) -> list[str]:
    """State in one line what each model goes by, the worst first, with its decision if any."""
    rows = connection.sql(
        "SELECT model_id, decision, sentence FROM out_findings WHERE study = $study",
        params={"study": study.study},
    ).fetchall()
    lines = [
        f"{study.names.get(model_id, model_id)}: {f'{decision}. ' if decision else ''}{sentence}"
        for model_id, decision, sentence in rows[:MOST_VERDICTS]
    ]
    if hidden := len(rows) - len(lines):
        asked = FINDINGS.format(study=study.study)
        lines.append(f'and {number_of(hidden, "model")} more: decaf sql "{asked}"')
    return lines


def _remark_stops(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on models of the current run that were not scored to the end."""
    ((count, least, most, planned, undecided),) = connection.execute(
        "SELECT count(*), min(source_count), max(source_count), max(planned_source_count), "
        "count_if(NOT is_decided) FROM out_stops WHERE study = $study",
        {"study": study},
    ).fetchall()
    if not count:
        return []
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    left = f", {undecided} of them with something undecided" if undecided else ""
    return [
        f"{number_of(count, 'model')} stopped early, after {span} of {planned:,} sources{left}; "
        "--to-the-end scores the rest"
    ]


def _remark_refinements(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
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
            else f"; every second one alone moves a mean by up to {score_text(error)}"
        )
        + f" (until {limit_text(until)})"
        for path, stage_count, error, until, reason in rows
    ]


def asking(study: Study, query: str) -> str:
    """The command that asks a query of the warehouse, with the name of the study put into it."""
    place = "" if study.warehouse == "runs/warehouse" else f" -w {quote(study.warehouse)}"
    return f'decaf sql{place} "{query.format(study=study.study)}"'


def remark_chance(connection: duckdb.DuckDBPyConnection, study: str) -> list[str]:
    """Remark on models of the current run that are right no more often than a guess."""
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


def describe_pairs(console: Console, study: Study) -> PairSet:
    """Print what a study audits, and remarks on its data; returns its pairs."""
    pairs = study.pair_set()
    sources, kinds = pairs.pairs.sources.values, pairs.pairs.pair_types.values
    console.print(
        f"study {study.study}: {number_of(len(study.models), 'model')}, "
        f"{number_of(len(pairs.pairs), 'pair')} of {number_of(len(sources), 'source')} "
        f"({', '.join(sorted(kinds))}), paths {', '.join(study.paths)}, {study.grid.size} stages"
    )
    for remark in pairs.remarks:
        say(console, remark)
    return pairs


def show_plan(console: Console, planned: AuditPlan, *, explained: bool = False) -> None:
    """Print what a run would do, and why its units have to be computed where it is explained."""
    if planned.waiting:
        _print_waiting(console, planned)
    _print_units(console, planned)
    if explained:
        _print_misses(console, planned)
    _print_rows_left(console, planned)
    if planned.pending:
        print_estimate(console, planned)
    elif not planned.is_done:
        console.print("every unit is there: a run makes means, checks and report of them anew")
    rows, pairs = count_rows(planned.given, planned.pairs), planned.pairs
    planned_rows = f"{'' if rows.is_exact else 'about '}{rows.planned}"
    console.print(
        f"forward rows per model: {planned_rows} planned, {rows.naive} if every stage and branch "
        f"were scored ({rows.naive / rows.planned:.2f} times as many)"
    )
    say_stages(console, planned)
    say_sizes(console, planned)
    for remark in (*check_masks(planned.given, pairs), *planned.remarks):
        if remark not in pairs.remarks:
            say(console, remark)


def _print_units(console: Console, planned: AuditPlan) -> None:
    """Units of work by model and kind: how many are planned, and how many are left."""
    kinds = list(dict.fromkeys(unit.kind for unit in planned.units))
    counts = Counter((unit.model_id, unit.kind) for unit in planned.units)
    left = Counter((unit.model_id, unit.kind) for unit in planned.pending)
    columns = ("model", "units", "cached", *(f"to {kind}" for kind in kinds))
    table = table_of(f"run {planned.run_id[:12]}", columns)
    for model_id in dict.fromkeys(unit.model_id for unit in planned.units):
        total = sum(counts[model_id, kind] for kind in kinds)
        missing = [left[model_id, kind] for kind in kinds]
        name = Text(model_id or "all models")
        table.add_row(name, *map(str, (total, total - sum(missing), *missing)))
    console.print(table)


def _print_rows_left(console: Console, planned: AuditPlan) -> None:
    """Rows that attribution methods still send through models; all of them before training."""
    table = table_of(None, ("attribution", "forward rows left", "backward rows left"))
    shared = []
    for left in attribution_rows_left(planned):
        names = ", ".join(left.methods)
        table.add_row(Text(names), f"{left.forward:,}", f"{left.backward:,}")
        if left.forward < left.separate:
            shared.append(f"{names}: {left.separate:,} rows asked for, equal ones scored once")
    if table.row_count:
        console.print(table)
    for line in shared:
        say(console, line)


def print_estimate(console: Console, planned: AuditPlan) -> None:
    """How long what is left of a plan takes, where the warehouse knows work like it."""
    estimate = estimate_of(planned.store, planned.study)
    seconds, source = estimate.seconds(counted(planned.pending)), "earlier work"
    if seconds is None and (by_trial := trial_seconds(planned)):
        seconds, source = by_trial / estimate.workers, "the trial of the models"
    if seconds is None or planned.waiting:
        say(console, "time: no estimate, since nothing like it was computed or tried")
    else:
        workers = number_of(estimate.workers, "worker")
        say(console, f"time: about {clock(seconds)} on {workers}, judged by {source}")


def _print_waiting(console: Console, planned: AuditPlan) -> None:
    waiting, models = planned.waiting, len(planned.study.models) + len(planned.waiting)
    console.print(
        f"to be trained first: {number_of(len(waiting), 'model')}; then {models} in all are scored "
        f"on {number_of(len(planned.blocks), 'block')} of pairs"
    )
    table = table_of(None, ("to be trained", "recipe"), 2)
    for card in waiting:
        table.add_row(Text(card.id), card.training.recipe)
    console.print(table)


def _print_misses(console: Console, planned: AuditPlan) -> None:
    """Why units have to be computed: what changed first, then what follows from it."""
    missing = misses(planned.units, planned.reasons)
    if not missing:
        console.print("every unit is committed: there is nothing to explain")
        return
    table = table_of("why units have to be computed", ("model", "to", "units", "why"))
    for miss in missing:
        why = ": ".join(filter(None, miss.reason))
        table.add_row(Text(miss.model_id or "all"), miss.kind, str(miss.unit_count), Text(why))
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    console.print(table)


def status(console: Console, store: Storage, study: str | None) -> None:
    """How far the current runs are, model by model, and what files the warehouse has."""

    def ask(connection: duckdb.DuckDBPyConnection) -> tuple[list, list, list, list, dict]:
        rows = connection.sql(
            "SELECT study, model_id, done_count, block_count, forward_rows, "
            "planned_block_count, is_decided, is_finished "
            "FROM out_progress LEFT JOIN (SELECT study, model_id, planned_block_count, is_decided "
            "FROM out_stops) USING (study, model_id) "
            "WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
        counts = connection.sql(
            "SELECT study, kind, name, model_id, count(*), count(*) FILTER (is_made) "
            "FROM core_run_units WHERE $study IS NULL OR study = $study GROUP BY ALL",
            params={"study": study},
        ).fetchall()
        spent = connection.sql(query("status/spent_beside"), params={"study": study}).fetchall()
        files = connection.sql(
            "SELECT study, table_name, file_count, median_bytes, total_bytes, small_file_count "
            "FROM out_storage WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
        names = dict.fromkeys(row[0] for row in rows)
        estimates = {name: learnt(connection, name) for name in names}
        return rows, counts, spent, files, estimates

    rows, counts, spent, files, estimates = around_damage(store, ask, warn)
    left = {name: _work_left(row[1:] for row in counts if row[0] == name) for name in estimates}
    starting = [name for name in held_studies(store) if name not in left and study in (None, name)]
    for name in starting:
        console.print(f"{name}: starting, nothing of it is committed yet")
    if not rows and not starting:
        console.print(f"no run in {store.address}" + (f" for study {study}" if study else ""))
    for name in left:
        own = [row[1:] for row in rows if row[0] == name]
        is_finished = own[0][-1]
        if is_held(store, name):
            state = "finished, and the next run is starting" if is_finished else "running"
        else:
            state = "finished" if is_finished else "stopped"
        seconds = estimates[name].seconds(left[name]) if not is_finished else None
        remains = "" if seconds is None else f", about {clock(seconds)} left"
        if early := sum(planned is not None for *_, planned, _, _ in own):
            state += f", {number_of(early, 'model')} stopped early"
        columns = ("model", "blocks", "rows", "work left")
        table = table_of(f"{name}: {state}{remains}", columns)
        for model, done, total, forwards, planned, is_decided, _ in own:
            of_model = {work: n for work, n in left[name].items() if work.model_id == model}
            needed = estimates[name].seconds(of_model)
            cell = "" if needed is None else clock(needed)
            blocks = f"{done}/{planned or total}"
            if planned is not None:
                blocks += ": decided" if is_decided else ": ended undecided"
            table.add_row(model, blocks, f"{forwards:,}", cell)
        console.print(table)
        took = {(kind, what): numbers for of, kind, what, *numbers in spent if of == name}
        _print_beside(console, name, (row[1:] for row in counts if row[0] == name), took)
        _print_files(console, store, name, [row[1:] for row in files if row[0] == name])


def _work_left(counts: Iterable[tuple[str, str, str | None, int, int]]) -> Counter[Work]:
    """Units of the current run that take a model and are not committed."""
    left: Counter[Work] = Counter()
    for kind, name, model_id, planned, made in counts:
        if planned > made and model_id is not None and KINDS[kind].uses_model:
            left[work_of(model_id, kind, name)] += planned - made
    return left


def _print_beside(
    console: Console,
    study: str,
    counts: Iterable[tuple[str, str, str | None, int, int]],
    spent: Mapping[tuple[str, str], tuple[int, int, float]],
) -> None:
    """Units of work beside the trajectories, and what they took."""
    planned: Counter[tuple[str, str]] = Counter()
    made: Counter[tuple[str, str]] = Counter()
    for kind, name, _, count, made_count in counts:
        if kind not in ("predict", "score", "route"):
            planned[kind, name] += count
            made[kind, name] += made_count
    if not planned:
        return
    names = ("kind", "name", "made", "forward rows", "backward rows", "CPU s")
    table = table_of(f"{study}: beside the trajectories", names, 2)
    for of in sorted(planned):
        forwards, backwards, seconds = spent.get(of, (0, 0, 0.0))
        numbers = (f"{made[of]}/{planned[of]}", f"{forwards:,}", f"{backwards:,}", f"{seconds:.2f}")
        table.add_row(*map(Text, of), *numbers)
    console.print(table)


def _print_files(
    console: Console, store: Storage, study: str, files: list[tuple[str, int, float, int, int]]
) -> None:
    table = table_of(f"{study}: files", ("table", "files", "median size", "total size"))
    for name, count, median, total, _ in files:
        table.add_row(name, f"{count:,}", decimal(round(median)), decimal(total))
    console.print(table)
    small = sum(row[-1] for row in files)
    if small >= MANY_SMALL_FILES:
        say(
            console,
            f"{small:,} small files make queries slow: decaf compact {study} -w {store.address} "
            "folds them",
        )


def table_of(title: str | None, columns: tuple[str, ...], text_columns: int = 1) -> Table:
    """An empty table: columns of text on the left, numbers to the right of them."""
    table = Table(title=title, title_justify="left")
    for position, name in enumerate(columns):
        is_text = position < text_columns
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text)
    return table
