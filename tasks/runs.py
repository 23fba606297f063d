"""Runs of a study, as the warehouse has recorded them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from decaf.foundation.digests import short
from decaf.plan.study import Study
from decaf.reveal.path import stage_grid
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.storage import Storage
from warehouse.tables.declarations import PAIRS, RUNS


def newest_run(store: Storage, study: str) -> str | None:
    """Id of the last started run of a study, which views show; None without a run."""
    receipt = receipts.read_newest(store, "runs", study)
    return receipt.key if receipt else None


class RecordedRun(NamedTuple):
    """Record that a run wrote at its start."""

    config: dict[str, Any]
    pair_count: int | None
    """None if the pairs of the run were withdrawn."""


def read_newest_run(store: Storage, study: str) -> RecordedRun | None:
    """Configuration and number of pairs of the last started run; None without a run.

    Raises WarehouseError if the rows of the run are damaged.
    """
    receipt = receipts.read_newest(store, "runs", study)
    files = [file for file in receipt.files if file.table == RUNS.name] if receipt else []
    if not files:
        return None
    (row,) = read_file(store, files[0]).select(["config", "pairs_digest"]).to_pylist()
    key, pair_count = short(row["pairs_digest"]), None
    if key in receipts.keys(store, PAIRS.name, study):
        pairs = receipts.read_one(store, PAIRS.name, study, key)
        pair_count = sum(file.row_count for file in pairs.files if file.table == PAIRS.name)
    return RecordedRun(json.loads(row["config"]), pair_count)


def list_changed_keys(run: RecordedRun, study: Study) -> list[str]:
    """Keys of a study that give other results, or other words on them, than the run shows.

    A study can move: data, cards and other places of files are not compared, only the ids of models
    without a registry. Keys of paths that the run did not record are not compared either.
    """
    before, now = run.config, json.loads(study.model_dump_json())
    paths = before["paths"].keys() & now["paths"].keys()
    has_changed = {
        "models": study.registry is None and _model_ids(before) != _model_ids(now),
        "score": any(
            before["score"].get(name) != now["score"][name]
            for name, value in study.score
            if not isinstance(value, Path)
        ),
        "paths": before["paths"].keys() != now["paths"].keys()
        or any(
            _path_settings(before, before, path) != _path_settings(now, before, path)
            for path in paths
        ),
        "stages": any(_stages_of(before, path) != _stages_of(now, path) for path in paths),
    } | {key: before.get(key, now[key]) != now[key] for key in ("epsilon", "expect", "names")}
    return [key for key, differs in has_changed.items() if differs]


def _model_ids(config: Mapping[str, Any]) -> list[str]:
    return [card["id"] for card in config["models"]]


def _path_settings(
    config: Mapping[str, Any], recorded: Mapping[str, Any], path: str
) -> dict[str, Any]:
    """Settings of a path, except stages, that were recorded."""
    keys = recorded["paths"][path].keys() - {"stages"}
    return {key: config["paths"][path].get(key) for key in keys}


def _stages_of(config: Mapping[str, Any], path: str) -> list[float]:
    """Stages of a path, or the numbers of its rule."""
    stages = config["paths"][path].get("stages")
    stages = config["stages"] if stages is None else stages
    if isinstance(stages, dict):
        return [stages["until"], stages["at_most"]]
    return [*stage_grid(stages).tolist()]
