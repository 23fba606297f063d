"""Workers, blocks, batches and stages of a run, in words."""

from rich.console import Console

from decaf.errors import number_of
from decaf.plan.cluster import describe_cluster
from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from flows.commands.terminal import say
from tasks.plan import AuditPlan
from tasks.refining import with_stages
from tasks.row_counts import count_rows
from tasks.run_work import SCORED
from tasks.sizes import block_seconds, load_of


def describe_paths(study: Study) -> str:
    """Names of a study's paths and their numbers of stages."""
    counts = {name: path.grid(study.grid).size for name, path in study.paths.items()}
    if len(set(counts.values())) == 1:
        return f"{', '.join(counts)}, {number_of(min(counts.values()), 'stage')}"
    return ", ".join(f"{name} ({number_of(count, 'stage')})" for name, count in counts.items())


def say_rows(console: Console, plan: AuditPlan) -> None:
    """Print the rows that a model scores, and those that it would score without shared states."""
    rows = count_rows(plan.configuration, plan.pairs)
    planned = f"{'' if rows.is_exact else 'about '}{rows.planned}"
    scored = [unit for unit in plan.work.units if unit.kind in SCORED]
    pending = [unit for unit in plan.work.pending if unit.kind in SCORED]
    if not pending and not plan.waiting:
        planned = f"none left of {planned}"
    elif len(pending) < len(scored):
        planned = f"at most {planned} left, since stored scores are reused"
    else:
        planned = f"{planned} planned"
    console.print(
        f"forward rows per model: {planned}, {rows.naive} without shared states "
        f"({rows.naive / rows.planned:.2f} times as many)"
    )


def say_sizes(console: Console, plan: AuditPlan) -> None:
    """Print workers, blocks and batches of a plan, and why a run may compute other units."""
    if plan.may_stop:
        say(console, "units: at most these, since 'stop:' of the study may end scoring early")
    reason = f" ({plan.sizes.why_workers})" if plan.sizes.why_workers else ""
    say(console, f"workers: {describe_cluster(plan.configuration.cluster)}{reason}")
    sources = number_of(min(plan.configuration.sources_per_block, len(plan.source_ids)), "source")
    if plan.sizes.can_shrink_blocks:
        say(
            console,
            f"blocks: at most {sources}; a run tries the models, and may choose smaller blocks and "
            "so more units than these",
        )
        return
    blocks = f"{number_of(len(plan.blocks), 'block')} of {sources}"
    if not plan.sizes.paces:
        say(console, blocks)
    load = load_of(plan.configuration, plan.pairs)
    for model_id, pace in plan.sizes.paces.items():
        seconds = block_seconds(plan.configuration.sources_per_block, load, pace)
        say(
            console,
            f"{model_id}: {blocks}, batches of {number_of(pace.batch_size, 'row')}, about "
            f"{seconds:.2g} s each, {1 / pace.seconds_per_row:,.0f} rows/s",
        )


def say_stages(console: Console, plan: AuditPlan) -> None:
    """Print the current and the most stages of refined paths, and the rows for the most stages."""
    rules = list_rules(plan.configuration.paths, plan.configuration.stages)
    if not rules:
        return
    finest = {name: rule.finest() for name, rule in rules.items()}
    for name, rule in rules.items():
        say(
            console,
            f"path {name}: {len(rule.grid)} stages now, at most {len(finest[name].grid)}, until "
            f"no mean moves by more than {rule.until:g}",
        )
    rows = count_rows(with_stages(plan.configuration, finest), plan.pairs)
    console.print(f"forward rows per model on the most stages: {rows.planned} planned")
