"""Tables of what is computed over all models of a run at its end."""

from warehouse.tables.columns import COUNT, FLAG, REAL, TEXT, UNIT_KEY, Column, Table

MATCHED_PAIRS = Table(
    "matched_pairs",
    "units of about equal Abs, matched one to one",
    "one row per analysis and pair of units of about equal Abs",
    ("study", "unit_key", "position"),
    (
        UNIT_KEY,
        Column("position", COUNT, "place of the pair in ascending order of the left Abs, from 0"),
        Column("left_model_id", TEXT, "model of the unit with the smaller Abs"),
        Column("left_source_id", TEXT, "source of that unit; empty where a unit is a whole model"),
        Column("left_abs_response", REAL, "its Abs, score units"),
        Column("right_model_id", TEXT, "model of the other unit"),
        Column("right_source_id", TEXT, "source of the other unit; empty likewise"),
        Column("right_abs_response", REAL, "its Abs, score units"),
    ),
    paper="appendix F (magnitude-matched pairs)",
)

PROBE_SCORES = Table(
    "probe_scores",
    "probes of behaviours, each judged on a held-out family of models",
    "one row per analysis, representation, probe, held-out family and label",
    ("study", "unit_key", "representation", "probe", "family", "label"),
    (
        UNIT_KEY,
        Column("representation", TEXT, "features that the probe sees"),
        Column("probe", TEXT, "estimator"),
        Column("family", TEXT, "architecture family that is held out"),
        Column("label", TEXT, "behaviour"),
        Column("auroc", REAL, "on the held-out family; NULL where it is undefined", True),
        Column("train_count", COUNT, "units of the other families"),
        Column("train_positives", COUNT, "those that show the behaviour"),
        Column("test_count", COUNT, "units of the family"),
        Column("test_positives", COUNT, "those that show the behaviour"),
        Column("reason", TEXT, "why auroc is NULL", True),
    ),
    paper="section 6.2 (leave-one-family-out probes)",
)

PROBE_UNITS = Table(
    "probe_units",
    "what probes of behaviours said of every unit of the family that was held out",
    "one row per analysis, representation, probe, unit and label",
    ("study", "unit_key", "representation", "probe", "model_id", "source_id", "label"),
    (
        UNIT_KEY,
        Column("representation", TEXT, "features that the probe sees"),
        Column("probe", TEXT, "estimator"),
        Column("model_id", TEXT, "model of the unit"),
        Column("source_id", TEXT, "source of the unit"),
        Column("family", TEXT, "architecture family of the model, held out from the probe"),
        Column("label", TEXT, "behaviour"),
        Column("is_shown", FLAG, "whether the unit shows the behaviour"),
        Column("probability", REAL, "of the behaviour; NULL where the fold is undefined", True),
    ),
    paper="section 6.2 (leave-one-family-out probes)",
)

PROBE_PREDICTIONS = Table(
    "probe_predictions",
    "what probes said of every unit of the family of models that was held out",
    "one row per analysis, representation, unit and label that a probe chose between",
    ("study", "unit_key", "representation", "model_id", "label"),
    (
        UNIT_KEY,
        Column("representation", TEXT, "features that the probe sees"),
        Column("model_id", TEXT, "the unit: a model of the family that is held out"),
        Column("family", TEXT, "architecture family that is held out"),
        Column("label", TEXT, "mechanism"),
        Column("probability", REAL, "of the label; NULL where it is undefined", True),
        Column("feature_count", COUNT, "features that a unit of the other families has a value of"),
        Column("train_count", COUNT, "units of the other families"),
        Column("reason", TEXT, "why probability is NULL", True),
    ),
    paper="appendix I (fixed semantic readout)",
)

FACTUAL_CONTEXTS = Table(
    "factual_contexts",
    "own context of every audited row, as drawn for every training seed",
    "one row per analysis, module, training seed and audited row of the table",
    ("study", "unit_key", "module", "seed", "source_id"),
    (
        UNIT_KEY,
        Column("module", TEXT, "direction or fragility: which namespace the numbers are of"),
        Column("seed", COUNT, "training seed of the models that the contexts are drawn for"),
        Column("source_id", TEXT, "the audited row"),
        Column("context", COUNT, "the row's own context, -1 or 1"),
    ),
    paper="appendix I (setup)",
)

ANALYSES = (MATCHED_PAIRS, PROBE_SCORES, PROBE_UNITS, PROBE_PREDICTIONS, FACTUAL_CONTEXTS)
