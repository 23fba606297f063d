"""Rows of the warehouse from the scores of a block: Arrow tables, without a loop over rows."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.pairs import PairBlock
from decaf.profiles import profile
from decaf.scoring import BlockScores
from warehouse.schemas import PREDICTIONS, PROFILES, QUARANTINE, STAGES, TRAJECTORIES


def trajectory_rows(
    shard_key: str, block: PairBlock, grid: NDArray[np.float64], scores: BlockScores
) -> tuple[pa.Table, pa.Table]:
    """Trajectories whose scores are all finite, and the quarantine of the others."""
    pair_ids = np.array(block.pair_ids)
    kept, withheld = [], []
    for path, branches in scores.branches.items():
        bad = ~np.isfinite(branches)
        is_whole = ~bad.any(axis=(1, 2))
        whole = branches[is_whole]
        columns = {
            **_names(shard_key, path, pair_ids[is_whole]),
            "t": _lists(np.broadcast_to(grid, whole.shape[:2])),
            "q_plus": _lists(whole[:, :, 0]),
            "q_minus": _lists(whole[:, :, 1]),
        }
        kept.append(pa.table(columns, schema=TRAJECTORIES.schema))
        columns = {
            **_names(shard_key, path, pair_ids[~is_whole]),
            "stage_count": np.full(np.count_nonzero(~is_whole), grid.size),
            "non_finite_count": bad[~is_whole].sum(axis=(1, 2)),
        }
        withheld.append(pa.table(columns, schema=QUARANTINE.schema))
    return pa.concat_tables(kept), pa.concat_tables(withheld)


def prediction_rows(shard_key: str, block: PairBlock, scores: BlockScores) -> pa.Table:
    """Score values of the clean images, where they are finite."""
    finite = np.isfinite(scores.clean).all(axis=1)
    values = scores.clean[finite]
    columns = {
        "shard_key": pa.repeat(shard_key, len(values)),
        "image_id": pa.array(np.array(block.image_ids)[finite], pa.string()),
        "probabilities": _lists(values),
        "predicted_class": values.argmax(axis=1),
    }
    return pa.table(columns, schema=PREDICTIONS.schema)


def profile_rows(
    profile_key: str, trajectories: pa.Table, grid: NDArray[np.float64], epsilon: float
) -> pa.Table:
    """Profiles of stored trajectories at a gate."""
    response = _matrix(trajectories["q_plus"]) - _matrix(trajectories["q_minus"])
    profiles = profile(response, grid, epsilon)._asdict()
    flips = pa.array(profiles.pop("sign_flip_frac"), from_pandas=True)  # NaN becomes NULL
    columns = {
        "profile_key": pa.repeat(profile_key, trajectories.num_rows),
        **{name: trajectories[name] for name in ("shard_key", "pair_id", "path", "repetition")},
        "epsilon": np.full(trajectories.num_rows, epsilon),
        "sign_flip_frac": flips,
        **profiles,
    }
    return pa.table({name: columns[name] for name in PROFILES.schema.names}, schema=PROFILES.schema)


def _names(shard_key: str, path: str, pair_ids: NDArray[np.str_]) -> dict[str, Any]:
    return {
        "shard_key": pa.repeat(shard_key, pair_ids.size),
        "pair_id": pa.array(pair_ids, pa.string()),
        "path": pa.repeat(path, pair_ids.size),
        "repetition": np.zeros(pair_ids.size, np.int64),
    }


def _lists(values: NDArray[np.float64]) -> pa.ListArray:
    """(n, k) matrix → n lists of k."""
    offsets = np.arange(values.shape[0] + 1, dtype=np.int32) * values.shape[1]
    flat = pa.array(np.ascontiguousarray(values).ravel())
    return pa.ListArray.from_arrays(pa.array(offsets), flat, type=STAGES)


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Lists of one length → (n, k) matrix."""
    lists = column.combine_chunks()
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
