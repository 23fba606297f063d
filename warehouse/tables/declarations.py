"""Every table of the warehouse as data, from ``tables.csv`` and ``columns.csv`` in this folder.

Writer, seed files, staging tests and the documentation derive from ``TABLES``. The columns by which
a table is partitioned (``folders``) are Hive folders and are not repeated inside the files. A
column without a type is shared: a line without a table defines it for all tables.
"""

import csv
from pathlib import Path

from warehouse.tables.columns import SQL_TYPES, Column, Table


def _lines(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _tables() -> dict[str, Table]:
    types = {name: type_ for type_, name in SQL_TYPES.items()}
    columns: dict[str, dict[str, Column]] = {}
    for line in _lines("columns.csv"):
        table, name = line["table"], line["column"]
        columns.setdefault(table, {})[name] = (
            Column(name, types[line["type"]], line["meaning"], line["null"] == "NULL")
            if line["type"]
            else columns[""][name]
        )
    return {
        line["table"]: Table(
            line["table"],
            line["purpose"],
            line["grain"],
            tuple(line["key"].split()),
            tuple(columns[line["table"]].values()),
            tuple(line["folders"].split()),
            line["paper"] or "none",
        )
        for line in _lines("tables.csv")
    }


TABLES = _tables()
TRAJECTORIES, PROFILES = TABLES["trajectories"], TABLES["profiles"]
REPEATS = TABLES["repeats"]
PREDICTIONS, QUARANTINE = TABLES["predictions"], TABLES["quarantine"]
COSTS, CORRUPTIONS, ATTRIBUTIONS = TABLES["costs"], TABLES["corruptions"], TABLES["attributions"]
BASELINE_SCORES, MATCHED_PAIRS = TABLES["baseline_scores"], TABLES["matched_pairs"]
PROBE_SCORES, PROBE_UNITS = TABLES["probe_scores"], TABLES["probe_units"]
PROBE_PREDICTIONS, FACTUAL_CONTEXTS = TABLES["probe_predictions"], TABLES["factual_contexts"]
RUNS, RUN_UNITS, UNIT_PARTS = TABLES["runs"], TABLES["run_units"], TABLES["unit_parts"]
RUN_REMARKS, RUN_OUTCOMES = TABLES["run_remarks"], TABLES["run_outcomes"]
CLASS_NAMES = TABLES["class_names"]
MODEL_TRIALS, MODEL_FAILURES = TABLES["model_trials"], TABLES["model_failures"]
SHOWN_PAIRS = TABLES["shown_pairs"]
RUN_STOPS, LOOKS = TABLES["run_stops"], TABLES["looks"]
MODELS, PATHS, PAIRS = TABLES["models"], TABLES["paths"], TABLES["pairs"]
IMAGES, IMAGE_FILES, FEATURES = TABLES["images"], TABLES["image_files"], TABLES["features"]
PAIR_GROUPS = TABLES["pair_groups"]
MADE_FILES, CHOSEN_EPOCHS = TABLES["made_files"], TABLES["chosen_epochs"]
