"""Analyses over all models of a run, such as matched pairs and probes."""

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa

from decaf.evaluation.labels.base import StudyParts
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.scope import Scope
from warehouse.tables.declarations import (
    FACTUAL_CONTEXTS,
    MATCHED_PAIRS,
    PROBE_PREDICTIONS,
    PROBE_SCORES,
    PROBE_UNITS,
)


class Analyse(Kind):
    """One unit for each table, in a study with labels; later tables may read earlier ones."""

    name = "analyse"
    code = 1
    tables = (FACTUAL_CONTEXTS, MATCHED_PAIRS, PROBE_SCORES, PROBE_UNITS, PROBE_PREDICTIONS)
    uses_model = False
    is_local = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every table that the study's labels ask for."""
        study = scope.study
        if study.labels is None:
            return
        needs = tuple(unit for unit in planned if unit.kind != self.name)
        for table, definition in study.labels.analyses(study_parts(study)).items():
            parts = {"definition": json.dumps(definition, sort_keys=True), "code": str(self.code)}
            yield Unit(self.name, table, None, None, parts, needs=needs)

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Compute the rows of one table from the stored results of the study."""
        # These load scipy.stats and DuckDB, which planning and workers do not need.
        from tasks.units.analyses import CASE_TABLES
        from tasks.units.labelled_cases import read_cases
        from warehouse.query.damage import connect_whole

        (unit,) = units
        task, study = bench.task, bench.task.study
        if unit.name in CASE_TABLES:
            with connect_whole(task.destination.store, study.study) as connection:
                labelled = read_cases(connection, study)
            tables = CASE_TABLES[unit.name](labelled, json.loads(unit.parts["definition"]))
        else:
            columns = study.labels.rows(unit.name, study_parts(study), task.pairs)
            tables = {unit.name: pa.table(dict(columns))}
        return {
            name: rows.add_column(0, "unit_key", pa.repeat(unit.key, rows.num_rows))
            for name, rows in tables.items()
        }


def study_parts(study: Study) -> StudyParts:
    """Data, models and methods of a study for its labels."""
    return StudyParts(study.data, study.models, study.attributions, study.baselines)
