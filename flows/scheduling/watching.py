"""Which schedules have something new in their registries: several changes are one run."""

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

LOOK_SECONDS = 5.0
"""Between two looks at the folders."""
QUIET_SECONDS, LONGEST_SECONDS = 5.0, 30.0
"""A run begins when nothing more has happened for so long, or so long after the first change."""
FOLDER, MLFLOW = "folder", "mlflow"


class _Listing(BaseModel):
    """Of a configuration, what says where its registry is."""

    registry: dict[str, Any] = {}


@dataclass
class _Waiting:
    first: datetime
    last: datetime
    entries: set[str] = field(default_factory=set)


class Watch:
    """Collects changes of registries, by schedule, until a run may begin."""

    def __init__(self) -> None:
        self.told: SimpleQueue[str] = SimpleQueue()
        """Names of models of which MLflow has told, by any thread."""
        self._seen: dict[UUID, dict[str, str]] = {}
        self._waiting: dict[UUID, _Waiting] = {}

    def due(
        self, schedules: Iterable[Schedule], now: datetime, busy: Collection[UUID | None]
    ) -> dict[UUID, list[str]]:
        """Look at folders; return entries to re-audit now, by the id of their schedule, once each.

        A schedule that is busy waits, however much happens meanwhile, and is due once afterwards.
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
        told = set()
        while True:
            try:
                told.add(self.told.get_nowait())
            except Empty:
                break
        for schedule in watched.values():
            registry = _registry(schedule)
            changed = told if registry.get("kind") == MLFLOW else set()
            if registry.get("kind") == FOLDER:
                changed = self._changed(schedule, registry)
            if changed:
                waiting = self._waiting.setdefault(schedule.id, _Waiting(now, now))
                waiting.last = now
                waiting.entries |= changed
        self._seen = {key: seen for key, seen in self._seen.items() if key in watched}

    def _changed(self, schedule: Schedule, registry: dict[str, Any]) -> set[str]:
        try:
            digests = look(schedule.folder / str(registry.get("root")))
        except OSError:  # gone, or changed while it was read: the next look sees it
            return set()
        before = self._seen.get(schedule.id, digests)
        self._seen[schedule.id] = digests
        return {name for name in digests if before.get(name) != digests[name]}


def look(root: Path) -> dict[str, str]:
    """By the name of a model's folder, a digest of names, sizes and times; opens no file."""
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
    except ConfigError:  # its run says so
        return {}
