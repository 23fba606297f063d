"""Audit a study on a cluster of machines that fail, and compare with the same study on one machine.

Four machines of a network of their own (``network.py``) are a Dask cluster: a scheduler and three
that work. The warehouse is on an S3-compatible server on a fifth, and ``decaf run`` is given on a
sixth. Machines have folders, temporary folders and caches of their own, and share one folder with
weights and workspace, as over NFS. In each audit something happens: workers join late, leave or are
killed, a machine is off the network for 30 s, a worker's disk is full. Every audit must end with
the tables of the one that ran on one machine, ``decaf check`` must pass, and no more rows may be
scored again than those of the blocks that were in flight. Needs root and Linux; ends within
MOST_MINUTES.
Run: python benchmarks/cluster.py FOLDER RESULTS.json [AUDIT …]
"""

import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from network import Machine, Running, network
from small_study import card, write_study

MACHINES = ("head", "work-1", "work-2", "work-3", "store", "desk")
MODELS, SOURCES, BATCH_SECONDS = 3, 12, 0.5
BLOCKS = MODELS * SOURCES
OFF_SECONDS = 30
SCRATCH_BYTES = 4 << 20
PATIENCE_SECONDS, MOST_MINUTES, LOOK_SECONDS = 900, 120, 0.05
MOST_RUNS = 3
"""Times that the command is given until an audit counts as one that does not end."""
PYTHON = sys.executable
DECAF, DASK = (Path(PYTHON).parent / name for name in ("decaf", "dask"))
SCHEDULER_PORT, STORE_PORT, BUCKET = 8786, 9000, "audits"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
BESIDE = ("config",)
"""Column that has cluster, workspace and warehouse, which are others here."""


@dataclass
class Site:
    """The machines, and the folder that all of them see."""

    machines: dict[str, Machine]
    shared: Path

    @property
    def scheduler(self) -> str:
        """Address of the Dask scheduler."""
        return f"tcp://{self.machines['head'].address}:{SCHEDULER_PORT}"

    def warehouse(self, name: str) -> str:
        """Warehouse of one audit on the store."""
        place = f"endpoint_override={self.machines['store'].address}:{STORE_PORT}"
        return f"s3://{BUCKET}/{name}?{place}&scheme=http&region=us-east-1"

    def study(self, name: str, cluster: dict[str, Any], warehouse: str | Path) -> Path:
        """Write the study of one audit; all are equal but for their places."""
        folder = self.shared / name
        folder.mkdir()
        write_study(
            folder,
            self.cards,
            data={"adapter": "shapes3d", "sources": SOURCES, "seed": 1},
            batch_size=1024,
            sources_per_block=1,
            workspace=str(folder / "workspace"),
            warehouse=str(warehouse),
            report=str(folder / "report.html"),
            cluster=cluster,
        )
        return folder / "study.yaml"

    @property
    def log(self) -> Path:
        """Where the networks note every batch that they are asked for."""
        return self.shared / "forward.log"

    @property
    def cards(self) -> list[dict[str, Any]]:
        """Cards of the networks, whose weights all machines see."""
        slow = {"arguments": {"seconds": BATCH_SECONDS, "log": str(self.log)}, "input_size": 32}
        cards = [
            card(self.shared, f"net_{number}", number, "factory:counted:Counted", **slow)
            for number in range(MODELS)
        ]
        return [one | {"weights": str(self.shared / one["weights"])} for one in cards]

    def blocks(self) -> list[int]:
        """Rows of every block that was begun since the log was emptied.

        Before a model is audited it is shown one clean input: a batch of one row is no block's.
        """
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [rows for line in lines if (rows := int(line.split()[1])) > 1]


@dataclass
class Audit:
    """One audit that is under way on the cluster."""

    site: Site
    name: str
    _opened: ExitStack
    run: Running
    in_flight: int = 0
    """Blocks that may have to be scored again by what has happened, at most."""
    events: list[str] = field(default_factory=list)

    def join(self, name: str, **options: int) -> Running:
        """Have a machine join the cluster with one worker."""
        self.events.append(f"{name} joins after {len(self.site.blocks())} blocks")
        return self._opened.enter_context(worker(self.site, name, **options))

    def wait_for(self, blocks: int) -> None:
        """Wait until so many blocks were begun."""
        stop = time.monotonic() + PATIENCE_SECONDS
        while len(self.site.blocks()) < blocks:
            if self.run.process.poll() is not None or time.monotonic() > stop:
                sys.exit(f"{self.name}: {len(self.site.blocks())} blocks\n{self.run.log}")
            time.sleep(LOOK_SECONDS)

    def strike(self, machine: str, what: str, blocks: int = 1) -> None:
        """Note what happens to a machine now, and how many blocks that may cost."""
        self.events.append(f"{machine} {what} after {len(self.site.blocks())} blocks")
        self.in_flight += blocks

    def cut_off(self, machine: str, blocks: int) -> None:
        """Take a machine off the network for a while."""
        self.strike(machine, f"is off the network for {OFF_SECONDS} s", blocks)
        with self.site.machines[machine].cut_off():
            time.sleep(OFF_SECONDS)

    def lose(self, machine: str) -> None:
        """Take a machine off the network until the audit has ended."""
        self.strike(machine, "is off the network for good")
        self._opened.enter_context(self.site.machines[machine].cut_off())


@contextmanager
def worker(site: Site, name: str, **options: int) -> Iterator[Running]:
    """A worker of one thread on a machine."""
    machine = site.machines[name]
    own = ("--host", machine.address, "--nworkers", "1", "--nthreads", "1")
    plain = ("--memory-limit", "0", "--no-dashboard")
    command = [DASK, "worker", site.scheduler, *own, *plain]
    with machine.running(command, **options, **CREDENTIALS) as running:
        yield running


@contextmanager
def scheduler(site: Site) -> Iterator[Running]:
    """The Dask scheduler."""
    head = site.machines["head"]
    place = ("--host", head.address, "--port", str(SCHEDULER_PORT), "--no-dashboard")
    with head.running([DASK, "scheduler", *place]) as running:
        yield running


@contextmanager
def store(site: Site) -> Iterator[Running]:
    """The S3-compatible server, with a bucket."""
    machine = site.machines["store"]
    place = ("-H", machine.address, "-p", str(STORE_PORT))
    with machine.running([PYTHON, "-m", "moto.server", *place]) as running:
        make = (
            "import sys, time, urllib.request as u\n"
            "for _ in range(600):\n"
            "    try:\n"
            "        u.urlopen(u.Request(sys.argv[1], method='PUT'), timeout=10).close(); break\n"
            "    except OSError: time.sleep(.1)\n"
            "else: sys.exit('the store does not answer')"
        )
        bucket = f"http://{machine.address}:{STORE_PORT}/{BUCKET}"
        machine.answer([PYTHON, "-c", make, bucket])
        yield running


def come_and_go(audit: Audit) -> None:
    """One worker at first; two join late, one is told to leave, one is killed."""
    audit.wait_for(4)
    second = audit.join("work-2")
    audit.wait_for(10)
    audit.join("work-3")
    audit.wait_for(16)
    audit.strike("work-2", "is told to leave")
    second.signal(signal.SIGTERM)
    audit.wait_for(22)
    third = audit.join("work-2")
    audit.wait_for(28)
    audit.strike("work-2", "is killed")
    third.signal(signal.SIGKILL)


def worker_cut_off(audit: Audit) -> None:
    """A machine that works is off the network for a while."""
    audit.join("work-2")
    audit.wait_for(10)
    audit.cut_off("work-2", 2)


def worker_lost(audit: Audit) -> None:
    """A machine that works is off the network, and never comes back."""
    audit.join("work-2")
    audit.wait_for(10)
    audit.lose("work-2")


def desk_cut_off(audit: Audit) -> None:
    """The machine with ``decaf run`` is off the network for a while."""
    audit.join("work-2")
    audit.wait_for(10)
    audit.cut_off("desk", 2)


def head_cut_off(audit: Audit) -> None:
    """The scheduler's machine is off the network for a while."""
    audit.join("work-2")
    audit.wait_for(10)
    audit.cut_off("head", 4)
    audit.run.process.wait(PATIENCE_SECONDS)
    audit.join("work-3")  # the others ended when they had lost their scheduler


def store_cut_off(audit: Audit) -> None:
    """The store is off the network for a while."""
    audit.join("work-2")
    audit.wait_for(10)
    audit.cut_off("store", 2)


def disk_full(audit: Audit) -> None:
    """The disk of a worker's temporary files is full."""
    small = audit.join("work-2", scratch_bytes=SCRATCH_BYTES)
    audit.wait_for(10)
    audit.strike("work-2", "has no room left")
    small.fill_scratch()


DISTURBED = (
    come_and_go,
    worker_cut_off,
    worker_lost,
    desk_cut_off,
    head_cut_off,
    store_cut_off,
    disk_full,
)


def audited(site: Site, disturb: Callable[[Audit], None], alone: Path) -> dict[str, Any]:
    """Audit the study on the cluster while something happens, and compare."""
    name, desk = disturb.__name__, site.machines["desk"]
    url = site.warehouse(name)
    config = site.study(name, {"kind": "address", "address": site.scheduler}, url)
    site.log.unlink()
    began = time.monotonic()
    exits: list[int] = []
    with ExitStack() as opened:
        opened.enter_context(scheduler(site))
        opened.enter_context(worker(site, "work-1"))
        run = opened.enter_context(desk.running([DECAF, "run", config], **CREDENTIALS))
        audit = Audit(site, name, opened, run)
        disturb(audit)
        exits.append(run.process.wait(PATIENCE_SECONDS))
        said = [run.log.read_text()]
        while exits[-1] and len(exits) < MOST_RUNS:
            again = opened.enter_context(desk.running([DECAF, "run", config], **CREDENTIALS))
            exits.append(again.process.wait(PATIENCE_SECONDS))
            said.append(again.log.read_text())
        seconds = time.monotonic() - began
    if exits[-1]:
        sys.exit(f"{name} does not end well: {exits}\n{said[-1]}")
    differing = json.loads(
        desk.answer([PYTHON, _beside("same_tables.py"), alone, url, *BESIDE], **CREDENTIALS)
    )
    desk.answer([DECAF, "check", "-w", url], **CREDENTIALS)
    again = len(site.blocks()) - BLOCKS
    faults = [f"{table} differs" for table in differing]
    faults += [] if 0 <= again <= audit.in_flight else ["blocks are scored in vain"]
    faults += ["a traceback is printed"] if any("Traceback" in text for text in said) else []
    result = {
        "events": audit.events,
        "exit_codes": exits,
        "seconds": round(seconds, 1),
        "differing_tables": differing,
        "blocks_scored_again": again,
        "in_flight_at_most": audit.in_flight,
        "faults": faults,
    }
    print(json.dumps({name: result}), *(said if faults or len(said) > 1 else ()), flush=True)
    return result


def on_one_machine(site: Site) -> tuple[Path, dict[str, Any]]:
    """The same study with workers of its own and a warehouse in a folder."""
    warehouse = site.shared / "warehouse"
    config = site.study("one_machine", {"kind": "local", "workers": 2}, warehouse)
    began = time.monotonic()
    with site.machines["desk"].running([DECAF, "run", config]) as run:
        code = run.process.wait(PATIENCE_SECONDS)
        if code or len(site.blocks()) != BLOCKS:
            sys.exit(f"one machine: exit code {code}\n{run.log.read_text()}")
    return warehouse, {"exit_codes": [code], "seconds": round(time.monotonic() - began, 1)}


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


def main(folder: Path, results: Path, names: list[str]) -> None:
    """Run the campaign; what has come out is written after every audit."""
    started = time.monotonic()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"not done in {MOST_MINUTES} minutes"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
    signal.alarm(MOST_MINUTES * 60)
    about = {
        "blocks": BLOCKS,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("prefect", "distributed", "moto")},
    }
    found: dict[str, dict] = {}
    shared = folder / "shared"
    shared.mkdir(parents=True)
    with network(folder, MACHINES) as machines:
        site = Site(machines, shared)
        with store(site):
            alone, found["one_machine"] = on_one_machine(site)
            for disturb in DISTURBED:
                if not names or disturb.__name__ in names:
                    found[disturb.__name__] = audited(site, disturb, alone)
                    about["minutes"] = round((time.monotonic() - started) / 60, 1)
                    results.write_text(json.dumps(about | {"audits": found}, indent=1) + "\n")
    print(json.dumps(about, indent=1))
    if faulty := [name for name, one in found.items() if one.get("faults")]:
        sys.exit(f"not as on one machine: {', '.join(faulty)}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute(), sys.argv[3:])
