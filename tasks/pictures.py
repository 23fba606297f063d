"""Pictures and words of a study's strongest pairs, so that its report needs the warehouse alone."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.array_images import picture_of
from decaf.data.input_store import channels_first, input_file, inputs_at
from decaf.data.pairs import PairBlock
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
from warehouse.upkeep.retention import retire

PICTURES = "pictures"
"""Kind of commits, one a run."""
INPUT_SIDE, STATE_SIDE = 112, 64
"""Longest side of the picture of an input, and of a state, px."""
STATE_COUNTS = (5, 6, 4, 7, 3)
"""How many states are shown: the first number that leaves equal steps between them."""
QUALITY = 80
"""Of WebP, of 100."""


def are_stored(plan: AuditPlan) -> bool:
    """Whether the warehouse has the pictures of the run, or none where there are to be none."""
    stored = receipts.keys(plan.store, PICTURES, plan.study.study)
    return plan.run_id in stored if plan.study.report.inputs else not stored


def store_pictures(plan: AuditPlan, pending: pa.Table | None = None) -> None:
    """Store the pictures of a finished run, once; withdraw all of them where none are wanted.

    They are of the strongest pairs, and of those whose role changed most with a version where
    ``pending`` are the rows of a re-audit that is under way.

    A pair of which the data or a start cannot be read (DataError) is announced and stored without
    pictures. Raises WarehouseError when results cannot be read, DataError when inputs have to be
    read again and cannot be, and WriteFailed when the storage refuses.
    """
    study = plan.study.study
    if are_stored(plan):
        return
    if not plan.study.report.inputs:
        retire(plan.store, study, list(receipts.read_kind(plan.store, PICTURES, study)))
        return
    with connect_whole(plan.store, study) as connection:
        found = connection.execute(query("pictures/strongest"), {"study": study}).fetchall()
        if pending is not None:
            connection.register("pending", pending)
            given = {"study": study, "run_id": plan.run_id}
            found += connection.execute(query("pictures/changed"), given).fetchall()
    store_pairs(plan)
    place = plan.pairs.pairs.pair_ids.places_of({pair_id for pair_id, *_ in found})
    rows = []
    for pair_id, path, repetition in sorted(set(found)):
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
    """Pictures of a pair and of states of its path; none of inputs that are no images.

    States that start from the mean of a model differ from model to model and are left out.
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
    states = plan_states(_with_regions(plan, block), clean, {name: path}, plan.study.grid)
    starts = {n: open_starts(plan.start_files[own]) for own, n in states.drawn.items()}
    index, grid = states.index[name][0, repetition], states.grids[name]
    steps = shown_stages(grid) if states.mixing[name] is None else np.empty(0, np.int64)
    built = StateBuilder(states, as_taken(clean), starts).build(
        np.concatenate([index[-1], index[steps].ravel()])
    )
    pixels = (np.clip(built, 0, 1) * 255).round().astype(np.uint8).transpose(0, 2, 3, 1)
    ends = {
        name: webp(one, INPUT_SIDE)
        for name, one in zip(("factual", "counterfactual"), pixels, strict=False)
    }
    if not steps.size:
        return ends
    # (branches, height, stages, width, channels): the branches lie one above the other.
    strip = pixels[2:].reshape(steps.size, 2, *pixels.shape[1:]).transpose(1, 2, 0, 3, 4)
    height, width, channels = pixels.shape[1:]
    scale = min(1, STATE_SIDE / max(height, width))
    whole = strip.reshape(2 * height, steps.size * width, channels)
    side = round(scale * max(whole.shape))
    return ends | {"states": webp(whole, side), "shown_t": grid[steps].tolist()}


def _with_regions(plan: AuditPlan, block: PairBlock) -> PairBlock:
    if not plan.pairs.masks:
        return block
    file = input_file(plan.study.workspace, plan.pairs.mask_set)
    return replace(block, regions=inputs_at(file, block.mask_positions, block.mask_shape))


def shown_stages(grid: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) places of some stages of a grid, evenly spread, both ends among them.

    >>> shown_stages(np.linspace(0, 1, 9)).tolist(), shown_stages(np.array([0, 0.2, 1])).tolist()
    ([0, 2, 4, 6, 8], [0, 1, 2])
    """
    steps = grid.size - 1
    count = next((n for n in STATE_COUNTS if steps % (n - 1) == 0), STATE_COUNTS[0])
    wanted = np.linspace(0, 1, count)
    return np.unique(np.abs(grid[:, None] - wanted).argmin(axis=0))


def webp(pixels: NDArray[np.uint8], side: int) -> bytes:
    """(height, width, channels) as WebP, made smaller where a side is longer than ``side`` px.

    Small pictures are kept exactly: on the page a pixel is several wide.
    """
    image = picture_of(np.ascontiguousarray(pixels))
    image.thumbnail((side, side))
    content = io.BytesIO()
    is_small = max(image.size) <= STATE_SIDE
    image.save(content, "WEBP", quality=QUALITY, method=6, lossless=is_small)
    return content.getvalue()
