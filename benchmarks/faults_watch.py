"""Small audits of real ``decaf run`` processes, and what can be seen of them from outside."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
from small_study import card, write_study

MODELS, SOURCES, WORKERS = 3, 12, 2
BATCH_SECONDS = 0.5
BLOCK_ROWS = 33
"""Forward rows of each block of the study."""
PATIENCE_SECONDS, GONE_SECONDS = 900, 60
LOOK_SECONDS, LOOKS_PER_FAMILY = 0.02, 10
READER = "+dac_read_search"
"""The interpreter may lie in a folder that is root's alone; writing stays forbidden."""
NOBODY = (
    *("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"),
    *("--inh-caps", READER, "--ambient-caps", READER),
)
LOG = "forward.log"
DECAF = str(Path(sys.executable).parent / "decaf")
MARK = "multiprocessing.forkserver"
"""What the command lines of workers have in them, and that of the process that forks them."""


@dataclass
class Audit:
    """One audit: its folder, the kills, and the observed receipts and exit codes."""

    folder: Path
    blocks: int = MODELS * SOURCES
    kills: Counter = field(default_factory=Counter)
    exits: Counter = field(default_factory=Counter)
    lives: int = 0
    in_flight: int = 0
    """Blocks that were being scored when something was killed, at most."""
    receipts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Every commit's receipt as it was first seen: which file, and when it was written."""
    written_again: set[str] = field(default_factory=set)
    longest_end: float = 0.0
    """Longest that anything outlived its flow; seconds."""

    @property
    def warehouse(self) -> Path:
        """Root of the warehouse."""
        return self.folder / "warehouse"

    def block_passes(self) -> int:
        """Forward passes of blocks over all lives; a block is one batch here.

        The trial of a model, before it is audited, has batches of other sizes.
        """
        lines = (self.folder / LOG).read_text().splitlines()
        return sum(int(line.split()[1]) == BLOCK_ROWS for line in lines)

    def look(self) -> None:
        """Note new receipts, and receipts that were replaced by another file."""
        for path in (self.warehouse / "receipts" / "units").rglob("*.json"):
            status = path.stat()
            identity = (status.st_ino, status.st_mtime_ns)
            if self.receipts.setdefault(path.name, identity) != identity:
                self.written_again.add(path.name)


def prepare(folder: Path, cluster: dict[str, Any] | None = None) -> Audit:
    """Make the folder of an audit, with its models and its study."""
    folder.mkdir(parents=True)
    slow = {"arguments": {"seconds": BATCH_SECONDS, "log": LOG}, "input_size": 32}
    cards = [
        card(folder, f"net_{number}", number, "factory:counted:Counted", **slow)
        for number in range(MODELS)
    ]
    write_study(
        folder,
        cards,
        data={"adapter": "shapes3d", "sources": SOURCES, "seed": 1},
        batch_size=1024,
        sources_per_block=1,
        cluster=cluster or {"kind": "local", "workers": WORKERS},
    )
    return Audit(folder)


class Life:
    """One ``decaf run`` of an audit, watched until it and all that it started have ended."""

    def __init__(self, audit: Audit, *, is_nobody: bool = False) -> None:
        self._audit = audit
        audit.lives += 1
        self.log = audit.folder / f"life-{audit.lives:02d}.log"
        prefix, environment = (), dict(os.environ)
        if is_nobody:
            prefix = NOBODY
            environment |= {"HOME": str(audit.folder)}
            environment |= {"PREFECT_HOME": str(audit.folder / "prefect")}
        with self.log.open("w") as log:
            self._flow = subprocess.Popen(
                [*prefix, DECAF, "run", "study.yaml"],
                cwd=audit.folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        self._family: set[psutil.Process] = set()
        self._is_over = threading.Event()
        self._watch = threading.Thread(target=self._follow)

    def __enter__(self) -> "Life":
        """Begin to watch."""
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        """Wait for its end; what outlives it ends the campaign."""
        if kind is not None:
            self._flow.kill()
        self.wait()
        self._is_over.set()
        self._watch.join()
        ended = time.monotonic()
        _, alive = psutil.wait_procs(self._family, timeout=GONE_SECONDS)
        if alive:
            sys.exit(f"{self.log}: {alive} outlived their flow")
        self._audit.longest_end = max(self._audit.longest_end, time.monotonic() - ended)
        self._audit.exits[self._flow.returncode] += 1
        self._audit.look()

    def count_receipts(self) -> int:
        """Number of blocks with a receipt."""
        return len(self._audit.receipts)

    def is_running(self) -> bool:
        """True until the flow ends."""
        return self._flow.poll() is None

    def wait(self) -> None:
        """Wait for the end of the flow."""
        self._flow.wait(PATIENCE_SECONDS)

    def wait_for(self, blocks: int) -> None:
        """Wait until this number of blocks have a receipt; exit if the flow ends first."""
        stop = time.monotonic() + PATIENCE_SECONDS
        while self.count_receipts() < blocks:
            if not self.is_running() or time.monotonic() > stop:
                sys.exit(f"{self.log}: {self.count_receipts()} blocks when it ended")
            time.sleep(LOOK_SECONDS)

    def strike(self, kind: str, rng: random.Random) -> str | None:
        """Kill a part or the flow; returns its kind, or None if no such part runs now.

        For ``worker``, a random worker or the fork server is killed; workers end with the server.
        """
        if not self.is_running():
            return None
        children = self._children()
        self._family.update(children)
        if kind != "worker":
            self._flow.send_signal(signal.SIGTERM if kind == "term" else signal.SIGKILL)
            return kind
        pids = sorted(child.pid for child in children if _is(child, MARK))
        if not pids:
            return None
        struck = rng.choice(pids)
        is_parent = struck in _find_parents(pids)
        os.kill(struck, signal.SIGKILL)
        return "forking" if is_parent else kind

    def _children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self._flow.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _follow(self) -> None:
        looks = 0
        while not self._is_over.wait(LOOK_SECONDS):
            self._audit.look()
            if looks % LOOKS_PER_FAMILY == 0:
                self._family |= set(self._children())
            looks += 1


def _find_parents(pids: list[int]) -> set[int]:
    parents = set()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            parents.add(psutil.Process(pid).ppid())
    return parents


def _is(process: psutil.Process, mark: str) -> bool:
    try:
        return any(mark in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False
