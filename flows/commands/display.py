"""Tables that commands print: plans, progress and results."""

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
)
from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from flows.commands.remarks import remark_refinements, remark_stops, remark_warnings
from flows.commands.sizes import describe_paths, say_rows, say_sizes, say_stages
from flows.commands.terminal import say, say_sentence, warn
from tasks.attribution_rows import count_rows_left
from tasks.estimate import Work, count_work, estimate_of, learn_estimate, trial_seconds, work_of
from tasks.inputs import check_masks
from tasks.missing_inputs import read_pairs
from tasks.plan import AuditPlan
from tasks.progress import duration_text
from tasks.reasons import count_reasons
from tasks.run_work import RunWork
from tasks.units.kinds import KINDS
from warehouse.commits.lock import held_studies, is_held
from warehouse.query.damage import connect_whole, query_readable_files
from warehouse.query.views import query
from warehouse.report.audit.facts import METRICS, Facts
from warehouse.report.audit.trust import describe_weights
from warehouse.storage import Storage

EXAMPLE = (
    "SELECT model_id, path, evidence, contradiction, fragility FROM out_model_profiles "
    "WHERE study = '{study}' ORDER BY contradiction DESC LIMIT 5"
)

MOST_FINDINGS = 8
"""Most models whose findings are printed, the worst first."""
FINDINGS = "SELECT model_id, sentence FROM out_findings WHERE study = '{study}'"

MANY_SMALL_FILES = 200
"""Number of a study's files below 1 MiB from which opening takes longer than reading."""


def print_results(console: Console, store: Storage, study: Study, facts: Facts) -> None:
    """Print means per model, remarks, a finding per model, a query to try and the report's file."""
    facts = facts.for_people()
    names = ("model", "n", "active", "M", "E", "C", "F", "Abs")
    table = table_of(f"Study {study.study}, epsilon {limit_text(study.epsilon)}", names)
    for place, rows in groupby(facts.profiles, lambda row: (row.pair_type, row.path)):
        table.add_section()
        table.add_row(Text(", ".join(place), style="bold"))
        for row in rows:
            means = [score_text(getattr(row, metric)) for metric in METRICS]
            cells = (count_text(row.pair_count), percent_text(row.active_frac), *means)
            table.add_row(row.model_id, *cells)
    console.print(table)
    on_weights = describe_weights(facts)
    remarks = [*remark_warnings(facts.warnings), *remark_stops(facts.stops)]
    remarks += [on_weights] if on_weights else []
    if list_rules(study.paths, study.stages):
        remarks += _remark_refinements(store, study)
    for sentence in (*remarks, *format_findings(facts)):
        say_sentence(console, sentence)
    if (hidden_count := len(facts.findings) - MOST_FINDINGS) > 0:
        more = number_of(hidden_count, "model")
        say(console, f"and {more} more: {query_command(study, FINDINGS)}")
    console.print("Ask further, for example:")
    say(console, f"  {query_command(study, EXAMPLE)}")
    if study.report_file:
        say(console, f"Report: {study.report_file}")


def _remark_refinements(store: Storage, study: Study) -> list[str]:
    with connect_whole(store, study.study) as connection:
        return remark_refinements(connection, study)


def format_findings(facts: Facts) -> list[str]:
    """Decision, if any, and finding of each printed model, the worst first."""
    return [
        f"{row.model_id}: {f'{row.decision}. ' if row.decision else ''}{row.sentence}"
        for row in facts.findings[:MOST_FINDINGS]
    ]


def query_command(study: Study, query: str) -> str:
    """Shell command that runs a query about a study."""
    place = "" if study.warehouse == "runs/warehouse" else f" -w {quote(study.warehouse)}"
    return f'decaf sql{place} "{query.format(study=study.study)}"'


def describe_pairs(console: Console, study: Study) -> PairSet:
    """Print the models, pairs and paths of a study and remarks on its data; returns its pairs."""
    pairs = read_pairs(study)
    sources, kinds = pairs.pairs.sources.values, pairs.pairs.pair_types.values
    console.print(
        f"study {study.study}: {number_of(len(study.models), 'model')}, "
        f"{number_of(len(pairs.pairs), 'pair')} of {number_of(len(sources), 'source')} "
        f"({', '.join(sorted(kinds))}), paths {describe_paths(study)}"
    )
    for remark in pairs.remarks:
        say(console, remark)
    return pairs


def show_plan(console: Console, plan: AuditPlan, *, shows_reasons: bool = False) -> None:
    """Print the plan of a run; if ``shows_reasons``, why each unit is computed."""
    if plan.waiting:
        _print_waiting(console, plan)
    _print_units(console, plan.run_id, plan.work)
    if shows_reasons:
        _print_reasons(console, plan.work)
    _print_rows_left(console, plan)
    if plan.work.pending:
        print_estimate(console, plan)
    elif not plan.is_done:
        console.print("all units are committed; a run only repeats means, checks and report")
    say_rows(console, plan)
    say_stages(console, plan)
    say_sizes(console, plan)
    for remark in (*check_masks(plan.configuration, plan.pairs), *plan.all_remarks):
        if remark not in plan.pairs.remarks:
            say(console, remark)


def _print_units(console: Console, run_id: str, work: RunWork) -> None:
    """Print planned and missing units of work by model and kind."""
    kinds = list(dict.fromkeys(unit.kind for unit in work.units))
    counts = Counter((unit.model_id, unit.kind) for unit in work.units)
    pending_counts = Counter((unit.model_id, unit.kind) for unit in work.pending)
    columns = ("model", "units", "stored", *(f"to {kind}" for kind in kinds))
    table = table_of(f"run {run_id[:12]}", columns)
    for model_id in dict.fromkeys(unit.model_id for unit in work.units):
        total = sum(counts[model_id, kind] for kind in kinds)
        missing = [pending_counts[model_id, kind] for kind in kinds]
        name = Text(model_id or "all models")
        table.add_row(name, *map(str, (total, total - sum(missing), *missing)))
    console.print(table)


def _print_rows_left(console: Console, plan: AuditPlan) -> None:
    """Print the rows that attribution methods still send through models.

    Before training, these are all their rows.
    """
    table = table_of(None, ("attribution", "forward rows left", "backward rows left"))
    shared = []
    for family in count_rows_left(plan):
        names = ", ".join(family.methods)
        table.add_row(Text(names), f"{family.forward:,}", f"{family.backward:,}")
        if family.forward < family.separate:
            shared.append(f"{names}: {family.separate:,} rows requested, equal ones scored once")
    if table.row_count:
        console.print(table)
    for line in shared:
        say(console, line)


def print_estimate(console: Console, plan: AuditPlan) -> None:
    """Print the time for the missing units, estimated from similar work or from the trial."""
    study, pending = plan.study, plan.work.pending
    estimate = estimate_of(plan.store, study)
    seconds, source = estimate.seconds(count_work(pending)), "earlier work"
    if seconds is None and (by_trial := trial_seconds(study, pending, plan.sizes.paces)):
        seconds, source = by_trial / estimate.workers, "the trial of the models"
    if seconds is None or plan.waiting:
        say(console, "time: no estimate; no similar unit was computed or tried yet")
    else:
        workers = number_of(estimate.workers, "worker")
        duration = "less than a second" if seconds < 1 else f"about {duration_text(seconds)}"
        say(console, f"time: {duration} on {workers}, estimated from {source}")


def _print_waiting(console: Console, plan: AuditPlan) -> None:
    waiting, models = plan.waiting, len(plan.study.models) + len(plan.waiting)
    console.print(
        f"to be trained first: {number_of(len(waiting), 'model')}; then {models} in all are scored "
        f"on {number_of(len(plan.blocks), 'block')} of pairs"
    )
    table = table_of(None, ("to be trained", "recipe"), 2)
    for card in waiting:
        table.add_row(Text(card.id), card.training.recipe)
    console.print(table)


def _print_reasons(console: Console, work: RunWork) -> None:
    """Print why units have to be computed: changed ones first, then those that depend on them."""
    reasons = count_reasons(work.units, work.reasons)
    if not reasons:
        console.print("all units are committed; nothing to explain")
        return
    table = table_of("why units have to be computed", ("model", "to", "units", "why"))
    for row in reasons:
        why = ": ".join(filter(None, row.reason))
        table.add_row(Text(row.model_id or "all"), row.kind, str(row.unit_count), Text(why))
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    console.print(table)


def print_status(console: Console, store: Storage, study: str | None) -> None:
    """Print the progress of current runs, model by model, and the files of the warehouse."""

    def read_status(
        connection: duckdb.DuckDBPyConnection,
    ) -> tuple[list, list, list, list, list, dict, dict]:
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
        costs = connection.sql(query("status/further_costs"), params={"study": study}).fetchall()
        files = connection.sql(
            "SELECT study, table_name, file_count, median_bytes, total_bytes, small_file_count "
            "FROM out_storage WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
        failures = connection.sql(
            "SELECT study, model_id, reason FROM core_model_failures "
            "WHERE $study IS NULL OR study = $study ORDER BY ALL",
            params={"study": study},
        ).fetchall()
        names = dict.fromkeys(row[0] for row in rows)
        estimates = {name: learn_estimate(connection, name) for name in names}
        display_names = connection.sql(
            "SELECT (study, name), display_name FROM core_display_names "
            "WHERE kind = 'model_id' AND ($study IS NULL OR study = $study)",
            params={"study": study},
        ).fetchall()
        return rows, counts, costs, files, failures, estimates, dict(display_names)

    rows, counts, costs, files, failures, estimates, shown_models = query_readable_files(
        store, read_status, warn
    )
    work_left = {
        name: _work_left(row[1:] for row in counts if row[0] == name) for name in estimates
    }
    starting = [
        name for name in held_studies(store) if name not in work_left and study in (None, name)
    ]
    for name in starting:
        console.print(f"{name}: starting; it has not committed any result yet")
    if not rows and not starting:
        console.print(f"no run in {store.address}" + (f" for study {study}" if study else ""))
    for name in work_left:
        model_rows = [row[1:] for row in rows if row[0] == name]
        is_finished = model_rows[0][-1]
        is_running = is_held(store, name)
        # While an attempt runs, the recorded failures are of the previous attempt.
        reasons = [row[1:] for row in failures if row[0] == name and not is_running]
        state = _state_of(is_running, is_finished, len(reasons))
        has_estimate = not is_finished and not reasons
        seconds = estimates[name].seconds(work_left[name]) if has_estimate else None
        remains = "" if seconds is None else f", about {duration_text(seconds)} left"
        if early := sum(planned is not None for *_, planned, _, _ in model_rows):
            state += f", {number_of(early, 'model')} stopped early"
        columns = ("model", "blocks", "rows", "work left")
        table = table_of(f"{name}: {state}{remains}", columns)
        for model, done, total, forwards, planned, is_decided, _ in model_rows:
            of_model = {work: n for work, n in work_left[name].items() if work.model_id == model}
            needed = estimates[name].seconds(of_model)
            cell = "" if needed is None else duration_text(needed)
            blocks = f"{done}/{planned or total}"
            if planned is not None:
                blocks += ": decided" if is_decided else ": ended undecided"
            shown_model = shown_models.get((name, model), model)
            table.add_row(shown_model, blocks, f"{forwards:,}", cell)
        console.print(table)
        for model, reason in reasons:
            shown_model = shown_models.get((name, model), model)
            say_sentence(console, f"{shown_model} failed: {reason}")
        study_costs = {tuple(row[1:3]): row[3:] for row in costs if row[0] == name}
        _print_further_units(
            console, name, (row[1:] for row in counts if row[0] == name), study_costs
        )
        _print_files(console, store, name, [row[1:] for row in files if row[0] == name])


def _state_of(is_running: bool, is_finished: bool, failed_count: int) -> str:
    if is_running:
        return "finished, and the next run is starting" if is_finished else "running"
    if failed_count:
        return f"{number_of(failed_count, 'model')} failed"
    return "finished" if is_finished else "stopped"


def _work_left(counts: Iterable[tuple[str, str, str | None, int, int]]) -> Counter[Work]:
    """Count units of the current run that use a model and are not committed."""
    units_left: Counter[Work] = Counter()
    for kind, name, model_id, planned, done in counts:
        if planned > done and model_id is not None and KINDS[kind].uses_model:
            units_left[work_of(model_id, kind, name)] += planned - done
    return units_left


def _print_further_units(
    console: Console,
    study: str,
    counts: Iterable[tuple[str, str, str | None, int, int]],
    costs: Mapping[tuple[str, str], tuple[int, int, float]],
) -> None:
    """Print the further units of a run, such as attributions, with their rows and seconds."""
    planned: Counter[tuple[str, str]] = Counter()
    done: Counter[tuple[str, str]] = Counter()
    for kind, name, _, count, made_count in counts:
        if kind not in ("predict", "score", "route"):
            planned[kind, name] += count
            done[kind, name] += made_count
    if not planned:
        return
    names = ("kind", "name", "made", "forward rows", "backward rows", "CPU s")
    table = table_of(f"{study}: further units", names, 2)
    for unit in sorted(planned):
        forwards, backwards, seconds = costs.get(unit, (0, 0, 0.0))
        cells = (f"{forwards:,}", f"{backwards:,}", f"{seconds:.2f}")
        table.add_row(*map(Text, unit), f"{done[unit]}/{planned[unit]}", *cells)
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
            f"{small:,} small files make queries slow; to merge them: decaf compact {study} "
            f"-w {store.address}",
        )


def table_of(title: str | None, columns: tuple[str, ...], text_columns: int = 1) -> Table:
    """Empty table with columns of text on the left and columns of numbers on the right."""
    table = Table(title=title, title_justify="left")
    for position, name in enumerate(columns):
        is_text = position < text_columns
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text)
    return table
