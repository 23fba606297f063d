"""Watch the registries of schedules; several changes in a short time start one run."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from decaf.errors import ConfigError
from decaf.foundation.digests import json_sha256
from decaf.foundation.yaml_source import load
from flows.scheduling.schedules import Schedule

CHECK_SECONDS = 5.0
"""Time between two checks of the folders."""
QUIET_SECONDS, LONGEST_SECONDS = 5.0, 30.0
"""A run begins after this time without a change, or this time after the first change."""
FOLDER, MLFLOW = "folder", "mlflow"


class _Listing(BaseModel):
    """The part of a configuration that locates its registry."""

    registry: dict[str, Any] = {}


@dataclass
class _Waiting:
    first: datetime
    last: datetime
    entries: set[str] = field(default_factory=set)


class RegistryWatch:
    """Collects changes of registries, by schedule, until a run may begin."""

    def __init__(self) -> None:
        self.changed_models: SimpleQueue[str] = SimpleQueue()
        """Names of models from MLflow's webhooks; any thread adds to it."""
        self._digests: dict[UUID, dict[str, str]] = {}
        self._waiting: dict[UUID, _Waiting] = {}

    def due(
        self, schedules: Iterable[Schedule], now: datetime, busy: Collection[UUID | None]
    ) -> dict[UUID, list[str]]:
        """Check the folders; return each entry to re-audit now once, by the id of its schedule.

        A busy schedule waits; all changes in the meantime make it due once.
        """
        watched = {each.id: each for each in schedules if each.is_watched and not each.is_paused}
        self._collect(watched, now)
        due = {
            schedule_id: sorted(waiting.entries)
            for schedule_id, waiting in self._waiting.items()
            if schedule_id not in busy
            and (
                (now - waiting.last).total_seconds() >= QUIET_SECONDS
                or (now - waiting.first).total_seconds() >= LONGEST_SECONDS
            )
        }
        self._waiting = {
            key: waiting for key, waiting in self._waiting.items() if key in watched.keys() - due
        }
        return {schedule_id: due[schedule_id] for schedule_id in due.keys() & watched.keys()}

    def _collect(self, watched: dict[UUID, Schedule], now: datetime) -> None:
        models = set()
        while True:
            try:
                models.add(self.changed_models.get_nowait())
            except Empty:
                break
        for schedule in watched.values():
            registry = _registry(schedule)
            changed = models if registry.get("kind") == MLFLOW else set()
            if registry.get("kind") == FOLDER:
                changed = self._list_changed_folders(schedule, registry)
            if changed:
                waiting = self._waiting.setdefault(schedule.id, _Waiting(now, now))
                waiting.last = now
                waiting.entries |= changed
        self._digests = {key: digests for key, digests in self._digests.items() if key in watched}

    def _list_changed_folders(self, schedule: Schedule, registry: dict[str, Any]) -> set[str]:
        try:
            digests = digest_folders(schedule.folder / str(registry.get("root")))
        except OSError:  # deleted, or changed while it was read; the next check reads it again
            return set()
        before = self._digests.get(schedule.id, digests)
        self._digests[schedule.id] = digests
        return {name for name in digests if before.get(name) != digests[name]}


def digest_folders(root: Path) -> dict[str, str]:
    """Digests of names, sizes and times by the name of a model's folder; opens no file."""
    return {
        folder.name: json_sha256(
            sorted(
                [ascii(path.relative_to(folder)), status.st_size, status.st_mtime_ns]
                for path in folder.rglob("*")
                for status in [path.lstat()]
                if not path.is_dir()
            )
        )
        for folder in root.iterdir()
        if folder.is_dir() and not folder.name.startswith(".")
    }


def _registry(schedule: Schedule) -> dict[str, Any]:
    try:
        return load(schedule.config, _Listing).registry
    except ConfigError:  # its run reports the error
        return {}
