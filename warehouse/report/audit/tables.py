"""The report's tables of one audit: what was audited, the profiles, the warnings and the costs."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from warehouse.report.audit.columns import (
    ACTIVE,
    METRIC_COLUMNS,
    MODEL,
    PAIR_TYPE,
    PAIRS,
    PATH,
    decimals_of,
)
from warehouse.report.audit.facts import METRICS, Facts, Row, at
from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Field,
    Table,
    count,
    digest,
    field,
    number,
    percent,
    table,
    with_interval,
)

SPREADS = {
    "active_frac": ACTIVE.column._replace(unit="share of pairs"),
    "contradiction_frac": Column(
        "Contradiction",
        "share of Abs",
        "C / Abs from the lowest to the highest model",
        metric="contradiction",
    ),
    "fragility_frac": Column(
        "Fragility",
        "share of Abs",
        "F / Abs from the lowest to the highest model",
        metric="fragility",
    ),
}
"""Shares of which the first table says how far they spread."""
PAIR_TYPES = (
    PAIR_TYPE,
    field("plus_variant", "Factual", meaning="Kind of the factual input"),
    field("minus_variant", "Counterfactual", meaning="Kind of the counterfactual input"),
    field("pair_count", "Pairs", "count", "Planned pairs", count),
    field(
        "source_count",
        "Sources",
        "count",
        "What the pairs are about; intervals resample these",
        count,
    ),
)
WEIGHTS = Column(
    "Weights", "SHA-256", "Digest of the files, or of address and version", is_number=False
)
WARNINGS = (
    field("model_id", "Model", write=lambda model: model or "all", is_number=False),
    field("warning", "Warning"),
    field(
        "affected_count",
        "Affected",
        "count",
        "Trajectories, blocks or images, as the explanation says",
        count,
    ),
    field("detail", "What it means"),
)
GIB = 2**30
COSTS = (
    field("model_id", "Model", note="device"),
    field("block_count", "Blocks", "count", "Units of work that were committed", count),
    PAIRS,
    field("forward_rows", "Rows", "forward", "Distinct inputs that went through the model", count),
    field(
        "naive_rows",
        "Rows",
        "naive",
        "Inputs if every stage and branch were scored on its own",
        count,
    ),
    field("rows_saved_frac", "Saved", "of rows", "Rows that sharing equal inputs saved", percent),
    field(
        "forward_seconds", "Forward", "s", "Time in forward passes, added up over blocks", number
    ),
    field(
        "wall_seconds",
        "Wall",
        "s",
        "Time from the start of a scan to its commit, added up over blocks",
        number,
    ),
    field("rows_per_second", "Rate", "rows/s", "Forward rows per second of wall time", number),
    field("batch_size", "Batch", "rows", "Largest batch that was used", count),
    field(
        "peak_memory_bytes",
        "Memory",
        "GiB",
        "Largest peak of a scan",
        lambda size: number(size / GIB, 2),
    ),
)
SUMMED = (
    "block_count",
    "pair_count",
    "forward_rows",
    "naive_rows",
    "forward_seconds",
    "wall_seconds",
)
"""Costs of all models together are the sums of these."""


def glance_table(facts: Facts) -> Table:
    """How far the models differ on the first path, one row per pair type."""
    path = next(iter(facts.paths), "")
    fields = (
        Field(PAIR_TYPE.column, Cell),
        Field(PATH.column, lambda _: Cell(path)),
        *(Field(column, _spread(facts, path, of)) for of, column in SPREADS.items()),
    )
    note = "From the lowest to the highest model." if len(facts.models) > 1 else ""
    return table("At a glance", fields, facts.profiled_types, facts.runnable("profiles"), note)


def model_table(facts: Facts) -> Table:
    """The models, with their accuracy on every kind of clean image that has predictions."""
    variants = sorted({row.variant for row in facts.accuracies})
    fields = (
        field("model_id", "Model", note="architecture"),
        field("family", "Family", meaning="Architecture family"),
        Field(WEIGHTS, lambda row: digest(row.weights_sha256)),
        *(_accuracy(facts, variant) for variant in variants),
    )
    note = "" if variants else "No class predictions are stored, so no accuracy is shown."
    parts = ("models", "accuracies") if variants else ("models",)
    return table("Models", fields, facts.models, ";\n\n".join(map(facts.runnable, parts)), note)


def profile_tables(facts: Facts) -> tuple[Table, ...]:
    """One table per pair type and path: mean and interval of every metric, per model."""
    fields = (MODEL, PAIRS, ACTIVE, *_with_intervals(facts))
    places = ((pair_type, path) for pair_type in facts.profiled_types for path in facts.paths)
    return tuple(
        table(f"{pair_type} · {path}", fields, rows, facts.runnable("intervals"))
        for pair_type, path in places
        if (rows := at(facts.profiles, pair_type, path))
    )


def cost_table(facts: Facts, shown: Facts) -> Table:
    """What scoring took, for every model that is shown and for all models together."""
    position = {row.model_id: place for place, row in enumerate(shown.models)}
    rows = sorted(shown.costs, key=lambda row: position[row.model_id])
    costs = table("Scoring", COSTS, rows, facts.runnable("costs"))
    if len(facts.costs) < 2:
        return costs
    sums = {name: sum(getattr(row, name) for row in facts.costs) for name in SUMMED}
    rows, naive, seconds = sums["forward_rows"], sums["naive_rows"], sums["wall_seconds"]
    total = facts.costs[0]._replace(
        model_id="All models",
        rows_saved_frac=1 - rows / naive if naive else None,
        rows_per_second=rows / seconds if seconds else None,
        batch_size=max(row.batch_size for row in facts.costs),
        peak_memory_bytes=max(row.peak_memory_bytes for row in facts.costs),
        device="",
        **sums,
    )
    return replace(costs, total=tuple(cost.cell(total) for cost in COSTS))


def _spread(facts: Facts, path: str, of: str) -> Callable[[str], Cell]:
    """Lowest and highest share of a pair type; the note names the model with the highest."""

    def cell(pair_type: str) -> Cell:
        rows = at(facts.profiles, pair_type, path)
        shares = ((getattr(row, of), row.model_id) for row in rows)
        known = sorted((share, model) for share, model in shares if share is not None)
        if not known:
            return Cell(MISSING)
        (low, _), (high, model) = known[0], known[-1]
        if len(known) == 1:
            return Cell(percent(high))
        return Cell(f"{percent(low)} – {percent(high)}", f"highest: {model}")

    return cell


def _with_intervals(facts: Facts) -> Iterator[Field]:
    decimals = decimals_of(facts)
    intervals = {
        (row.pair_type, row.path, row.model_id, row.metric): (row.lower_95, row.upper_95)
        for row in facts.intervals
    }
    for metric in METRICS:

        def cell(row: Row, metric: str = metric) -> Cell:
            place = (row.pair_type, row.path, row.model_id, metric)
            limits = intervals.get(place, (None, None))
            return with_interval(getattr(row, metric), *limits, decimals)

        yield Field(METRIC_COLUMNS[metric], cell)


def _accuracy(facts: Facts, variant: str) -> Field:
    of_models = {row.model_id: row for row in facts.accuracies if row.variant == variant}

    def cell(model: Row) -> Cell:
        row = of_models.get(model.model_id)
        if row is None:
            return Cell(MISSING)
        return Cell(percent(row.accuracy), hover=f"{count(row.image_count)} images")

    meaning = f"Share of clean {variant} images classified correctly"
    return Field(Column(variant, "accuracy", meaning), cell)
