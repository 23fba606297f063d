"""The report's tables of one audit: what was audited, the profiles and the warnings."""

from warehouse.report.audit.columns import (
    ACTIVE,
    METRIC_COLUMNS,
    MODEL,
    PAIR_TYPE,
    PAIRS,
    PATH,
    decimals_of,
)
from warehouse.report.audit.facts import (
    METRICS,
    Accuracy,
    Facts,
    Interval,
    Model,
    PairType,
    Profile,
    Warned,
)
from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Table,
    count,
    digest,
    percent,
    runnable,
    score,
)


def glance_table(facts: Facts) -> Table:
    """How far the models differ on the first path, one row per pair type."""
    columns = (
        PAIR_TYPE,
        PATH,
        ACTIVE._replace(unit="share of pairs"),
        Column(
            "Contradiction",
            "share of Abs",
            "C / Abs from the lowest to the highest model",
            metric="contradiction",
        ),
        Column(
            "Fragility",
            "share of Abs",
            "F / Abs from the lowest to the highest model",
            metric="fragility",
        ),
    )
    rows = []
    for pair_type in facts.profiled_types:
        path = facts.paths[0]
        profiles = [row for row in facts.profiles if (row.pair_type, row.path) == (pair_type, path)]
        spreads = (
            _spread([(getattr(row, field), row.model_id) for row in profiles])
            for field in ("active_frac", "contradiction_frac", "fragility_frac")
        )
        rows.append((Cell(pair_type), Cell(path), *spreads))
    note = "From the lowest to the highest model." if len(facts.models) > 1 else ""
    return Table("At a glance", columns, tuple(rows), runnable(Profile.query, facts.study), note)


def pair_type_table(facts: Facts) -> Table:
    """What was changed, and how often."""
    columns = (
        PAIR_TYPE,
        Column("Factual", meaning="Kind of the factual input", is_number=False),
        Column("Counterfactual", meaning="Kind of the counterfactual input", is_number=False),
        Column("Pairs", "count", "Planned pairs"),
        Column("Sources", "count", "What the pairs are about; intervals resample these"),
    )
    rows = tuple(
        (
            Cell(row.pair_type),
            Cell(row.plus_variant),
            Cell(row.minus_variant),
            Cell(count(row.pair_count)),
            Cell(count(row.source_count)),
        )
        for row in facts.pair_types
    )
    return Table("Pairs", columns, rows, runnable(PairType.query, facts.study))


def model_table(facts: Facts) -> Table:
    """The models, with their accuracy on every kind of clean image that has predictions."""
    variants = sorted({row.variant for row in facts.accuracies})
    accuracy = {(row.model_id, row.variant): row for row in facts.accuracies}
    columns = (
        MODEL,
        Column("Family", meaning="Architecture family", is_number=False),
        Column(
            "Weights", "SHA-256", "Digest of the files, or of address and version", is_number=False
        ),
        *(
            Column(variant, "accuracy", f"Share of clean {variant} images classified correctly")
            for variant in variants
        ),
    )
    rows = tuple(
        (
            Cell(row.model_id, row.architecture),
            Cell(row.family),
            digest(row.weights_sha256),
            *(_accuracy(accuracy.get((row.model_id, variant))) for variant in variants),
        )
        for row in facts.models
    )
    note = "" if variants else "No class predictions are stored, so no accuracy is shown."
    sql = runnable(Model.query, facts.study)
    if variants:
        sql += ";\n\n" + runnable(Accuracy.query, facts.study)
    return Table("Models", columns, rows, sql, note)


def profile_tables(facts: Facts) -> tuple[Table, ...]:
    """One table per pair type and path: mean and interval of every metric, per model."""
    decimals = decimals_of(facts)
    intervals = {
        (row.pair_type, row.path, row.model_id, row.metric): row for row in facts.intervals
    }
    columns = (MODEL, PAIRS, ACTIVE, *(METRIC_COLUMNS[metric] for metric in METRICS))
    sql = runnable(Interval.query, facts.study)
    tables = []
    for pair_type in facts.profiled_types:
        for path in facts.paths:
            rows = tuple(
                (
                    Cell(row.model_id),
                    Cell(count(row.pair_count)),
                    Cell(percent(row.active_frac)),
                    *(
                        _interval(
                            getattr(row, metric),
                            intervals.get((pair_type, path, row.model_id, metric)),
                            decimals,
                        )
                        for metric in METRICS
                    ),
                )
                for row in facts.profiles
                if (row.pair_type, row.path) == (pair_type, path)
            )
            if rows:
                tables.append(Table(f"{pair_type} · {path}", columns, rows, sql))
    return tuple(tables)


def warning_table(facts: Facts) -> Table:
    """What a reader must know before trusting the numbers."""
    columns = (
        MODEL,
        Column("Warning", is_number=False),
        Column("Affected", "count", "Trajectories, blocks or images, as the explanation says"),
        Column("What it means", is_number=False),
    )
    rows = tuple(
        (
            Cell(row.model_id or "all"),
            Cell(row.warning),
            Cell(count(row.affected_count)),
            Cell(row.detail),
        )
        for row in facts.warnings
    )
    return Table("Warnings", columns, rows, runnable(Warned.query, facts.study))


def _spread(shares: list[tuple[float | None, str]]) -> Cell:
    """Lowest and highest share; the note names the model with the highest."""
    known = sorted((share, model) for share, model in shares if share is not None)
    if not known:
        return Cell(MISSING)
    (low, _), (high, model) = known[0], known[-1]
    if len(known) == 1:
        return Cell(percent(high))
    return Cell(f"{percent(low)} – {percent(high)}", f"highest: {model}")


def _accuracy(row: Accuracy | None) -> Cell:
    if row is None:
        return Cell(MISSING)
    return Cell(percent(row.accuracy), hover=f"{count(row.image_count)} images")


def _interval(mean: float | None, row: Interval | None, decimals: int) -> Cell:
    if row is None or row.lower_95 is None or row.upper_95 is None:
        return Cell(score(mean, decimals))
    return Cell(
        score(mean, decimals), f"[{score(row.lower_95, decimals)}, {score(row.upper_95, decimals)}]"
    )
