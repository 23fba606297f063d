"""Tables of the baselines: what other methods say of a factor, and what they take."""

from warehouse.tables.columns import COUNT, REAL, TEXT, UNIT_KEY, Column, Table

BASELINE_SCORES = Table(
    "baseline_scores",
    "what other methods say of a table's factor",
    "one row per study, model, baseline and component",
    ("study", "model_id", "method", "component", "unit_key"),
    (
        UNIT_KEY,
        Column("method", TEXT, "name of the baseline in the study"),
        Column("component", TEXT, "which of its numbers; `score` where it has one"),
        Column("score", REAL, "what it says of the factor, its own units; may be undefined", True),
        Column("explained_rows", COUNT, "audited rows that it is about"),
        Column("reason", TEXT, "why score is NULL", True),
    ),
    partition=("study", "model_id"),
    paper="section 5, appendix I",
)
