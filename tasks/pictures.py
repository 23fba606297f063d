"""Store pictures and words of a study's strongest pairs, so that reports need no data files."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.array_images import picture_of
from decaf.data.input_store import channels_first, input_file, inputs_at
from decaf.data.pairs import PairBlock, PairSet
from decaf.errors import DataError
from decaf.foundation.arrays import as_taken
from decaf.reveal.start import ModelMean
from decaf.scoring.planner import plan_states
from decaf.scoring.starts import open_starts
from decaf.scoring.states import StateBuilder
from tasks.inputs import store_pairs
from tasks.plan import AuditPlan
from tasks.progress import announce
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.tables.declarations import SHOWN_PAIRS
from warehouse.upkeep.retention import commit_withdrawal

PICTURES = "pictures"
"""Kind of commits; each run has one."""
INPUT_SIDE, STATE_SIDE = 112, 64
"""Longest side of the picture of an input, and of a state, px."""
STATE_COUNTS = (5, 6, 4, 7, 3)
"""Numbers of states to show; the first one with equal steps between states is used."""
QUALITY = 80
"""Quality of WebP, from 0 to 100."""


def are_pictures_stored(plan: AuditPlan) -> bool:
    """True if the pictures of the run are stored, or none are wanted and none are stored."""
    stored = receipts.keys(plan.store, PICTURES, plan.study.study)
    return plan.run_id in stored if plan.study.report.inputs else not stored


def store_pictures(plan: AuditPlan, pending: pa.Table | None = None) -> None:
    """Store the pictures of a finished run once; if the report has none, withdraw all pictures.

    They show the strongest pairs. With ``pending``, the rows of the current re-audit, they also
    show the pairs whose role changed most with a version.

    If the data or a start of a pair cannot be read, the pair is announced and stored without
    pictures. Raises WarehouseError if results cannot be read, DataError if inputs cannot be stored
    again, and WriteFailed if the warehouse cannot be written.
    """
    study = plan.study.study
    if are_pictures_stored(plan):
        return
    if not plan.study.report.inputs:
        commit_withdrawal(plan.store, study, list(receipts.read_kind(plan.store, PICTURES, study)))
        return
    with connect_whole(plan.store, study) as connection:
        shown_keys = connection.execute(query("pictures/strongest"), {"study": study}).fetchall()
        if pending is not None:
            connection.register("pending", pending)
            values = {"study": study, "run_id": plan.run_id}
            shown_keys += connection.execute(query("pictures/changed"), values).fetchall()
    store_pairs(plan.study, plan.pairs)
    place = plan.pairs.pairs.pair_ids.places_of({pair_id for pair_id, *_ in shown_keys})
    rows = []
    for pair_id, path, repetition in sorted(set(shown_keys)):
        row = {"run_id": plan.run_id, "pair_id": pair_id, "path": path, "repetition": repetition}
        row |= {"words": "", "factual": None, "counterfactual": None, "states": None, "shown_t": []}
        try:
            row["words"] = plan.study.data.describe(plan.pairs, plan.pairs.pairs[place[pair_id]])
            row |= _pictures(plan, place[pair_id], path, repetition)
        except DataError as error:
            announce(f"the report has no picture of pair {pair_id} on path {path}: {error}")
        rows.append(row)
    table = pa.Table.from_pylist(rows, schema=SHOWN_PAIRS.schema)
    commit(plan.store, PICTURES, study, plan.run_id, {"shown_pairs": table})


def _pictures(plan: AuditPlan, row: int, name: str, repetition: int) -> dict[str, Any]:
    """Pictures of a pair and of states of its path; empty for inputs other than images.

    States that start from the mean of a model differ between models and are left out.
    """
    block = plan.pairs.block((row,))
    file = input_file(plan.study.workspace, plan.pairs.input_set)
    stored = inputs_at(file, block.input_positions, block.shape)
    if stored.dtype != np.uint8:
        return {}
    path = plan.fitted_paths[name]
    if isinstance(path.start, ModelMean):
        return {"factual": webp(stored[block.plus[0]], INPUT_SIDE)}
    clean = channels_first(stored)
    block = _with_regions(plan.study.workspace, plan.pairs, block)
    states = plan_states(block, clean, {name: path}, plan.study.grid)
    starts = {
        n: open_starts(plan.start_files[name_of_path]) for name_of_path, n in states.drawn.items()
    }
    index, grid = states.index[name][0, repetition], states.grids[name]
    steps = shown_stages(grid) if states.mixing[name] is None else np.empty(0, np.int64)
    built = StateBuilder(states, as_taken(clean), starts).build(
        np.concatenate([index[-1], index[steps].ravel()])
    )
    pixels = (np.clip(built, 0, 1) * 255).round().astype(np.uint8).transpose(0, 2, 3, 1)
    ends = {
        name: webp(image, INPUT_SIDE)
        for name, image in zip(("factual", "counterfactual"), pixels, strict=False)
    }
    if not steps.size:
        return ends
    # (branches, height, stages, width, channels): one branch above the other.
    strip = pixels[2:].reshape(steps.size, 2, *pixels.shape[1:]).transpose(1, 2, 0, 3, 4)
    height, width, channels = pixels.shape[1:]
    scale = min(1, STATE_SIDE / max(height, width))
    whole = strip.reshape(2 * height, steps.size * width, channels)
    side = round(scale * max(whole.shape))
    return ends | {"states": webp(whole, side), "shown_t": grid[steps].tolist()}


def _with_regions(workspace: Path, pairs: PairSet, block: PairBlock) -> PairBlock:
    if not pairs.masks:
        return block
    file = input_file(workspace, pairs.mask_set)
    return replace(block, regions=inputs_at(file, block.mask_positions, block.mask_shape))


def shown_stages(grid: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) positions of some stages of a grid, evenly spread, including both ends.

    >>> shown_stages(np.linspace(0, 1, 9)).tolist(), shown_stages(np.array([0, 0.2, 1])).tolist()
    ([0, 2, 4, 6, 8], [0, 1, 2])
    """
    steps = grid.size - 1
    count = next((n for n in STATE_COUNTS if steps % (n - 1) == 0), STATE_COUNTS[0])
    targets = np.linspace(0, 1, count)
    return np.unique(np.abs(grid[:, None] - targets).argmin(axis=0))


def webp(pixels: NDArray[np.uint8], side: int) -> bytes:
    """Encode (height, width, channels) as WebP, with sides of at most ``side`` px.

    Small pictures are lossless, since the page enlarges their pixels.
    """
    image = picture_of(np.ascontiguousarray(pixels))
    image.thumbnail((side, side))
    content = io.BytesIO()
    is_small = max(image.size) <= STATE_SIDE
    image.save(content, "WEBP", quality=QUALITY, method=6, lossless=is_small)
    return content.getvalue()
