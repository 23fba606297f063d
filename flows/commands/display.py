"""What the commands print: tables of plans, progress and results."""

from collections.abc import Sequence
from itertools import groupby
from shlex import quote

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from decaf.data.pairs import PairSet
from decaf.models.card import ModelCard
from decaf.plan.measurements import Measurement
from decaf.plan.shards import untrained
from decaf.plan.study import Study
from decaf.studies.imagenet9.corruptions import CORRUPTIONS
from tasks.explain import explain
from tasks.plan import AuditPlan, count_rows, look_ahead, plan_audit
from tasks.progress import clock
from warehouse.commits.lock import is_held
from warehouse.query.catalog import connect
from warehouse.storage import Root

EXAMPLE = (
    "SELECT model_id, path, evidence, contradiction, fragility FROM out_model_profiles "
    "WHERE study = '{study}' ORDER BY contradiction DESC LIMIT 5"
)

MANY_SMALL_FILES = 200
"""Files below 1 MiB of a study from which opening them takes longer than reading them."""


def results(console: Console, study: Study) -> None:
    """The table of E, C, F and Abs per model, a query to try, and where the report is."""
    with connect(study.warehouse) as connection:
        rows = connection.sql(
            "SELECT model_id, pair_type, path, pair_count, active_frac, evidence, contradiction, "
            "fragility, abs_response FROM out_model_profiles WHERE study = $study "
            "ORDER BY pair_type, path, position",
            params={"study": study.study},
        ).fetchall()
    names = ("model", "n", "active", "E", "C", "F", "Abs")
    table = table_of(f"Study {study.study}, epsilon {study.epsilon:g}", names)
    for (pair_type, path), own in groupby(rows, lambda row: row[1:3]):
        table.add_section()
        table.add_row(f"[bold]{pair_type}, {path}[/bold]")
        for model, _, _, count, active, *scores in own:
            table.add_row(model, str(count), f"{active:.2f}", *(f"{q:.4f}" for q in scores))
    console.print(table)
    console.print("Ask further, for example:", highlight=False)
    query = EXAMPLE.format(study=study.study)
    place = "" if study.warehouse == "runs/warehouse" else f" -w {quote(study.warehouse)}"
    console.print(f'  decaf sql{place} "{query}"', highlight=False, soft_wrap=True, markup=False)
    console.print(f"Report: {study.report_file}", highlight=False, soft_wrap=True)


def plan(console: Console, study: Study, *, explained: bool = False) -> None:
    """What a run would do, and what made each shard a miss."""
    pairs = study.pair_set()
    sources = {pair.source_id for pair in pairs.pairs}
    kinds = {pair.pair_type for pair in pairs.pairs}
    console.print(
        f"study {study.study}: {len(study.models)} models, {len(pairs.pairs)} pairs of "
        f"{len(sources)} sources ({', '.join(sorted(kinds))}), paths "
        f"{', '.join(study.paths)}, {study.grid.size} stages",
        highlight=False,
    )
    for remark in pairs.remarks:
        console.print(remark, highlight=False, markup=False)
    missing = untrained(study)
    planned = None if missing else plan_audit(study, pairs)
    if planned is None:
        _print_untrained(console, study, pairs, missing)
    else:
        _print_shards(console, planned)
        if explained:
            _print_misses(console, planned)
    _print_measurements(console, study, pairs, planned)
    _print_baselines(console, study, planned)
    rows = count_rows(study, pairs)
    console.print(
        f"forward rows per model: {rows.planned} planned, {rows.naive} if every stage and branch "
        f"were scored ({rows.naive / rows.planned:.2f} times as many)",
        highlight=False,
    )
    # What is not there should be known before anything is trained, not after.
    for remark in look_ahead(study, pairs):
        console.print(remark, highlight=False, markup=False)


def _print_shards(console: Console, planned: AuditPlan) -> None:
    table = table_of(
        f"run {planned.run_id[:12]}", ("model", "shards", "cached", "to route", "to score")
    )
    for card in planned.study.models:
        shards = [shard for shard in planned.shards if shard.model.id == card.id]
        unscored = sum(shard.keys.shard_key not in planned.scored for shard in shards)
        unrouted = sum(shard.keys.profile_key not in planned.routed for shard in shards) - unscored
        cached = len(shards) - unscored - unrouted
        table.add_row(card.id, *(str(n) for n in (len(shards), cached, unrouted, unscored)))
    console.print(table)


def _print_untrained(
    console: Console, study: Study, pairs: PairSet, missing: Sequence[ModelCard]
) -> None:
    blocks = len(pairs.blocks(study.sources_per_shard))
    console.print(
        f"{len(missing)} models are to be trained first; then {blocks * len(study.models)} shards",
        highlight=False,
    )
    table = table_of(None, ("to be trained", "recipe"), 2)
    for card in missing:
        table.add_row(Text(card.id), card.training.recipe)
    console.print(table)


def _print_measurements(
    console: Console, study: Study, pairs: PairSet, planned: AuditPlan | None
) -> None:
    """What is measured beside the trajectories, and how many rows that will send.

    Before the models are trained, nothing can have been measured.
    """
    blocks = pairs.blocks(study.sources_per_shard)
    total = len(blocks) * len(study.models)
    names = ("measurement", "planned", "made", "forward rows left", "backward rows left")
    table = table_of("beside the trajectories", names)
    if study.behaviours:
        left = _unmeasured(planned, "corruptions", "")
        made = 0 if left is None else total - len(left)
        rows = "0" if made == total else f"unknown until scored: {len(CORRUPTIONS)} a null pair"
        table.add_row("behaviours", str(total), str(made), rows, "0")
    images = [len({pairs.pairs[row].plus for row in rows}) for rows in blocks]
    for name, method in study.attributions.items():
        left = _unmeasured(planned, "attributions", name)
        if left is None:
            made, mapped = 0, sum(images) * len(study.models)
        else:
            made, mapped = total - len(left), sum(images[one.shard.block] for one in left)
        rows = (mapped * calls for calls in (method.forward_calls, method.backward_calls))
        table.add_row(Text(name), str(total), str(made), *(f"{count:,}" for count in rows))
    if table.row_count:
        console.print(table)


def _print_baselines(console: Console, study: Study, planned: AuditPlan | None) -> None:
    """Models that each baseline explains, and those that it has explained already."""
    if not study.baselines:
        return
    table = table_of("baselines", ("baseline", "models", "made"))
    for name, baseline in study.baselines.items():
        total = sum(baseline.applies_to(card) for card in study.models)
        left = [one for one in planned.uncompared if one.method == name] if planned else None
        made = 0 if left is None else total - len(left)
        table.add_row(Text(name), str(total), str(made))
    console.print(table)


def _unmeasured(planned: AuditPlan | None, kind: str, name: str) -> list[Measurement] | None:
    """Measurements of one name that are left; None where nothing can be known yet."""
    if planned is None:
        return None
    return [one for one in planned.unmeasured if (one.kind, one.name) == (kind, name)]


def _print_misses(console: Console, planned: AuditPlan) -> None:
    misses = explain(planned)
    if not misses:
        console.print("every shard is committed: there is nothing to explain")
        return
    table = table_of("compared with the nearest committed shard", ("model", "to", "shards", "why"))
    for miss in misses:
        table.add_row(Text(miss.model_id), miss.step, str(miss.shard_count), Text(miss.reason))
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    console.print(table)


def status(console: Console, root: Root, study: str | None) -> None:
    """How far the current runs are, model by model, and what files the warehouse has."""
    with connect(root) as connection:
        rows = connection.sql(
            "SELECT study, model_id, done_count, shard_count, forward_rows, seconds_per_shard, "
            "evidence, contradiction, fragility, is_finished FROM out_progress "
            "WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
        measured = connection.sql(
            "SELECT study, if(kind = 'corruptions', 'behaviours', name), "
            "count(*) FILTER (is_made), count(*), coalesce(sum(forward_rows), 0), "
            "coalesce(sum(backward_rows), 0) FROM core_measurements "
            "LEFT JOIN stg_measurement_costs USING (study, model_id, measurement_key) "
            "WHERE $study IS NULL OR study = $study GROUP BY study, kind, name "
            "ORDER BY study, kind DESC, name",
            params={"study": study},
        ).fetchall()
        compared = connection.sql(
            "WITH planned AS (SELECT study, model_id, method, bool_or(score IS NOT NULL) AS told, "
            "bool_and(reason IS DISTINCT FROM 'not made yet') AS made FROM core_baselines "
            "GROUP BY study, model_id, method) "
            "SELECT study, method, count(*) FILTER (made), count(*), "
            "count(*) FILTER (made AND NOT told), coalesce(sum(predicted_rows), 0), "
            "coalesce(sum(cpu_seconds), 0) FROM planned "
            "LEFT JOIN out_baseline_costs USING (study, model_id, method) "
            "WHERE $study IS NULL OR study = $study GROUP BY study, method ORDER BY study, method",
            params={"study": study},
        ).fetchall()
        files = connection.sql(
            "SELECT study, table_name, file_count, median_bytes, total_bytes, small_file_count "
            "FROM out_storage WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
    if not rows:
        console.print(f"no run in {root}" + (f" for study {study}" if study else ""))
    for name in dict.fromkeys(row[0] for row in rows):
        own = [row[1:] for row in rows if row[0] == name]
        state = "finished" if own[0][-1] else "running" if is_held(root, name) else "stopped"
        names = ("model", "shards", "rows", "work left", "E", "C", "F")
        table = table_of(f"{name}: {state}", names)
        for model, done, total, forwards, seconds, e, c, f, _ in own:
            left = clock(seconds * (total - done)) if seconds is not None else ""
            means = ("" if value is None else f"{value:.4f}" for value in (e, c, f))
            table.add_row(model, f"{done}/{total}", f"{forwards:,}", left, *means)
        console.print(table)
        _print_measured(console, name, [row[1:] for row in measured if row[0] == name])
        _print_compared(console, name, [row[1:] for row in compared if row[0] == name])
        _print_files(console, root, name, [row[1:] for row in files if row[0] == name])


def _print_measured(
    console: Console, study: str, rows: list[tuple[str, int, int, int, int]]
) -> None:
    if not rows:
        return
    names = ("measurement", "made", "forward rows", "backward rows")
    table = table_of(f"{study}: beside the trajectories", names)
    for name, made, planned, forwards, backwards in rows:
        table.add_row(Text(name), f"{made}/{planned}", f"{forwards:,}", f"{backwards:,}")
    console.print(table)


def _print_compared(
    console: Console, study: str, rows: list[tuple[str, int, int, int, int, float]]
) -> None:
    if not rows:
        return
    names = ("baseline", "models", "undefined", "predicted rows", "CPU s per model")
    table = table_of(f"{study}: baselines", names)
    for method, made, planned, undefined, predicted, seconds in rows:
        each = f"{seconds / made:.2f}" if made else ""
        table.add_row(Text(method), f"{made}/{planned}", str(undefined), f"{predicted:,}", each)
    console.print(table)


def _print_files(
    console: Console, root: Root, study: str, files: list[tuple[str, int, float, int, int]]
) -> None:
    table = table_of(f"{study}: files", ("table", "files", "median size", "total size"))
    for name, count, median, total, _ in files:
        table.add_row(name, f"{count:,}", decimal(round(median)), decimal(total))
    console.print(table)
    small = sum(row[-1] for row in files)
    if small >= MANY_SMALL_FILES:
        console.print(
            f"{small:,} small files make queries slow: decaf compact {study} -w {root} folds them",
            highlight=False,
            soft_wrap=True,
            markup=False,
        )


def table_of(title: str | None, columns: tuple[str, ...], text_columns: int = 1) -> Table:
    """An empty table: columns of text on the left, numbers to the right of them."""
    table = Table(title=title, title_justify="left")
    for position, name in enumerate(columns):
        is_text = position < text_columns
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text)
    return table
