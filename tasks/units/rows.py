"""Make rows of the warehouse from the scores of a block, as Arrow tables."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.pairs import PairBlock
from decaf.models.checkpoint import content_sha256
from decaf.routing.profiles import profile
from warehouse.tables.columns import STAGES
from warehouse.tables.declarations import (
    ATTRIBUTIONS,
    CORRUPTIONS,
    MADE_FILES,
    PREDICTIONS,
    PROFILES,
    QUARANTINE,
    TRAJECTORIES,
)


def trajectory_rows(
    keys: Mapping[str, str],
    ids: Mapping[str, Sequence[str]],
    grids: Mapping[str, NDArray[np.float64]],
    branches: Mapping[str, NDArray[np.float64]],
) -> tuple[pa.Table, pa.Table]:
    """Rows of finite trajectories, and quarantine rows of those with scores that are not finite.

    All arguments are by path: the key of its unit, the names of its pairs, its (n_stages,) stages,
    and the (n_pairs, n_repetitions, n_stages, 2) scores, factual branch first.
    """
    # The lists begin with empty tables because it can happen that no path has pairs of this shape.
    finite_parts = [TRAJECTORIES.schema.empty_table()]
    quarantine_parts = [QUARANTINE.schema.empty_table()]
    for path, key in keys.items():
        pairs, repetitions, stages, _ = branches[path].shape
        pair_ids = np.repeat(np.array(ids[path]), repetitions)
        repetition = np.tile(np.arange(repetitions), pairs)
        scores = branches[path].reshape(-1, stages, 2)
        is_bad = ~np.isfinite(scores)
        is_finite = ~is_bad.any(axis=(1, 2))
        finite = scores[is_finite]
        columns = {
            **trajectory_columns(key, path, pair_ids[is_finite], repetition[is_finite]),
            "t": score_lists(np.broadcast_to(grids[path], finite.shape[:2])),
            "q_plus": score_lists(finite[:, :, 0]),
            "q_minus": score_lists(finite[:, :, 1]),
        }
        finite_parts.append(pa.table(columns, schema=TRAJECTORIES.schema))
        columns = {
            **trajectory_columns(key, path, pair_ids[~is_finite], repetition[~is_finite]),
            "stage_count": np.full(np.count_nonzero(~is_finite), stages),
            "non_finite_count": is_bad[~is_finite].sum(axis=(1, 2)),
        }
        quarantine_parts.append(pa.table(columns, schema=QUARANTINE.schema))
    return pa.concat_tables(finite_parts), pa.concat_tables(quarantine_parts)


def prediction_rows(
    key: str, block: PairBlock, clean: NDArray[np.float64], has_classes: bool
) -> pa.Table:
    """Rows of finite (n_inputs, columns) values of clean inputs; the largest value is predicted."""
    finite = np.isfinite(clean).all(axis=1)
    values = clean[finite]
    predicted = values.argmax(axis=1) if has_classes else pa.nulls(len(values), pa.int64())
    columns = {
        "unit_key": pa.repeat(key, len(values)),
        "image_id": pa.array(np.array(block.image_ids)[finite], pa.string()),
        "class_scores": score_lists(values),
        "predicted_class": predicted,
    }
    return pa.table(columns, schema=PREDICTIONS.schema)


def corruption_rows(
    key: str,
    image_ids: NDArray[np.str_],
    corruptions: Sequence[str],
    scored: NDArray[np.float64],
) -> pa.Table:
    """Rows of finite class scores (n_images, n_corruptions, classes), image by image."""
    images, names = np.repeat(image_ids, len(corruptions)), np.tile(corruptions, len(image_ids))
    values = scored.reshape(len(images), scored.shape[-1])
    finite = np.isfinite(values).all(axis=1)
    values = values[finite]
    columns = {
        "unit_key": pa.repeat(key, len(values)),
        "image_id": pa.array(images[finite], pa.string()),
        "corruption": pa.array(names[finite], pa.string()),
        "class_scores": score_lists(values),
        "predicted_class": values.argmax(axis=1) if len(values) else pa.nulls(0, pa.int64()),
    }
    return pa.table(columns, schema=CORRUPTIONS.schema)


def attribution_rows(
    key: str,
    pair_ids: Sequence[str],
    method: str,
    region_score: NDArray[np.float64],
    region_pixels: NDArray[np.int64],
) -> pa.Table:
    """Rows of finite attributions inside the difference region of every pair."""
    finite = np.isfinite(region_score)
    columns = {
        "unit_key": pa.repeat(key, np.count_nonzero(finite)),
        "pair_id": pa.array(np.array(pair_ids)[finite], pa.string()),
        "method": pa.repeat(method, np.count_nonzero(finite)),
        "region_score": region_score[finite],
        "region_pixels": region_pixels[finite],
    }
    return pa.table(columns, schema=ATTRIBUTIONS.schema)


def profile_rows(key: str, trajectories: pa.Table, epsilon: float) -> pa.Table:
    """Rows of profiles of the stored trajectories of one path, at one epsilon."""
    response = _matrix(trajectories["q_plus"]) - _matrix(trajectories["q_minus"])
    profiles = profile(response, trajectories["t"][0].as_py(), epsilon).columns()
    flips = pa.array(profiles.pop("sign_flip_frac"), from_pandas=True)  # NaN becomes NULL
    columns = {
        "unit_key": pa.repeat(key, trajectories.num_rows),
        **{name: trajectories[name] for name in ("pair_id", "path", "repetition")},
        "epsilon": np.full(trajectories.num_rows, epsilon),
        "sign_flip_frac": flips,
        **profiles,
    }
    return pa.table({name: columns[name] for name in PROFILES.schema.names}, schema=PROFILES.schema)


def trajectory_columns(
    key: str, path: str, pair_ids: NDArray[np.str_], repetition: NDArray[np.int64]
) -> dict[str, Any]:
    """Columns that name (n,) trajectories of one path."""
    return {
        "unit_key": pa.repeat(key, pair_ids.size),
        "pair_id": pa.array(pair_ids, pa.string()),
        "path": pa.repeat(path, pair_ids.size),
        "repetition": repetition,
    }


def score_lists(values: NDArray[np.float64]) -> pa.ListArray:
    """(n, k) matrix → n lists of k."""
    offsets = np.arange(values.shape[0] + 1, dtype=np.int32) * values.shape[1]
    flat = pa.array(np.ascontiguousarray(values).ravel())
    return pa.ListArray.from_arrays(pa.array(offsets), flat, type=STAGES)


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Lists of one length → (n, k) matrix."""
    lists = column.combine_chunks()
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)


def file_rows(
    unit_key: str, workspace: Path, files: Iterable[tuple[Path, int | None, str | None]]
) -> pa.Table:
    """Rows of files that a unit made in the workspace.

    ``files`` has the path, the epoch or None, and the outcome in JSON or None.
    """
    rows = [
        {
            "unit_key": unit_key,
            "file": str(file.relative_to(workspace.absolute())),
            "epoch": epoch,
            "sha256": content_sha256(file),
            "byte_count": file.stat().st_size,
            "outcome": outcome,
        }
        for file, epoch, outcome in files
    ]
    return pa.Table.from_pylist(rows, schema=MADE_FILES.schema)
