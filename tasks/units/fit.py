"""Fit reveal paths to the clean inputs of a study, and draw their random starts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, open_inputs
from decaf.foundation.arrays import as_taken
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.third_party import code_of
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.reveal.path import RevealPath, Words
from decaf.scoring.starts import store_starts
from tasks.editions import EDITION
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import file_rows
from tasks.units.scope import Scope
from warehouse.tables.declarations import MADE_FILES

INPUTS_AT_ONCE = 1024
SOURCES_AT_ONCE = 32


class Fit(Kind):
    """One unit for each fitted path or path with drawn starts; models and blocks share it."""

    name = "fit"
    code = 1
    tables = (MADE_FILES,)
    uses_model = False
    is_local = True
    prepares = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every path that needs it."""
        study, inputs = scope.study, scope.pairs.input_set.digest
        for name, path in study.paths.items():
            if path.fitted_file(_folder(study.workspace), inputs) or path.has_drawn_start:
                parts = {
                    "inputs": inputs,
                    "pairs": scope.pairs.digest,
                    "reveal": json_sha256([path.identity(inputs), code_of(path)]),
                    "stages": json_sha256(path.grid(study.grid).tolist()),
                    "pair_types": json_sha256(path.pair_types),
                    "code": str(self.code),
                }
                yield Unit(self.name, name, None, None, parts)

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Make missing files; for a forced unit, make all files again.

        Stores the measurements of the fitted path with each file.
        """
        (unit,) = units
        task, files = bench.task, self.files(unit, bench.task.study)
        path = fitted_paths(task.study.paths, task.study.workspace, unit.parts["inputs"])[unit.name]
        for file in files:
            if file.exists() and EDITION not in unit.parts:
                continue
            if file == starts_file(unit, task.study.workspace):
                stored = channels_first(open_inputs(task.files.clean))
                draws = _draws(path, bench, stored)
                store_starts(file, path.start, draws, as_taken(stored[:1])[0])
            else:
                path.fit(_batches(task.files.clean), file)
        measured = path.measurements(path.grid(task.study.grid))
        outcome = json.dumps(measured) if measured else None
        made_files = [(file, None, outcome) for file in files]
        return {"made_files": file_rows(unit.key, task.study.workspace, made_files)}

    def files(self, unit: Unit, study: Study) -> tuple[Path, ...]:
        """File of the fit, and file of random starts, which may depend on the fit."""
        path = study.paths[unit.name]
        fitted = path.fitted_file(_folder(study.workspace), unit.parts["inputs"])
        starts = starts_file(unit, study.workspace) if path.has_drawn_start else None
        return tuple(file for file in (fitted, starts) if file is not None)


def fitted_paths(
    paths: Mapping[str, RevealPath], workspace: Path, inputs_digest: str
) -> dict[str, RevealPath]:
    """Reveal paths with the files of their fits to the clean inputs."""
    folder = _folder(workspace)
    return {name: path.with_fitted_file(folder, inputs_digest) for name, path in paths.items()}


def starts_file(unit: Unit, workspace: Path) -> Path:
    """File of the random starts of a path, named by the unit's parts."""
    parts = {name: value for name, value in unit.parts.items() if name != EDITION}
    return _folder(workspace) / f"starts-{short(json_sha256(parts))}.npy"


def _folder(workspace: Path) -> Path:
    return (workspace / "fitted").absolute()


def _draws(path: RevealPath, bench: Bench, stored: NDArray[Any]) -> Iterator[Words]:
    """(n, words) names of the random starts, block by block."""
    pairs, study = bench.task.pairs, bench.task.study
    for rows in pairs.blocks(SOURCES_AT_ONCE):
        block = pairs.block(rows)
        block = block.of_rows(block.rows_of_types(path.pair_types))
        if block.pair_count:
            inputs = stored[block.input_positions]
            revealed = path.reveal(block, inputs, path.grid(study.grid))
            yield np.unique(revealed.draw.reshape(-1, revealed.draw.shape[-1]), axis=0)


def _batches(inputs: Path) -> Iterator[NDArray[np.floating]]:
    """All clean inputs as models take them, a batch at a time."""
    stored = open_inputs(inputs)
    for first in range(0, len(stored), INPUTS_AT_ONCE):
        yield as_taken(channels_first(stored[first : first + INPUTS_AT_ONCE]))
