"""Make one measurement and commit it: what a Dask worker runs. Nothing here imports Prefect."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, open_inputs
from decaf.data.pairs import PairBlock
from decaf.errors import DataError
from decaf.evaluation.attributions.base import AttributionMethod, attribution_inside
from decaf.evaluation.image_masks import background_mask, difference_region
from decaf.foundation.memory import halved, is_out_of_memory
from decaf.models.card import Model
from decaf.plan.study import Score
from decaf.scoring.image_scores import score_of
from decaf.scoring.states import on_device
from decaf.studies.imagenet9.behaviours import needs_corruptions
from decaf.studies.imagenet9.corruptions import CORRUPTIONS, corrupt_background
from tasks.cluster.worker import (
    ModelOrder,
    device_name,
    loaded_model,
    peak_memory,
    watch_memory,
    worker_name,
)
from tasks.rows import attribution_rows, corruption_rows
from warehouse.commits import receipts
from warehouse.commits.stored import read_commit
from warehouse.commits.writer import commit
from warehouse.storage import Root
from warehouse.tables.declarations import MEASUREMENT_COSTS

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Corrupting:
    """What corruptions need beside the block: clean predictions, and the foregrounds alone."""

    shard_key: str
    """The shard that holds the clean predictions."""
    rows: NDArray[np.int64]
    """Pairs of the block whose endpoint decides."""
    epsilon: float
    foregrounds: Path
    """Pixel file."""
    positions: NDArray[np.int64]
    """(n_sources,) where in it the block's sources are."""


@dataclass(frozen=True)
class MeasurementOrder:
    """What a worker is told: keys, paths and names, no pixels and no weights."""

    root: Root
    study: str
    model: ModelOrder
    score: Score
    batch_size: int
    pixels: Path
    block: PairBlock
    key: str
    name: str
    work: Corrupting | AttributionMethod
    inputs: dict[str, str]
    software: dict[str, str]


class MeasurementReport(NamedTuple):
    """What comes back: a few numbers."""

    model_id: str
    forward_rows: int


class _Measured(NamedTuple):
    table: str
    rows: pa.Table
    image_count: int
    forward_rows: int
    backward_rows: int


def run_measurement(order: MeasurementOrder) -> MeasurementReport:
    """Make one measurement, unless its receipt is there.

    Reads pixels and weights, and for corruptions the shard's clean predictions; writes one commit.
    """
    card = order.model.card
    if receipts.exists(order.root, "measurements", order.study, order.key):
        return MeasurementReport(card.id, 0)
    started_at, started = datetime.now(UTC), time.perf_counter()
    model, load_seconds = loaded_model(order.model)
    watch_memory(model.device)
    measure = _corrupted if isinstance(order.work, Corrupting) else _attributed
    batch_size = order.batch_size
    measured = None
    while measured is None:
        try:
            measured = measure(order, model, batch_size)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            batch_size = halved(batch_size, error)
    cost = {
        "measurement_key": order.key,
        "image_count": measured.image_count,
        "forward_rows": measured.forward_rows,
        "backward_rows": measured.backward_rows,
        "batch_size": batch_size,
        "load_seconds": load_seconds,
        "wall_seconds": time.perf_counter() - started,
        "peak_memory_bytes": peak_memory(model.device),
        "device": device_name(model.device),
        "worker": worker_name(),
        "started_at": started_at,
    }
    commit(
        order.root,
        "measurements",
        order.study,
        order.key,
        {
            measured.table: measured.rows,
            "measurement_costs": pa.Table.from_pylist([cost], schema=MEASUREMENT_COSTS.schema),
        },
        model_id=card.id,
        inputs=order.inputs,
        software=order.software,
    )
    return MeasurementReport(card.id, measured.forward_rows)


def _attributed(order: MeasurementOrder, model: Model, batch_size: int) -> _Measured:
    """Attribute q of every factual image, and sum what lies where each of its pairs differs."""
    block, method = order.block, order.work
    used, first, of_pair = np.unique(block.plus, return_index=True, return_inverse=True)
    images = _images(order.pixels, block.image_positions, model.device)
    score = score_of(model, order.score)
    maps = method.maps(
        score,
        images[used],
        order.score.columns(block.class_id)[first],
        [block.source_ids[block.source[row]] for row in first],
        batch_size,
    )
    region = difference_region(images[block.plus], images[block.minus])
    inside = attribution_inside(maps[of_pair], region)
    pixels = region.sum(dim=(1, 2)).cpu().numpy()
    rows = attribution_rows(order.key, block.pair_ids, order.name, inside, pixels)
    return _Measured("attributions", rows, used.size, score.forward_rows, score.backward_rows)


def _corrupted(order: MeasurementOrder, model: Model, batch_size: int) -> _Measured:
    """Score factual images under every corruption where the clean endpoint shows nothing."""
    work, block = order.work, order.block
    rows = _null_rows(order)
    scored = np.empty((0, len(CORRUPTIONS), 0))
    if rows.size:
        images = _images(order.pixels, block.image_positions[block.plus[rows]], model.device)
        alone = _images(work.foregrounds, work.positions[block.source[rows]], model.device)
        background = background_mask(alone)
        names = [block.source_ids[source] for source in block.source[rows]]
        by_corruption = [
            _values(order, model, corrupt_background(one, images, background, names), batch_size)
            for one in CORRUPTIONS
        ]
        scored = np.stack(by_corruption, axis=1)
    image_ids = np.array(block.image_ids)[block.plus[rows]]
    table = corruption_rows(order.key, image_ids, [one.name for one in CORRUPTIONS], scored)
    return _Measured("corruptions", table, rows.size, rows.size * len(CORRUPTIONS), 0)


def _null_rows(order: MeasurementOrder) -> NDArray[np.int64]:
    """Pairs without an endpoint difference; those without finite clean scores are left out."""
    work, block = order.work, order.block
    stored = read_commit(order.root, "shards", order.study, work.shard_key, "predictions")
    if stored is None:
        return np.empty(0, np.int64)
    clean = dict(
        zip(stored["image_id"].to_pylist(), stored["class_scores"].to_pylist(), strict=True)
    )
    sides = [(block.image_ids[block.plus[r]], block.image_ids[block.minus[r]]) for r in work.rows]
    known = np.array([plus in clean and minus in clean for plus, minus in sides], bool)
    rows = work.rows[known]
    if not rows.size:
        return rows
    plus, minus = (
        np.array(
            [clean[pair[side]] for pair, is_known in zip(sides, known, strict=True) if is_known]
        )
        for side in (0, 1)
    )
    return rows[needs_corruptions(plus, minus, block.class_id[rows], work.epsilon)]


def _values(
    order: MeasurementOrder, model: Model, images: "torch.Tensor", batch_size: int
) -> NDArray[np.float64]:
    import torch

    with torch.inference_mode():
        parts = [
            order.score.values(model.outputs(some), model.output)
            for some in images.split(batch_size)
        ]
    return torch.cat(parts).cpu().numpy()


def _images(file: Path, positions: NDArray[np.int64], device: "torch.device") -> "torch.Tensor":
    stored = open_inputs(file)[positions]
    if stored.ndim != 4:
        raise DataError(
            "'attributions:' and 'behaviours:' are measured on images; the data set has rows of "
            "features: leave both out"
        )
    return on_device(channels_first(stored), device)
