"""The report's tables of one audit that need more than the rows of one query."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from decaf.errors import number_of
from decaf.foundation.number_text import (
    MISSING,
    count_text,
    limit_text,
    percent_text,
    score_text,
    signed_text,
)
from warehouse.report.audit.facts import METRICS, Facts, Row, at
from warehouse.report.cells import (
    Cell,
    Column,
    Field,
    Table,
    digest,
    fields_of,
    table,
    with_interval,
)

SPREADS = ("active_frac", "contradiction_frac", "fragility_frac")
"""Shares whose spread the first table shows."""
PATH_PAIR_KEYS = ("pair_type", "path_a", "path_b")
FEWEST_RANKED = 5
"""Fewest models for a rank correlation: the order of fewer models can be chance."""
GROUPINGS = {
    "class": "class",
    "split": "split",
    "factual": "kind of factual input",
    "counterfactual": "kind of changed input",
}
"""Built-in divisions of pairs in ``out_breakdowns``, in words; groups have their own names."""
WRITERS = {
    "accuracy": percent_text,
    "active_frac": percent_text,
    "endpoint_delta": signed_text,
}
"""Functions that write values of metrics that are not in score units."""
SUMMED = (
    "block_count",
    "pair_count",
    "forward_rows",
    "naive_rows",
    "forward_seconds",
    "wall_seconds",
)
"""Costs that are summed over all models."""


def glance_table(facts: Facts) -> Table:
    """Spread of the models, each on its path with the largest Abs; one row per pair type."""
    spreads = {share: partial(_spread, facts, share) for share in SPREADS}
    fields = fields_of("glance", pair_type=Cell, path=partial(_path_counts, facts), **spreads)
    notes = ["From the lowest to the highest model."] if len(facts.models) > 1 else []
    notes += ["Each model is on its path with the largest Abs."] if len(facts.paths) > 1 else []
    columns, query = fields.values(), facts.runnable("profiles")
    return table("At a glance", columns, facts.profiled_types, query, " ".join(notes))


def pair_table(facts: Facts) -> Table:
    """The pairs of every type; below a display name is the name for queries."""
    ids = {row.display_name: row.name for row in facts.names if row.kind == "pair_type"}

    def pair_type(row: Row) -> Cell:
        name = ids.get(row.pair_type, row.pair_type)
        return Cell(row.pair_type, name if name != row.pair_type else "")

    return facts.table("pair_types", "Pairs", pair_type=pair_type)


def model_table(facts: Facts) -> Table:
    """The models, with their accuracy on every kind of clean input that has predictions."""
    variants = sorted({row.variant for row in facts.accuracies})
    ids = facts.ids

    def model(row: Row) -> Cell:
        known_as = (ids[row.model_id],) if row.model_id in ids else ()
        return Cell(row.model_id, ", ".join((*known_as, row.architecture)))

    cells = {"model_id": model, "weights_sha256": lambda row: digest(row.weights_sha256)}
    fields = (
        *fields_of("models", **cells).values(),
        *(_accuracy(facts, variant) for variant in variants),
    )
    note = (
        "" if variants else "There are no labels or no class predictions, so no accuracy is shown."
    )
    parts = ("models", "accuracies") if variants else ("models",)
    return table("Models", fields, facts.models, ";\n\n".join(map(facts.runnable, parts)), note)


def profile_tables(facts: Facts) -> tuple[Table, ...]:
    """One table per pair type and path: mean and interval of every metric, per model."""
    fields = fields_of("profiles", **_with_intervals(facts)).values()
    places = ((pair_type, path) for pair_type in facts.profiled_types for path in facts.paths)
    return tuple(
        table(f"{pair_type} · {path}", fields, rows, facts.runnable("intervals"))
        for pair_type, path in places
        if (rows := at(facts.profiles, pair_type, path))
    )


def breakdown_tables(facts: Facts) -> tuple[Table, ...]:
    """Profiles by class, split and kind of input, as the query sorts them.

    Each model is on its path with the largest Abs; if there are several paths, a note names it.
    """

    def model(row: Row) -> Cell:
        return Cell(row.model_id, row.path if len(facts.paths) > 1 else "")

    def mean(row: Row) -> Cell:
        write = WRITERS.get(row.metric, score_text)
        return with_interval(row.estimate, row.lower_95, row.upper_95, write)

    def median(row: Row) -> Cell:
        limits = f"{score_text(row.p10)} … {score_text(row.p90)}"
        return Cell(score_text(row.p50), limits)

    tables = []
    groupings = dict.fromkeys((row.pair_type, row.grouping) for row in facts.breakdowns)
    for pair_type, grouping in sorted(groupings, key=lambda group: _type_position(facts, group[0])):
        rows = [r for r in facts.breakdowns if (r.pair_type, r.grouping) == (pair_type, grouping)]
        title = f"{pair_type}, by {GROUPINGS.get(grouping, grouping)}"
        tables.append(
            facts._replace(breakdowns=tuple(rows)).metric_table(
                "breakdowns", title, ("model_id", "member"), mean, model_id=model, p50=median
            )
        )
    return tuple(tables)


def breakdown_title(facts: Facts) -> str:
    """Name the model whose response differs most between groups of pairs, with both ends.

    If no response differs in its shown digits, no model is named.
    """
    first = min(
        facts.breakdowns, key=lambda row: _type_position(facts, row.pair_type), default=None
    )
    parts: dict[str, list[Row]] = {}
    for row in facts.breakdowns:
        is_first = (row.pair_type, row.grouping) == (first.pair_type, first.grouping)
        if is_first and row.metric == "abs_response" and row.estimate is not None:
            parts.setdefault(row.model_id, []).append(row)

    def ends(rows: list[Row]) -> tuple[Row, Row]:
        ordered = sorted(rows, key=lambda row: row.estimate)
        return ordered[0], ordered[-1]

    several = [ends(rows) for rows in parts.values() if len(rows) > 1]
    if not several:
        return "Response by group"
    low, high = max(several, key=lambda pair: pair[1].estimate - pair[0].estimate)
    if score_text(low.estimate) == score_text(high.estimate):
        return "Response by group"
    on_path = f" on path {low.path}" if len(facts.paths) > 1 else ""
    return (
        f"{low.model_id} differs most between groups of {low.pair_type}{on_path}: "
        f"{score_text(low.estimate)} for {low.member}, "
        f"{score_text(high.estimate)} for {high.member}"
    )


def _type_position(facts: Facts, pair_type: str) -> int:
    """Position of a pair type in the report; a type without profiles comes last."""
    types = facts.profiled_types
    return types.index(pair_type) if pair_type in types else len(types)


def ratio_table(facts: Facts) -> Table:
    """Ratio of the means over models on two paths, for every metric."""

    def cell(row: Row) -> Cell:
        ratio = MISSING if row.ratio is None else f"× {score_text(row.ratio)}"
        return Cell(ratio, f"{score_text(row.mean_a)} → {score_text(row.mean_b)}")

    note = "Mean over models on the second path, divided by the mean on the first."
    return facts.metric_table("path_ratios", "Ratio of means", PATH_PAIR_KEYS, cell, note)


def rank_table(facts: Facts) -> Table:
    """Rank correlation of the models between two paths, for every metric."""

    def reason(row: Row) -> str:
        few = f"fewer than {FEWEST_RANKED} models"
        return row.reason or (few if row.model_count < FEWEST_RANKED else "")

    def cell(row: Row) -> Cell:
        why = reason(row)
        return Cell(MISSING if why else signed_text(row.spearman), hover=why)

    reasons = sorted(set(map(reason, facts.rank_transfer)) - {""})
    why = f" {MISSING} stands where it is undefined: {'; '.join(reasons)}." if reasons else ""
    note = (
        "1 means that both paths put the models in the same order, 0 that the orders are "
        f"unrelated, −1 that one reverses the other.{why}"
    )
    return facts.metric_table("rank_transfer", "Rank transfer", PATH_PAIR_KEYS, cell, note)


def sweep_table(facts: Facts) -> Table:
    """Mean over models of E, C and F at several thresholds."""

    def epsilon(row: Row) -> Cell:
        return Cell(
            ("this run: " if row.epsilon == facts.run.epsilon else "") + limit_text(row.epsilon)
        )

    return facts.table("sweep", "Mean over models", epsilon=epsilon)


def cost_table(facts: Facts, shown: Facts) -> Table:
    """Cost of scoring for each model that is shown, and for all models together."""
    position = {row.model_id: place for place, row in enumerate(shown.models)}
    rows = sorted(shown.costs, key=lambda row: position[row.model_id])
    fields = fields_of("costs").values()
    costs = table("Scoring", fields, rows, facts.runnable("costs"))
    if len(facts.costs) < 2:
        return costs
    sums = {name: sum(getattr(row, name) for row in facts.costs) for name in SUMMED}
    forward_rows, naive_rows, seconds = (
        sums[name] for name in ("forward_rows", "naive_rows", "wall_seconds")
    )
    total = facts.costs[0]._replace(
        model_id="All models",
        rows_saved_frac=1 - forward_rows / naive_rows if naive_rows else None,
        rows_per_second=forward_rows / seconds if seconds else None,
        batch_size=max(row.batch_size for row in facts.costs),
        peak_memory_bytes=max(row.peak_memory_bytes for row in facts.costs),
        device="",
        **sums,
    )
    return replace(costs, total=tuple(field.cell(total) for field in fields))


def _largest_rows(facts: Facts, pair_type: str) -> list[Row]:
    """Profile of each model on its path with the largest Abs; of equal paths, the first."""
    largest: dict[str, Row] = {}
    for path in facts.paths:
        for row in at(facts.profiles, pair_type, path):
            if row.abs_response > largest.setdefault(row.model_id, row).abs_response:
                largest[row.model_id] = row
    return [*largest.values()]


def _path_counts(facts: Facts, pair_type: str) -> Cell:
    """Paths with the largest Abs; if they differ, each with its number of models."""
    count = Counter(row.path for row in _largest_rows(facts, pair_type))
    if len(count) == 1:
        return Cell(*count)
    return Cell(", ".join(f"{path} ({number_of(n, 'model')})" for path, n in count.most_common()))


def _spread(facts: Facts, share: str, pair_type: str) -> Cell:
    """Lowest and highest share of a pair type; the note names the model with the highest."""
    rows = _largest_rows(facts, pair_type)
    shares = ((getattr(row, share), row.model_id) for row in rows)
    known_shares = sorted((share, model) for share, model in shares if share is not None)
    if not known_shares:
        return Cell(MISSING)
    (low, _), (high, model) = known_shares[0], known_shares[-1]
    if len(known_shares) == 1:
        return Cell(percent_text(high))
    return Cell(f"{percent_text(low)} – {percent_text(high)}", f"highest: {model}")


def _with_intervals(facts: Facts) -> dict[str, Callable[[Row], Cell]]:
    def place_of(row: Row, metric: str) -> tuple[str, ...]:
        return (row.pair_type, row.path, row.model_id, metric)

    intervals = {place_of(r, r.metric): (r.lower_95, r.upper_95) for r in facts.intervals}
    bounds = {place_of(r, r.metric): r.bound for r in facts.stage_errors if r.bound is not None}

    def cell(metric: str, row: Row) -> Cell:
        place = place_of(row, metric)
        limits = intervals.get(place, (None, None))
        mean = with_interval(getattr(row, metric), *limits, WRITERS.get(metric, score_text))
        if place not in bounds:
            return mean
        return mean._replace(note=f"{mean.note} stages ±{score_text(bounds[place])}".lstrip())

    return {metric: partial(cell, metric) for metric in ("endpoint_delta", *METRICS)}


def _accuracy(facts: Facts, variant: str) -> Field:
    of_models = {row.model_id: row for row in facts.accuracies if row.variant == variant}

    def cell(model: Row) -> Cell:
        row = of_models.get(model.model_id)
        if row is None:
            return Cell(MISSING)
        return Cell(percent_text(row.accuracy), hover=f"{count_text(row.image_count)} inputs")

    meaning = f"Share of clean inputs of the kind {variant!r} that the model classifies correctly"
    return Field(Column("Accuracy", f"on {variant!r} inputs", meaning), cell)
