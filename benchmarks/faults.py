"""Kill workers and flows at random moments, and compare with an undisturbed audit.

Small studies are audited by real ``decaf run`` processes while parts of them are killed, at moments
that a seed decides: so many blocks or seconds after a start. What stopped is started again until
the audit is finished. Then every table must be that of an audit which nothing disturbed, row for
row, ``decaf check`` must pass, no receipt may have been written twice, nothing may outlive a flow,
and the network, which notes every batch that it is asked for, may have scored no more blocks again
than were in flight. Faults that are no kills come last: a scheduler that is
lost, a full disk, a warehouse that becomes read-only (these two need root).
Run: python benchmarks/faults.py FOLDER RESULTS.json [SEED KILLS]
"""

import json
import os
import platform
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any

from faults_watch import BATCH_SECONDS, BLOCK_ROWS, DECAF, WORKERS, Audit, Life, prepare
from same_tables import differences

SEED, KILLS = 7, 20
KINDS = ("worker", "flow")
"""What is killed as often as wanted; SIGTERM comes beside it."""
IN_FLIGHT = {"worker": 1, "forking": WORKERS, "flow": WORKERS, "term": WORKERS}
"""Blocks that may have to be scored again when one of them is struck."""
LAST_STRUCK_LIFE, MOST_LIVES = 20, 30
LONGEST_SECONDS = 12.0
"""Lives that are counted in seconds are struck up to here: starts and ends, too."""
NOBODY = 65534
Found = dict[str, dict[str, Any]]
"""What came out of an audit, by its name."""


def struck(audit: Audit, rng: random.Random) -> None:
    """One life of a flow in which parts of it are killed, and mostly it itself in the end."""
    kinds = ["worker"] * rng.randint(1, 3)
    kinds += rng.choices([["flow"], ["term"], []], [7, 1, 1])[0]
    moments = sorted(rng.uniform(0.3, LONGEST_SECONDS) for _ in kinds)
    is_timed = rng.random() < 0.25
    with Life(audit) as life:
        started, blocks = time.monotonic(), life.count_receipts()
        for kind, moment in zip(kinds, moments, strict=True):
            blocks += rng.randint(1, 3)
            pause = rng.uniform(0, BATCH_SECONDS)
            while life.is_running() and (
                time.monotonic() < started + moment
                if is_timed
                else life.count_receipts() < min(blocks, audit.blocks)
            ):
                time.sleep(0.01)
            time.sleep(0 if is_timed else pause)
            if what := life.strike(kind, rng):
                audit.kills[what] += 1
                audit.in_flight += IN_FLIGHT[what]


def finish(audit: Audit, **options: bool) -> None:
    """Give the same command until it ends well."""
    while not audit.exits[0]:
        if audit.lives > MOST_LIVES:
            sys.exit(f"{audit.folder}: not finished after {MOST_LIVES} lives")
        with Life(audit, **options) as life:
            life.wait()


def run_under_kills(
    folder: Path, undisturbed: Audit, rng: random.Random, wanted: int
) -> Iterator[Found]:
    """Run audits and kill their parts, until each kind of part was killed as often as wanted."""
    total = Counter()
    for number in count():
        if min(total[kind] for kind in KINDS) >= wanted:
            return
        audit = prepare(folder / f"killed-{number}")
        while not audit.exits[0] and audit.lives < LAST_STRUCK_LIFE:
            struck(audit, rng)
        finish(audit)
        total += audit.kills
        yield verdict(audit, undisturbed)


def scheduler_lost(folder: Path, undisturbed: Audit) -> Found:
    """The scheduler of a cluster that runs already is killed in the middle of an audit."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    audit = prepare(folder / "scheduler", {"kind": "address", "address": address})
    with cluster(audit, address) as scheduler:
        stopped_by(audit, scheduler.kill, "scheduler is lost", WORKERS)
    with cluster(audit, address):
        finish(audit)
    return verdict(audit, undisturbed, apart_from="config")


@contextmanager
def cluster(audit: Audit, address: str) -> Iterator[subprocess.Popen]:
    """A scheduler at an address, with workers of its own; its process."""
    dask = str(Path(sys.executable).parent / "dask")
    port = address.rpartition(":")[2]
    quiet = {"cwd": audit.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    with subprocess.Popen(start, **quiet) as scheduler:
        join = [dask, "worker", address, "--nworkers", str(WORKERS), "--nthreads", "1"]
        with subprocess.Popen([*join, "--no-dashboard", "--memory-limit", "0"], **quiet) as workers:
            try:
                yield scheduler
            finally:
                workers.terminate()
                scheduler.terminate()


def disk_full(folder: Path, undisturbed: Audit) -> Found:
    """The file system of the warehouse has no room for all of it; later it has."""
    audit = prepare(folder / "disk")
    audit.warehouse.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", audit.warehouse]
    subprocess.run(mount, check=True)
    try:
        stopped_by(audit, lambda: None, "No space left on device", WORKERS)
        subprocess.run(["mount", "-o", "remount,size=64m", audit.warehouse], check=True)
        finish(audit)
        return verdict(audit, undisturbed)
    finally:
        subprocess.run(["umount", "--lazy", audit.warehouse], check=True)


def turned_read_only(folder: Path, undisturbed: Audit) -> Found:
    """Nobody's audit may not write its warehouse any more; later it may again."""
    audit = prepare(folder / "read-only")
    subprocess.run(["chown", "-R", str(NOBODY), audit.folder], check=True)

    def allow(what: str) -> None:
        subprocess.run(["chmod", "-R", what, audit.warehouse], check=True)

    stopped_by(audit, lambda: allow("a-w"), "Permission denied", WORKERS, is_nobody=True)
    allow("u+w")
    finish(audit, is_nobody=True)
    return verdict(audit, undisturbed)


def stopped_by(
    audit: Audit, fault: Callable[[], object], reason: str, in_flight: int, **options: bool
) -> None:
    """An audit that meets a fault after some blocks says why it stops, without a traceback."""
    with Life(audit, **options) as life:
        life.wait_for(3)
        fault()
        audit.kills[audit.folder.name] += 1
        audit.in_flight += in_flight
        life.wait()
    log = life.log.read_text()
    if audit.exits[0] or audit.exits[2] + audit.exits[3] != 1 or reason not in log:
        sys.exit(f"{audit.folder} ended with {audit.exits}: {log}")
    if "Traceback" in log:
        sys.exit(f"{audit.folder} has a traceback: {log}")


def verdict(audit: Audit, undisturbed: Audit, apart_from: str = "") -> Found:
    """Compare a finished audit with an undisturbed one; a difference ends the campaign."""
    checked = subprocess.run(
        [DECAF, "check", "-w", audit.warehouse], capture_output=True, text=True, check=False
    )
    again = audit.block_passes() - undisturbed.block_passes()
    result = {
        "lives": audit.lives,
        "kills": dict(sorted(audit.kills.items())),
        "exit_codes": {str(code): count for code, count in sorted(audit.exits.items())},
        "differing_tables": differences(
            undisturbed.warehouse,
            audit.warehouse,
            {apart_from},
            (undisturbed.folder, audit.folder),
        ),
        "check_exit_code": checked.returncode,
        "receipts_written_again": len(audit.written_again),
        "temporary_files": len(list(audit.warehouse.rglob("*.tmp"))),
        "blocks_scored_again": again,
        "blocks_in_flight_at_most": audit.in_flight,
        "longest_after_its_flow_seconds": round(audit.longest_end, 1),
    }
    print(json.dumps({audit.folder.name: result}), flush=True)
    if result["differing_tables"] or checked.returncode or not 0 <= again <= audit.in_flight:
        sys.exit(f"{audit.folder} differs from an undisturbed audit\n{checked.stdout}")
    if result["receipts_written_again"] or result["temporary_files"]:
        sys.exit(f"{audit.folder} has receipts that were written twice, or temporary files")
    return {audit.folder.name: result}


def main(folder: Path, results: Path, seed: int, kills: int) -> None:
    """Run the campaign, and write the results after every audit."""
    started = time.monotonic()
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    undisturbed = prepare(folder / "undisturbed")
    finish(undisturbed)
    if undisturbed.block_passes() != undisturbed.blocks:
        sys.exit(f"{undisturbed.folder}: {undisturbed.block_passes()} passes of {BLOCK_ROWS} rows")
    about = {
        "seed": seed,
        "blocks": undisturbed.blocks,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("prefect", "distributed", "duckdb")},
    }
    audits: dict[str, dict] = {}
    faults = [scheduler_lost]
    faults += [disk_full, turned_read_only] if os.geteuid() == 0 else []
    single = (fault(folder, undisturbed) for fault in faults)
    for audit in chain(run_under_kills(folder, undisturbed, random.Random(seed), kills), single):
        audits |= audit
        about["minutes"] = round((time.monotonic() - started) / 60, 1)
        total = sum((Counter(audit_result["kills"]) for audit_result in audits.values()), Counter())
        about["kills"] = dict(sorted(total.items()))
        results.write_text(json.dumps(about | {"audits": audits}, indent=1) + "\n")
    print(json.dumps(about, indent=1))


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, results]:
            main(Path(folder).absolute(), Path(results).absolute(), SEED, KILLS)
        case [folder, results, seed, kills]:
            main(Path(folder).absolute(), Path(results).absolute(), int(seed), int(kills))
        case _:
            sys.exit(__doc__)
