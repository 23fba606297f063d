"""Bench: the model, the inputs and the costs of a task on a worker."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, inputs_at
from decaf.data.pairs import PairBlock, PairSet
from decaf.foundation.arrays import Tensor, page_locked
from decaf.foundation.memory import halve_batch_size, is_out_of_memory
from decaf.models.card import Model
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.scoring.block import BlockScores
from decaf.scoring.planner import StatePlan
from decaf.scoring.states import on_device
from tasks.cluster.worker import (
    TaskModel,
    device_name,
    has_gpu,
    load_model,
    peak_memory,
    reset_peak_memory,
    worker_name,
)
from tasks.units.repeats import scorers_of
from warehouse.commits.stored import read_unit
from warehouse.storage import Storage

Result = TypeVar("Result")
StoredRows = dict[tuple[str, str], pa.Table | None]
"""Rows of units that were read from the warehouse, by their keys and tables."""
SUMMED_COLUMNS = (
    "item_count",
    "forward_rows",
    "backward_rows",
    "naive_rows",
    "load_seconds",
    "prepare_seconds",
    "forward_seconds",
    "wall_seconds",
    "cpu_seconds",
)
LARGEST_COLUMNS = ("batch_size", "peak_memory_bytes")
"""Columns of ``costs`` that parts of a task add up, and those of which the largest counts."""
PART_COLUMNS = {"predictions": "image_id", "trajectories": "pair_id", "repeats": "pair_id"}
"""Tables that a task may read for a part of a block, and the column that selects it."""


@dataclass(frozen=True)
class BlockPart:
    """Pairs of a block whose inputs have one shape."""

    block: PairBlock | None
    """None for units of all pairs."""
    source_positions: NDArray[np.int64]
    """(n_sources,) positions of the block's sources among all sources, sorted by name."""


@dataclass(frozen=True)
class InputFiles:
    """Files of the workspace that units are computed from."""

    clean: Path
    """File of the clean inputs."""
    masks: Path | None = None
    """File of the masks of features; None for data without features."""
    foregrounds: Path | None = None
    """File of the images that labels need."""
    starts: Mapping[str, Path] = field(default_factory=dict)
    """File of the random starts of each path, if it has any."""


@dataclass(frozen=True)
class StoredUnits:
    """Units whose rows are in the warehouse, and are read to compute others."""

    scored_units: tuple[Unit, ...] = ()
    """Units of the same model and block whose scores are stored."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Commits by the keys of the scored units and of needed units."""


@dataclass(frozen=True)
class Destination:
    """Place in a warehouse where the rows of one task are committed."""

    store: Storage
    study: str
    key: str
    """Key of the commit."""
    software: Mapping[str, str]
    """Versions of the libraries that compute the rows."""


@dataclass(frozen=True)
class Task:
    """Units that are computed and committed together: names, paths and keys, no inputs."""

    units: tuple[Unit, ...]
    model: TaskModel | None
    """None for units of all models."""
    study: Study
    """Its paths are fitted; a worker gets it without its models."""
    pairs: PairSet | None
    """All pairs, for units that the process of the flow computes."""
    parts: tuple[BlockPart, ...]
    """Pairs of the units; if they go through a model, one part for each shape of inputs."""
    files: InputFiles
    stored: StoredUnits
    destination: Destination
    batch_size: int
    """Most rows of a forward pass."""

    @property
    def label(self) -> str:
        """Name of the task in messages."""
        return self.units[0].label


@dataclass
class Cost:
    """Cost of a task in rows and seconds, to which kinds add their own."""

    item_count: int | None = None
    forward_rows: int = 0
    backward_rows: int = 0
    naive_rows: int | None = None
    """Forward rows without shared states, as the paper counts."""
    batch_size: int | None = None
    peak_memory_bytes: int = 0
    load_seconds: float = 0.0
    prepare_seconds: float = 0.0
    forward_seconds: float | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class Bench:
    """One part of a task on a worker: its model, its inputs, and computed rows.

    ``stored`` has rows of the warehouse that other parts of the task have read.
    """

    def __init__(self, task: Task, part: BlockPart, stored: StoredRows) -> None:
        self.task, self.part = task, part
        self.results: dict[str, pa.Table] = {}
        """Rows of the kinds that are already computed."""
        self.plan: StatePlan | None = None
        """States of the units that score (:mod:`tasks.units.scan`)."""
        self.scores: BlockScores | None = None
        """Scores of the forward pass of the task."""
        self.queries: list[BlockScores] = []
        """Scores of every query of a state; a single one unless the model is stochastic."""
        self.remark = ""
        """Sentence about a batch that did not fit in the memory; empty if all did."""
        self.cost = Cost()
        self._started, self._processed = time.perf_counter(), time.process_time()
        self._stored = stored

    @cached_property
    def model(self) -> Model:
        """Model of the task, loaded unless the worker still has it."""
        model, self.cost.load_seconds = load_model(self.task.model)
        reset_peak_memory(model.device)
        return model

    @cached_property
    def block(self) -> PairBlock:
        """Pairs of the part; if the data have features, with the masks of their inputs."""
        block, masks = self.part.block, self.task.files.masks
        if masks is None:
            return block
        return replace(block, regions=inputs_at(masks, block.mask_positions, block.mask_shape))

    def inputs(self, positions: NDArray[np.int64]) -> NDArray[np.floating]:
        """Clean inputs of the block at positions of the input store, channels first.

        For a task on a GPU they lie in page-locked memory, which the GPU copies by itself.
        """
        allocate = page_locked if has_gpu(self.task.model) else np.empty
        file, shape = self.task.files.clean, self.part.block.shape
        return channels_first(inputs_at(file, positions, shape, allocate))

    @cached_property
    def clean(self) -> NDArray[np.floating]:
        """(n_inputs, …) all clean inputs of the block, channels first."""
        return self.inputs(self.part.block.input_positions)

    def images(self, positions: NDArray[np.int64]) -> Tensor:
        """(n, channels, height, width) clean images of the block on the model's device."""
        return on_device(self.inputs(positions), self.model.device)

    def foregrounds(self, sources: NDArray[np.int64]) -> Tensor:
        """(n, channels, height, width) images that labels need, of sources of the block."""
        stored = inputs_at(self.task.files.foregrounds, self.part.source_positions[sources])
        return on_device(channels_first(stored), self.model.device)

    def score_values(self, images: Tensor, batch_size: int) -> NDArray[np.float64]:
        """(n, columns) score values of images that are on the model's device."""
        import torch

        scorers = scorers_of(self.task.model.card, self.model, self.task.study.score)
        batches = images.split(batch_size)
        queries = [torch.cat([scorer(batch) for batch in batches]) for scorer in scorers]
        return torch.stack(queries).mean(dim=0).cpu().numpy()

    def compute_within_memory(self, compute: Callable[[int], Result]) -> Result:
        """Call ``compute(batch_size)``, halving the batch until it fits the memory.

        Raises ScoringFailed if a single row does not fit.
        """
        batch_size = self.task.batch_size
        while True:
            try:
                result = compute(batch_size)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                batch_size = halve_batch_size(batch_size, error)
                self.note_smaller_batch(batch_size)
            else:
                self.cost.batch_size = batch_size
                return result

    def note_smaller_batch(self, batch_size: int) -> None:
        """Remark that batches are smaller than the task allows."""
        model_id, allowed = self.task.units[0].model_id, self.task.batch_size
        self.remark = (
            f"{model_id}: a batch of {allowed} rows does not fit in the memory of a worker; "
            f"batches have {batch_size} rows instead"
        )

    def rows_of(self, unit: Unit, table: str) -> pa.Table | None:
        """Rows of a unit, computed in this task or stored; None if its pairs have none."""
        if unit in self.task.units:
            rows = self.results[table]
            unit_rows = rows.filter(pc.equal(rows["unit_key"], unit.key))
            return unit_rows if unit_rows.num_rows else None
        place, id_column = (unit.key, table), PART_COLUMNS.get(table)
        if place not in self._stored:
            store, study = self.task.destination.store, self.task.destination.study
            commit = self.task.stored.commits[unit.key]
            self._stored[place] = read_unit(store, study, commit, unit.key, table)
        rows = self._stored[place]
        if rows is None or id_column is None:
            return rows
        ids = pa.array(getattr(self.part.block, f"{id_column}s"))
        unit_rows = rows.filter(pc.is_in(rows[id_column], ids))
        return unit_rows if unit_rows.num_rows else None

    def restart_processor_clock(self) -> None:
        """Start the processor time again, to exclude the preparation."""
        self._processed = time.process_time()

    def finish_model(self) -> None:
        """Note the peak memory of the model, and release the inputs."""
        self.cost.peak_memory_bytes = peak_memory(self.model.device)
        self.__dict__.pop("clean", None)

    def cost_row(self) -> dict[str, Any]:
        """Row of the table ``costs``."""
        task, first = self.task, self.task.units[0]
        return {
            "commit_key": task.destination.key,
            "kind": first.kind,
            "name": first.name,
            "block": first.block,
            **vars(self.cost),
            "requested_batch_size": task.batch_size,
            "wall_seconds": time.perf_counter() - self._started,
            "cpu_seconds": time.process_time() - self._processed,
            "device": device_name(self.model.device),
            "worker": worker_name(),
        }


def sum_costs(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add up rows of the table ``costs`` for the shapes of a task's inputs."""
    total, *further_rows = rows
    for row in further_rows:
        total |= {name: total[name] + row[name] for name in SUMMED_COLUMNS if row[name] is not None}
        total |= {name: max(total[name], row[name]) for name in LARGEST_COLUMNS}
    return total
