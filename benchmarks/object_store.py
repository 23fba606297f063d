"""What a question gets of a warehouse on an object store: bytes, requests and seconds.

An audit of made-up models (``scale.py``: 1,524,000 trajectories each, compacted) lies on an
S3-compatible server on loopback. Each question is asked by a process with an empty cache (*cold*),
and by another with what the first one kept (*warm*); of another checkout, too, if one is given.
*Local* is the same question of the same warehouse in a folder.
Run: python benchmarks/object_store.py FOLDER RESULTS.json [MODELS [CHECKOUT_BEFORE]]; keeps FOLDER
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
from scale import AUDIT, CORES, written

ROOT = Path(__file__).parents[1]
OF_MODEL = f"WHERE study = '{AUDIT.study}' AND model_id = 'net_01'"
QUESTIONS = {
    "SELECT 1": "SELECT 1",
    "mean of one measure": f"SELECT path, avg(evidence) FROM core_profiles {OF_MODEL} GROUP BY 1",
    "core_trajectories, one pair": f"FROM core_trajectories {OF_MODEL} AND path = 'blend' "
    "AND pair_id = 'source-123456/same_rand'",
    "out_model_profiles": f"FROM out_model_profiles {OF_MODEL}",
    "out_model_profiles, all models": "FROM out_model_profiles",
}


def asked(root: str, sql: str) -> dict[str, Any]:
    """Ask in this process: seconds to open and to answer, and what was got of data files."""
    from warehouse.query.catalog import connect
    from warehouse.storage.object_store import ObjectStore

    got = {"bytes": 0, "requests": 0}

    def counted(name: str) -> None:
        plain = getattr(ObjectStore, name)

        def noted(store: ObjectStore, key: str, *place: int) -> bytes:
            content = plain(store, key, *place)
            if key.startswith("tables/"):
                got["bytes"] += len(content)
                got["requests"] += 1
            return content

        setattr(ObjectStore, name, noted)

    for name in ("read", "read_part"):
        if hasattr(ObjectStore, name):  # the code of before has no parts
            counted(name)
    began = time.perf_counter()
    with connect(root, threads=CORES) as connection:
        opened = time.perf_counter()
        connection.sql(f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM ({sql})").fetchall()
        answered = time.perf_counter()
    return {
        "open_seconds": round(opened - began, 2),
        "seconds": round(answered - opened, 2),
        **got,
    }


def in_process(checkout: Path, cache: str, root: str, sql: str) -> dict[str, Any]:
    """The same in a process of its own, of the code of a checkout."""
    environment = os.environ | {
        "PYTHONPATH": f"{checkout}:{Path(__file__).parent}",
        "DECAF_CACHE": cache,
    }
    command = [sys.executable, __file__, "ask", root, sql]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def main(folder: Path, results: Path, models: int, before: Path | None) -> None:
    """Put the audit on a server, ask every question, and print a table."""
    sys.path.append(str(ROOT / "tests" / "support"))
    from s3_server import BUCKET, CREDENTIALS, running

    from warehouse import storage

    os.environ |= CREDENTIALS
    local = written(folder, models)
    checkouts = {"now": ROOT} | ({"before": before} if before else {})
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "versions": {"python": platform.python_version(), "duckdb": duckdb.__version__}
        | {name: version(name) for name in ("pyarrow", "moto")},
        "models": models,
        "questions": {},
    }
    with running() as server:
        server.make_bucket(BUCKET)
        here, there = storage.open(local), storage.open(server.url("warehouse"))
        data = 0
        for entry in here.entries("", ("",)):
            content = here.read(entry.key)
            there.publish(entry.key, lambda file, content=content: file.write(content))
            data += len(content) * entry.key.startswith("tables/")
        found["bytes_of_data"] = data
        for name, sql in QUESTIONS.items():
            taken = found["questions"][name] = {}
            for of, checkout in checkouts.items():
                with tempfile.TemporaryDirectory() as cache:
                    in_process(checkout, cache, str(local), "SELECT 1")  # binds the views
                    taken[of] = {
                        state: in_process(checkout, cache, there.address, sql)
                        for state in ("cold", "warm")
                    } | {"local": in_process(checkout, cache, str(local), sql)}
            results.write_text(json.dumps(found, indent=1) + "\n")
            print(name, json.dumps(taken), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", root, sql]:
            print(json.dumps(asked(root, sql)))
        case [folder, results, *more] if len(more) <= 2:
            models, before = [*more, *["2", ""][len(more) :]]
            main(Path(folder), Path(results), int(models), Path(before) if before else None)
        case _:
            sys.exit(__doc__)
