"""Tables of re-audits: what a registry listed, and what the gates said of what changed."""

from warehouse.tables.columns import COUNT, REAL, TEXT, TIME, Column, Table

REAUDIT_ID = Column("reaudit_id", TEXT, "the re-audit: digest of what was listed, and when")
ENTRY = Column("entry", TEXT, "entry of the registry: its name, or name@alias")

REGISTRY_ENTRIES = Table(
    "registry_entries",
    "entries of the registry at every re-audit",
    "one row per re-audit and entry of the registry, those that went included",
    ("study", "reaudit_id", "entry"),
    (
        REAUDIT_ID,
        Column("run_id", TEXT, "run that holds its models; NULL when none could be audited", True),
        Column("resolved_at", TIME, "when the registry was asked"),
        ENTRY,
        Column("name", TEXT, "name of the model in the registry"),
        Column("version", TEXT, "version, as the registry calls it"),
        Column("alias", TEXT, "alias that is followed; empty where the newest version is"),
        Column("digest", TEXT, "digest of the entry, as the registry gives it"),
        Column("state", TEXT, "audited, failed, or gone"),
        Column("change", TEXT, "what changed since it was last audited; none, or version alone"),
        Column("model_id", TEXT, "model of the run that it is; NULL unless audited", True),
        Column("weights_sha256", TEXT, "digest of the weights; NULL when they are not known", True),
        Column("preprocessing_sha256", TEXT, "digest of all else that changes outputs", True),
        Column("problem", TEXT, "why it failed, or what to know of it", True),
        Column("previous_reaudit_id", TEXT, "re-audit that it was last audited in", True),
    ),
)

GATE_VERDICTS = Table(
    "gate_verdicts",
    "what the gates said at every re-audit",
    "one row per re-audit, and rule of a gate on one row of the drift",
    ("study", "reaudit_id", "position"),
    (
        REAUDIT_ID,
        Column("position", COUNT, "order of the rows, from 0"),
        ENTRY,
        Column("metric", TEXT, "column that the gate is on"),
        Column("rule", TEXT, "increase, decrease, at_most or at_least"),
        Column("pair_type", TEXT, "pair type of the row; NULL of accuracy", True),
        Column("path", TEXT, "reveal path of the row; NULL of accuracy", True),
        Column("variant", TEXT, "kind of clean image; NULL unless accuracy", True),
        Column("gate_limit", REAL, "limit of the gate, unit of the metric"),
        Column("level", REAL, "level of the interval that decides"),
        Column("found", REAL, "change or value that was found", True),
        Column("lower_limit", REAL, "lower end of its interval", True),
        Column("upper_limit", REAL, "upper end of its interval", True),
        Column("verdict", TEXT, "pass, not enough evidence, or fail"),
        Column("reason", TEXT, "why there is no interval", True),
    ),
)
