"""Units of work in warehouses written by hand: what a manifest says of them, and what they took."""

from datetime import UTC, datetime
from typing import NamedTuple


class Planned(NamedTuple):
    """A unit of work as a run plans it; it is known by its parts as well as by its key."""

    unit_key: str
    kind: str
    name: str = ""
    model_id: str | None = None
    block: int | None = 0
    row_count: int | None = None
    parts: tuple[tuple[str, str], ...] = ()


def block_units(model, key, epsilon, paths, block=0, digest="pairs"):
    """Predictions, trajectories and profiles of a block; ``paths`` has its trajectories by path."""
    scored, routed = (("pairs", digest), ("weights", "0")), (("epsilon", repr(epsilon)),)
    yield Planned(f"{key}-clean", "predict", "", model, block, None, scored)
    for path, row_count in paths.items():
        yield Planned(f"{key}-{path}", "score", path, model, block, row_count, scored)
        yield Planned(f"{key}-{path}-at-{epsilon}", "route", path, model, block, None, routed)


def manifest(run_id, units):
    """Rows of the tables of a run's manifest that tell its units."""
    fields = ("unit_key", "kind", "name", "model_id", "block", "row_count")
    return {
        "run_units": [
            {"run_id": run_id} | {field: getattr(unit, field) for field in fields} for unit in units
        ],
        "unit_parts": [
            {"run_id": run_id, "unit_key": unit.unit_key, "part": part, "value": value}
            for unit in units
            for part, value in unit.parts
        ],
    }


def cost_row(commit_key, item_count, forward_rows, naive_rows, **more):
    """What scanning a block took."""
    cost = {"commit_key": commit_key, "kind": "predict", "name": "", "block": 0}
    cost |= {"item_count": item_count, "forward_rows": forward_rows, "backward_rows": 0}
    cost |= {"naive_rows": naive_rows, "batch_size": 8, "requested_batch_size": 8}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost |= {"peak_memory_bytes": 1, "device": "cpu", "worker": "w"}
    return cost | {"started_at": datetime(2026, 3, 1, tzinfo=UTC)} | more
