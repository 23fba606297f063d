"""Questions about one model of an audit of 110 million trajectories, and how long it takes to open.

The audit has 72 models, 254,000 foregrounds in two pair types under three paths at nine stages:
1,524,000 trajectories a model, 10⁹ stage rows in all. So many of its models as are asked for
(MODELS) are written through the real writer, and compacted: all 72 take 20 minutes and 40 GB, of
which `decaf gc` deletes half. What opening costs depends on receipts: they are made as many as an
audit of all models with blocks of 256 foregrounds has, of commits whose rows a compaction holds.
Every question is asked by processes of their own, of this code and of another checkout in turn:
those about one model, and some about all that are written.
Run: python benchmarks/scale.py FOLDER RESULTS.json [MODELS [CHECKOUT_BEFORE]], which keeps FOLDER
"""

import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import synthetic_audit

from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS
from warehouse.query.catalog import connect
from warehouse.upkeep.compaction import compact

AUDIT = synthetic_audit.SCAN._replace(foregrounds=254_000)
SOURCES_PER_BLOCK, SMALL_BLOCK = 1024, 256
CORES, ROUNDS, MOST_SECONDS = 2, 2, 900
OF_MODEL = f"WHERE study = '{AUDIT.study}' AND model_id = 'net_03'"
QUESTIONS = {
    **{
        view: f"FROM {view} {OF_MODEL}"
        for view in (
            "out_model_profiles",
            "out_model_intervals",
            "out_responses",
            "out_findings",
            "out_breakdowns",
            "out_top_pairs",
            "out_mean_trajectories",
            "out_epsilon_sweep",
            "out_stage_grids",
            "core_profiles",
        )
    },
    "core_profiles, one path": f"FROM core_profiles {OF_MODEL} AND path = 'blend'",
    "core_trajectories, one pair": f"FROM core_trajectories {OF_MODEL} AND path = 'blend' "
    "AND pair_id = 'source-123456/same_rand'",
    **{
        f"{view}, all models": f"FROM {view}"
        for view in ("out_model_profiles", "out_epsilon_sweep", "out_mean_trajectories")
    },
}


def written(folder: Path, models: int) -> Path:
    """The audit with the rows of so many of its models, compacted."""
    root = folder / f"{models}-models"
    if not root.exists():
        block = synthetic_audit._commit_block
        most = models * -(-AUDIT.foregrounds // SOURCES_PER_BLOCK)
        done = iter(range(most))
        with (
            patch("os.fsync"),
            patch.object(synthetic_audit, "SOURCES_PER_SHARD", SOURCES_PER_BLOCK),
            patch.object(
                synthetic_audit,
                "_commit_block",
                lambda *of: 0.0 if next(done, None) is None else block(*of),
            ),
        ):
            synthetic_audit.write(root, AUDIT, 1)
            compact(root, AUDIT.study)
    return root


def with_receipts(root: Path, folder: Path, count: int) -> Path:
    """The same warehouse, in which so many commits are folded; their rows are the same."""
    copy = folder / f"{root.name}-{count}-receipts"
    if not copy.exists():
        shutil.copytree(root, copy, copy_function=os.link)
        own = list(receipts.read_kind(root, "units", AUDIT.study))
        compactions = {r.model_id: r for r in receipts.read_kind(root, COMPACTIONS, AUDIT.study)}
        folded = {model: dict(one.inputs) for model, one in compactions.items()}
        for number in range(count - len(own)):
            like = own[number % len(own)]
            key = f"{number:032x}"
            partition = {"study": like.study, "model_id": like.model_id or ""}
            paths = [layout.table_file(file.table, partition, key) for file in like.files]
            made = replace(
                like,
                key=key,
                units=tuple(f"{unit[:20]}{number:012x}" for unit in like.units),
                files=tuple(map(replace_path, like.files, paths)),
            )
            (copy / layout.receipt("units", like.study, key)).write_text(made.to_json())
            folded[like.model_id][made.name] = made.committed_at
        for model, one in compactions.items():
            path = copy / layout.receipt(one.kind, one.study, one.key)
            path.unlink()
            path.write_text(replace(one, inputs=folded[model]).to_json())
    return copy


def replace_path(file: receipts.CommittedFile, path: str) -> receipts.CommittedFile:
    """The same file at another place."""
    return replace(file, path=path)


def read(root: Path, sql: str) -> dict[str, Any]:
    """Seconds to open, seconds of the query to its last row, what it scans, and peak memory."""
    started = time.perf_counter()
    with connect(root, threads=CORES) as connection:
        opened, used = time.perf_counter(), time.process_time()
        connection.sql(f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM ({sql})").fetchall()
        asked, used = time.perf_counter() - opened, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "open_seconds": opened - started,
        "seconds": asked,
        "cpu_seconds": used,
        "peak_bytes": peak,
    }


def scanned(root: Path, sql: str) -> dict[str, int]:
    """Files and rows of trajectories and profiles that a question reads."""
    with connect(root, threads=CORES) as connection:
        plan = json.loads(
            connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()[0][1]
        )
    scans = [
        scan
        for scan in leaves(plan)
        if any(
            f"/tables/{table}/" in scan.get("extra_info", {}).get("Filename(s)", "")
            for table in ("profiles", "trajectories")
        )
    ]
    return {
        "files": sum(int(scan["extra_info"]["Total Files Read"]) for scan in scans),
        "rows": sum(scan["rows_scanned"] for scan in scans),
    }


def leaves(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Operators of a plan that read something."""
    below = [*node.get("children", ()), *node.get("operator", ())]
    if not below:
        yield node
    for one in below:
        yield from leaves(one)


def in_process(checkout: Path, *arguments: str) -> Any:
    """One measurement in a fresh process of the code of a checkout; None if it takes too long."""
    environment = os.environ | {"PYTHONPATH": f"{checkout}:{Path(__file__).parent}"}
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            env=environment,
            cwd=checkout,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        problem = getattr(error, "stderr", None) or str(error)
        print(f"{arguments}: {problem}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def best(rounds: list[dict[str, float] | None]) -> dict[str, float] | None:
    """Least of each figure over the rounds that ended."""
    ended = [one for one in rounds if one]
    return {name: min(one[name] for one in ended) for name in ended[0]} if ended else None


def main(folder: Path, results: Path, models: int, before: Path | None) -> None:
    """Measure every question, and opening with few and many receipts."""
    root = written(folder, models)
    commits = AUDIT.models * -(-AUDIT.foregrounds // SMALL_BLOCK)
    checkouts = {"now": Path(__file__).parents[1]} | ({"before": before} if before else {})
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "models_written": models,
        "questions": {},
        "opening": {},
    }

    def asked(root: Path, sql: str) -> dict[str, Any]:
        rounds = [
            (name, in_process(checkout, "read", str(root), sql))
            for _ in range(ROUNDS)
            for name, checkout in checkouts.items()
        ]
        return {name: best([one for of, one in rounds if of == name]) for name in checkouts}

    for name, sql in QUESTIONS.items():
        found["questions"][name] = asked(root, sql)
        for of, checkout in checkouts.items():
            if figures := found["questions"][name][of]:
                figures |= in_process(checkout, "scanned", str(root), sql) or {}
        results.write_text(json.dumps(found, indent=1) + "\n")
    for opened in (root, with_receipts(root, folder, commits)):
        count = len(receipts.keys(opened, "units", AUDIT.study))
        found["opening"][str(count)] = asked(opened, "SELECT 1")
    found["load_at_the_end"] = os.getloadavg()[0]
    results.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", root, sql]:
            print(json.dumps(read(Path(root), sql)))
        case ["scanned", root, sql]:
            print(json.dumps(scanned(Path(root), sql)))
        case [folder, results, *more] if len(more) <= 2:
            models, before = [*more, "8", ""][:2] if len(more) != 1 else [more[0], ""]
            main(Path(folder), Path(results), int(models), Path(before) if before else None)
        case _:
            sys.exit(__doc__)
