"""Every table of the warehouse as data; some have modules of their own beside this one.

Writer, seed files, staging tests and the documentation derive from ``TABLES``. The columns of
``partition`` are Hive folders and are not repeated inside the files.
"""

from warehouse.tables.analyses import ANALYSES
from warehouse.tables.baselines import BASELINE_SCORES
from warehouse.tables.columns import (
    COUNT,
    FLAG,
    NAMES,
    PAIR_ID,
    PATH,
    REAL,
    REPETITION,
    RUN_ID,
    STAGES,
    TEXT,
    TIME,
    UNIT_KEY,
    Column,
    Table,
)
from warehouse.tables.reaudits import GATE_VERDICTS, REGISTRY_ENTRIES

TRAJECTORIES = Table(
    "trajectories",
    "committed score trajectories of both branches, as written",
    "one row per study, model, pair, path and repetition",
    ("study", "model_id", "pair_id", "path", "repetition", "unit_key"),
    (
        UNIT_KEY,
        PAIR_ID,
        PATH,
        REPETITION,
        Column("t", STAGES, "stage grid, from 0 to 1"),
        Column("q_plus", STAGES, "score of the factual branch at every stage, score units"),
        Column("q_minus", STAGES, "score of the counterfactual branch, score units"),
    ),
    partition=("study", "model_id"),
    paper="section 2",
)

PROFILES = Table(
    "profiles",
    "committed profiles at every epsilon that was routed, as written",
    "one row per trajectory and epsilon",
    ("study", "model_id", "pair_id", "path", "repetition", "unit_key"),
    (
        UNIT_KEY,
        PAIR_ID,
        PATH,
        REPETITION,
        Column("epsilon", REAL, "gate, score units"),
        Column("endpoint_delta", REAL, "d = q(x+) - q(x-), score units"),
        Column("endpoint_magnitude", REAL, "M = |d|, score units"),
        Column("evidence", REAL, "E, score units"),
        Column("contradiction", REAL, "C, score units"),
        Column("fragility", REAL, "F, score units"),
        Column("abs_response", REAL, "Abs = E + C + F, score units"),
        Column("net_response", REAL, "Net = E - C, score units"),
        Column("sign_flip_frac", REAL, "stage measure that opposes d; NULL on null pairs", True),
        Column("opposed_mass", REAL, "mass that opposes d, gate or not, score units"),
        Column("is_endpoint_active", FLAG, "|d| >= epsilon"),
    ),
    partition=("study", "model_id"),
    paper="section 3, equation 1",
)

PREDICTIONS = Table(
    "predictions",
    "score values of the clean images, as written",
    "one row per study, model and clean image",
    ("study", "model_id", "image_id", "unit_key"),
    (
        UNIT_KEY,
        Column("image_id", TEXT, "the clean image, unique in its study"),
        Column("class_scores", STAGES, "score of every class, or the one value of a regression"),
        Column("predicted_class", COUNT, "class of the largest score; NULL without classes", True),
    ),
    partition=("study", "model_id"),
    paper="appendix F",
)

QUARANTINE = Table(
    "quarantine",
    "trajectories withheld because a score was not finite",
    "one row per trajectory withheld because a score was not finite",
    ("study", "model_id", "pair_id", "path", "repetition", "unit_key"),
    (
        UNIT_KEY,
        PAIR_ID,
        PATH,
        REPETITION,
        Column("stage_count", COUNT, "stages of the trajectory"),
        Column("non_finite_count", COUNT, "scores that were NaN or infinite, of 2 x stages"),
    ),
    partition=("study", "model_id"),
)

COSTS = Table(
    "costs",
    "what computing units of work took",
    "one row per commit of units that take a model",
    ("study", "model_id", "commit_key"),
    (
        Column("commit_key", TEXT, "the commit: units that were computed together"),
        Column("kind", TEXT, "kind of its first unit; predict or score where a block was scanned"),
        Column("name", TEXT, "name of its first unit, such as the method"),
        Column("block", COUNT, "its block of pairs, from 0; NULL where it is of all pairs", True),
        Column("item_count", COUNT, "pairs of a block that was scanned, images measured", True),
        Column("forward_rows", COUNT, "rows sent through the model, or a refit of it"),
        Column("backward_rows", COUNT, "rows whose gradient was taken"),
        Column("naive_rows", COUNT, "rows that scoring every stage and branch would send", True),
        Column("batch_size", COUNT, "rows in the largest batch that was used", True),
        Column("requested_batch_size", COUNT, "batch size of the configuration"),
        Column("load_seconds", REAL, "loading the model, 0 when the worker held it, s"),
        Column("prepare_seconds", REAL, "planning and building states, or reading rows, s"),
        Column("forward_seconds", REAL, "forward passes, s; NULL where they are not timed", True),
        Column("wall_seconds", REAL, "all of it until the commit, s"),
        Column("cpu_seconds", REAL, "processor time without what was prepared, all threads, s"),
        Column("peak_memory_bytes", COUNT, "CUDA peak allocation, or the worker's peak RSS, bytes"),
        Column("device", TEXT, "device name"),
        Column("worker", TEXT, "host and process"),
        Column("started_at", TIME, "when the work began"),
    ),
    partition=("study", "model_id"),
    paper="appendix C.2 (query complexity)",
)

CORRUPTIONS = Table(
    "corruptions",
    "class scores of factual images under held-out corruptions of the background",
    "one row per study, model, factual image and corruption of its background",
    ("study", "model_id", "image_id", "corruption", "unit_key"),
    (
        UNIT_KEY,
        Column("image_id", TEXT, "the clean factual image"),
        Column("corruption", TEXT, "name of the corruption in the study"),
        Column("class_scores", STAGES, "score of every class on the corrupted image"),
        Column("predicted_class", COUNT, "class of the largest score; NULL without classes", True),
    ),
    partition=("study", "model_id"),
    paper="appendix F",
)

ATTRIBUTIONS = Table(
    "attributions",
    "spatial attribution inside the difference region of every pair",
    "one row per study, model, pair and spatial attribution method",
    ("study", "model_id", "pair_id", "method", "unit_key"),
    (
        UNIT_KEY,
        PAIR_ID,
        Column("method", TEXT, "name of the attribution method in the study"),
        Column("region_score", REAL, "absolute attribution of q(x+) where the pair differs"),
        Column("region_pixels", COUNT, "pixels where the pair differs, or near them"),
    ),
    partition=("study", "model_id"),
    paper="appendix F",
)

MADE_FILES = Table(
    "made_files",
    "files that units of work made in the workspace: checkpoints, fitted paths, random starts",
    "one row per study, unit of work and file",
    ("study", "unit_key", "file"),
    (
        UNIT_KEY,
        Column("file", TEXT, "the file, below the study's workspace"),
        Column("epoch", COUNT, "epoch that a checkpoint was kept after, from 1; else NULL", True),
        Column("sha256", TEXT, "digest of its content"),
        Column("byte_count", COUNT, "its size, bytes"),
        Column("outcome", TEXT, "what the training gave by then, JSON; NULL for other files", True),
    ),
)

CHOSEN_EPOCHS = Table(
    "chosen_epochs",
    "epochs of trainings that the rules of studies chose to audit",
    "one row per study, model with a rule and chosen epoch",
    ("study", "unit_key", "model", "epoch"),
    (
        UNIT_KEY,
        Column("model", TEXT, "id of the model with the rule; the epoch is audited as ID@eNN"),
        Column("epoch", COUNT, "the epoch, from 1"),
    ),
    paper='appendix "Evidence validation through training trajectories"',
)

RUNS = Table(
    "runs",
    "runs that were started",
    "one row per run, written when it starts",
    ("study", "run_id"),
    (
        RUN_ID,
        Column("started_at", TIME, "when the run became the current one of its study"),
        Column("epsilon", REAL, "gate of the run's profiles, score units"),
        Column("pairs_digest", TEXT, "digest of the pairs that are audited"),
        Column("unit_count", COUNT, "units of work of the plan"),
        Column("score", TEXT, "score definition, JSON"),
        Column("config", TEXT, "resolved configuration, JSON"),
        Column("software", TEXT, "versions of what computes the numbers, JSON"),
    ),
)

RUN_UNITS = Table(
    "run_units",
    "units of work that each run planned",
    "one row per run and unit of work that it plans",
    ("study", "run_id", "unit_key"),
    (
        RUN_ID,
        UNIT_KEY,
        Column("kind", TEXT, "what is computed, such as score, route or attribute"),
        Column("name", TEXT, "path, method or analysis; empty where a kind has one"),
        Column("model_id", TEXT, "its model; NULL where it is of all models", True),
        Column("block", COUNT, "its block of pairs, from 0; NULL where it is of all pairs", True),
        Column("row_count", COUNT, "rows that it accounts for; NULL where that is not known", True),
    ),
)

UNIT_PARTS = Table(
    "unit_parts",
    "what determines the units of work of every run, part by part",
    "one row per run, unit of work and part of its key",
    ("study", "run_id", "unit_key", "part"),
    (
        RUN_ID,
        UNIT_KEY,
        Column("part", TEXT, "what determines the unit, such as weights, pairs or epsilon"),
        Column("value", TEXT, "its value, or a digest of it"),
    ),
)

MODELS = Table(
    "models",
    "models of each run, with their cards",
    "one row per run and audited model",
    ("study", "run_id", "model_id"),
    (
        RUN_ID,
        Column("model_id", TEXT, "the model's name in the study"),
        Column("position", COUNT, "order in the configuration, from 0"),
        Column("family", TEXT, "architecture family"),
        Column(
            "architecture", TEXT, "source and name of the architecture, file, function, address"
        ),
        Column("weights_sha256", TEXT, "digest of the files, or of address and version"),
        Column("card", TEXT, "model card with preprocessing, JSON"),
        Column("training", TEXT, "training recipe and its outcome, JSON", True),
    ),
    paper="appendix F.2",
)

PATHS = Table(
    "paths",
    "reveal paths of each run",
    "one row per run and reveal path",
    ("study", "run_id", "path"),
    (
        RUN_ID,
        PATH,
        Column("position", COUNT, "order in the configuration, from 0"),
        Column("kind", TEXT, "kind of the path"),
        Column("identity", TEXT, "what its states depend on besides the stages, JSON"),
        Column("t", STAGES, "its stage grid, from 0 to 1"),
        Column("repetition_count", COUNT, "random repetitions of every pair"),
        Column("has_common_start", FLAG, "both branches start from one state, so that r(0) = 0"),
        Column("pair_types", NAMES, "types of the pairs that it scores; NULL for all", True),
    ),
    paper="section 2; section 5",
)

PAIRS = Table(
    "pairs",
    "sets of pairs that were audited",
    "one row per set of pairs and pair",
    ("study", "pairs_digest", "pair_id"),
    (
        Column("pairs_digest", TEXT, "digest of the whole set of pairs"),
        PAIR_ID,
        Column("source_id", TEXT, "what the pair is about (a foreground, a scene): the cluster"),
        Column("pair_type", TEXT, "which change makes the counterfactual"),
        Column("class_id", COUNT, "true class, index into the study's classes"),
        Column("split", TEXT, "split of the source"),
        Column("plus_image", TEXT, "image_id of the factual input"),
        Column("minus_image", TEXT, "image_id of the counterfactual input"),
        Column("plus_variant", TEXT, "kind of the factual input"),
        Column("minus_variant", TEXT, "kind of the counterfactual input"),
    ),
    paper="section 2; appendix F.3",
)

IMAGES = Table(
    "images",
    "clean inputs of the sets of pairs that were audited",
    "one row per set of pairs and clean input",
    ("study", "pairs_digest", "image_id"),
    (
        Column("pairs_digest", TEXT, "digest of the whole set of pairs"),
        Column("image_id", TEXT, "the clean input, unique in its study"),
        Column("variant", TEXT, "kind of the input"),
        Column("digest", TEXT, "digest of what the input is made from, such as its file"),
    ),
)

IMAGE_FILES = Table(
    "image_files",
    "files behind the clean inputs of the sets of pairs that were audited",
    "one row per set of pairs and clean input that has a file of its own",
    ("study", "pairs_digest", "image_id"),
    (
        Column("pairs_digest", TEXT, "digest of the whole set of pairs"),
        Column("image_id", TEXT, "the clean input, unique in its study"),
        Column("file", TEXT, "the file that it was read from, below the folder of the data set"),
    ),
)

RUN_REMARKS = Table(
    "run_remarks",
    "what each run leaves out of its data",
    "one row per run and remark on what of the data it leaves out",
    ("study", "run_id", "position"),
    (
        RUN_ID,
        Column("position", COUNT, "order of the remarks, from 0"),
        Column("remark", TEXT, "what is not used, and why, in words"),
    ),
)

RUN_OUTCOMES = Table(
    "run_outcomes",
    "runs that computed every unit and passed their checks",
    "one row per run that computed every unit and passed its checks",
    ("study", "run_id"),
    (
        RUN_ID,
        Column("finished_at", TIME, "when the last unit was committed and the checks passed"),
        Column("forward_rows", COUNT, "forward rows of the run's scans"),
        Column("quarantined_count", COUNT, "trajectories withheld"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TRAJECTORIES,
        PROFILES,
        PREDICTIONS,
        QUARANTINE,
        COSTS,
        CORRUPTIONS,
        ATTRIBUTIONS,
        BASELINE_SCORES,
        *ANALYSES,
        MADE_FILES,
        CHOSEN_EPOCHS,
        RUNS,
        RUN_UNITS,
        UNIT_PARTS,
        MODELS,
        PATHS,
        PAIRS,
        IMAGES,
        IMAGE_FILES,
        RUN_REMARKS,
        RUN_OUTCOMES,
        REGISTRY_ENTRIES,
        GATE_VERDICTS,
    )
}
