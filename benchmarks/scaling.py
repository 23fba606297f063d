"""How an audit scales: more workers, and many more units of work.

``workers``: a real ``decaf run`` of a model that sleeps two seconds a block, on more and more
workers of this machine. Efficiency is the seconds that were slept, by all workers, of those from
the first block's start to the last one's end; the start is the same whatever the number. CPU and
memory are those of the process with the flow and Dask's scheduler meanwhile.
``units``: 72 models and so many blocks, three units each, are planned; the manifest is committed;
half of the blocks are committed, without tables, and the rest is planned again, each in a process
of its own; then ``decaf status`` is asked, which keeps what the receipts say, and asked again as
while an audit is under way: after a change in their folder.
Run: python benchmarks/scaling.py workers|units FOLDER RESULTS.json COUNT …
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from commands import RUN

SLEEP_SECONDS, BLOCKS_PER_WORKER = 2.0, 15
MODELS, COLUMNS, DONE_SHARE = 72, 4, 0.5
LOOK_SECONDS = 1.0


def study(folder: Path, models: int, blocks: int, **settings: Any) -> None:
    """Rows of a table against others, one a block, for models that are one function."""
    from small_study import write_study  # imports torch, which planning does not

    rng = np.random.default_rng(0)
    for name in ("factual", "counterfactual"):
        np.save(folder / f"{name}.npy", rng.normal(size=(blocks, COLUMNS)).astype(np.float32))
    cards = [
        {"id": f"net_{number:02d}", "family": "none", "source": "function"}
        | {"function": "sleeping:answer", "output": "value"}
        for number in range(models)
    ]
    data = {"adapter": "arrays", "factual": "factual.npy", "counterfactual": "counterfactual.npy"}
    write_study(
        folder,
        cards,
        data=data,
        score={"kind": "regression_value"},
        paths={"blend": {"kind": "blend", "sigma": 0}},
        sources_per_block=1,
        **settings,
    )


def scaled(folder: Path, workers: int) -> dict[str, Any]:
    """Audit on so many workers, as many blocks for each; what it took."""
    from warehouse.query.catalog import connect

    study(folder, 1, workers * BLOCKS_PER_WORKER, cluster={"kind": "local", "workers": workers})
    environment = {**os.environ, "SLEEP_SECONDS": str(SLEEP_SECONDS)}
    seen: list[tuple[float, float, int]] = []
    with (folder / "run.log").open("w") as log:
        run = subprocess.Popen(RUN, cwd=folder, env=environment, stdout=log, stderr=log)
        flow = psutil.Process(run.pid)
        while run.poll() is None:
            with flow.oneshot():
                used, memory = flow.cpu_times(), flow.memory_info().rss
            seen.append((time.time(), used.user + used.system, memory))
            time.sleep(LOOK_SECONDS)
    if run.returncode:
        sys.exit((folder / "run.log").read_text())
    with connect(folder / "warehouse") as connection:
        first, last, count = connection.execute(
            "SELECT epoch(min(started_at)), epoch(max(started_at + wall_seconds * INTERVAL 1 "
            "SECOND)), count(*) FROM stg_costs"
        ).fetchone()
    during = [look for look in seen if first <= look[0] <= last]
    span, share = last - first, np.diff([during[0], during[-1]], axis=0)[0]
    return {
        "blocks": count,
        "seconds": round(span, 2),
        "efficiency": round(count * SLEEP_SECONDS / (workers * span), 4),
        "flow_and_scheduler_core_share": round(share[1] / share[0], 4),
        "flow_and_scheduler_mb": round(max(look[2] for look in during) / 2**20),
        "load_average": round(os.getloadavg()[0], 1),
    }


def planned(folder: Path, blocks: int) -> dict[str, Any]:
    """Plan, begin, and plan again; each in a process of its own."""
    from tasks.units.orders import UNITS
    from warehouse.commits import layout

    study(folder, MODELS, blocks)
    steps = {}
    for step in ("plan", "begin", "resume"):
        steps[step] = stepped(folder, step)
        if step == "begin":
            steps["receipts"] = half_done(folder)
    steps["status"] = stepped(folder, "status")
    next((folder / "warehouse" / layout.receipts_folder(UNITS)).iterdir()).touch()
    return steps | {"status_under_way": stepped(folder, "status")}


def stepped(folder: Path, name: str) -> dict[str, Any]:
    """One step in a process of its own, which has no more memory than it takes itself."""
    command = [sys.executable, __file__, "step", name]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    taken = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps({name: taken}), flush=True)
    return taken


def told() -> dict[str, Any]:
    """What ``decaf status`` takes."""
    began = time.perf_counter()
    with Path("status.log").open("w") as log:
        words = (RUN[0], "status", "-w", "warehouse")
        process = subprocess.Popen(words, stdout=log, stderr=log)
        _, code, used = os.wait4(process.pid, 0)
    return {
        "exit_code": os.waitstatus_to_exitcode(code),
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": used.ru_maxrss // 1024,
    }


def half_done(folder: Path) -> int:
    """Write receipts of a part of the blocks as workers do, but for their tables; how many."""
    from decaf.plan.study import load_study
    from tasks.plan import plan_audit
    from tasks.units.orders import UNITS, commit_key
    from warehouse.commits import layout
    from warehouse.commits.receipts import Receipt

    here = Path.cwd()
    os.chdir(folder)
    study = load_study(Path("study.yaml"))
    plan = plan_audit(study, study.pair_set())
    count = 0
    for groups in plan.by_model.values():
        for units in groups[: round(len(groups) * DONE_SHARE)]:
            key, now = commit_key(units), datetime.now(UTC).isoformat()
            keys = tuple(unit.key for unit in units)
            receipt = Receipt(UNITS, study.study, key, units[0].model_id, now, (), keys, {}, {})
            path = Path(study.warehouse) / layout.receipt(UNITS, study.study, key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(receipt.to_json())
            count += 1
    os.chdir(here)
    return count


def step(name: str) -> dict[str, Any]:
    """One step of what a command does with a plan, in this process."""
    from decaf.plan.study import load_study
    from tasks.hold import hold_warehouse
    from tasks.manifest import commit_run
    from tasks.plan import plan_audit

    study = load_study(Path("study.yaml"))
    taken: dict[str, Any] = {}

    def timed(what: str, work: Callable[[], Any]) -> Any:
        began, used = time.perf_counter(), time.process_time()
        result = work()
        taken[f"{what}_seconds"] = round(time.perf_counter() - began, 2)
        taken[f"{what}_cpu_seconds"] = round(time.process_time() - used, 2)
        return result

    pairs = timed("pairs", study.pair_set)
    with hold_warehouse(study):
        plan = timed("plan", lambda: plan_audit(study, pairs))
        if name == "begin":
            timed("manifest", lambda: commit_run(plan))
    status = Path("/proc/self/status").read_text()
    taken["peak_mb"] = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    return {"units": len(plan.units), "left": len(plan.pending)} | taken


def main(what: str, folder: Path, results: Path, counts: list[int]) -> None:
    """Measure for every count; what has come out is written after each."""
    folder.mkdir(parents=True)
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    known = json.loads(results.read_text()) if results.exists() else {}
    about = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("prefect", "distributed", "pyarrow")},
    }
    for count in counts:
        own = folder / f"{what}-{count}"
        own.mkdir()
        found = {"workers": scaled, "units": planned}[what](own, count)
        print(json.dumps({count: found}), flush=True)
        known[what] = known.get(what, {}) | {str(count): found | {"load": os.getloadavg()[0]}}
        results.write_text(json.dumps(known | about, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["step", "status"]:
            print(json.dumps(told()))
        case ["step", name]:
            print(json.dumps(step(name)))
        case ["workers" | "units" as what, folder, results, *counts] if counts:
            main(what, Path(folder).absolute(), Path(results).absolute(), [*map(int, counts)])
        case _:
            sys.exit(__doc__)
