"""Tables of the baselines: what other methods say of a factor, and what they take."""

from warehouse.tables.columns import (
    COUNT,
    DEVICE,
    LOAD_SECONDS,
    PEAK_MEMORY,
    REAL,
    RUN_ID,
    TEXT,
    TIME,
    WORKER,
    Column,
    Table,
)

BASELINE_KEY = Column("baseline_key", TEXT, "digest of everything that determines the baseline")
METHOD = Column("method", TEXT, "name of the baseline in the study")
COMPONENT = Column("component", TEXT, "which of its numbers; `score` where it has one")

BASELINE_SCORES = Table(
    "baseline_scores",
    "what other methods say of a table's factor",
    "one row per study, model, baseline and component",
    ("study", "model_id", "method", "component", "baseline_key"),
    ("study", "model_id"),
    (
        BASELINE_KEY,
        METHOD,
        COMPONENT,
        Column("score", REAL, "what it says of the factor, its own units; may be undefined", True),
        Column("explained_rows", COUNT, "audited rows that it is about"),
        Column("reason", TEXT, "why score is NULL", True),
    ),
    paper="section 5, appendix I",
)

BASELINE_COSTS = Table(
    "baseline_costs",
    "what each baseline of a model took",
    "one row per baseline of a model",
    ("study", "model_id", "baseline_key"),
    ("study", "model_id"),
    (
        BASELINE_KEY,
        METHOD,
        Column("predicted_rows", COUNT, "rows sent through the model, or a refit of it"),
        LOAD_SECONDS,
        Column("prepare_seconds", REAL, "reading rows, importing libraries, s"),
        Column("wall_seconds", REAL, "the baseline itself, s"),
        Column("cpu_seconds", REAL, "processor time of the worker meanwhile, all threads, s"),
        PEAK_MEMORY,
        DEVICE,
        WORKER,
        Column("started_at", TIME, "when the baseline began"),
    ),
    paper="appendix I",
)

RUN_BASELINES = Table(
    "run_baselines",
    "baselines that each run planned",
    "one row per run, planned baseline of a model and component",
    ("study", "run_id", "baseline_key", "component"),
    ("study",),
    (
        RUN_ID,
        BASELINE_KEY,
        METHOD,
        COMPONENT,
        Column("model_id", TEXT, "model that is explained"),
    ),
)
