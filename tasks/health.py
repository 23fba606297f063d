"""Check the requirements and the speed of this machine for an audit, for `decaf doctor`."""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import decaf
from decaf.errors import DecafError, number_of
from decaf.foundation.extras import PACKAGES, install_command
from decaf.foundation.files import replace_file
from decaf.plan.cluster import (
    CudaWorkers,
    Demand,
    LocalWorkers,
    choose_cluster,
    describe_cluster,
)
from decaf.plan.study import Study
from tasks.machine import NVIDIA_DRIVER, free_memory, read_machine, usable_cores
from tasks.missing_inputs import check_inputs
from tasks.plan import plan_audit
from tasks.sizes import fill_cluster
from tasks.units.scope import Scope
from warehouse.commits import layout
from warehouse.commits.version import check_version
from warehouse.storage import Storage
from warehouse.storage.cache import cache_folder

SHOWN = ("numpy", "scipy", "torch", "pyarrow", "duckdb", "dask", "prefect")
GB = 10**9
LEAST_MEMORY, LITTLE_MEMORY = 1 * GB, 4 * GB
LEAST_ROOM, LITTLE_ROOM = 1 * GB, 10 * GB
TRIES, SLOW_FLUSH_SECONDS, SLOW_STORE_SECONDS = 5, 0.05, 1.0
ANSWER_SECONDS = 5
LARGE_STUDY = Demand(
    source_count=1_000_000, model_count=1, model_bytes=100 * 2**20, is_slow=True, uses_gpu=True
)
"""Demand of a network of 100 MB on many pairs."""


class Result(NamedTuple):
    """Result of one check."""

    level: Literal["ok", "warning", "problem"]
    subject: str
    found: str
    advice: str = ""


class Setup(NamedTuple):
    """Warehouse, workspace and study that the checks examine."""

    store: Storage
    workspace: Path
    study: Study | None
    tries_models: bool = False
    """True to load the models of the study."""


def examine(setup: Setup) -> Iterator[Result]:
    """Carry out every check; a check that raises an error is reported as a problem.

    Files that checks write to try a folder or a store are deleted.
    """
    for check in CHECKS:
        try:
            yield from check(setup)
        except (DecafError, OSError) as error:
            yield Result("problem", check.__name__, str(error))


def versions(setup: Setup) -> Iterable[Result]:
    """Versions of Python, decaf and the packages that determine results and speed."""
    packages = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    yield Result(
        "ok",
        "versions",
        f"decaf {decaf.__version__}, Python {platform.python_version()}, {packages}",
    )


def extras(setup: Setup) -> Iterable[Result]:
    """Installed and missing extras; a missing `cuda` is a warning if a GPU driver is installed."""
    for extra, modules in PACKAGES.items():
        absent = [name for name in modules if find_spec(name) is None]
        if not absent:
            yield Result("ok", f"extra {extra}", "installed")
            continue
        is_missed = extra == "cuda" and NVIDIA_DRIVER.exists()
        state, advice = f"without {', '.join(absent)}", install_command(extra)
        yield Result("warning" if is_missed else "ok", f"extra {extra}", state, advice)


def gpu(setup: Setup) -> Iterable[Result]:
    """GPUs that torch sees, or why it may see none."""
    import torch

    if count := torch.cuda.device_count() if torch.cuda.is_available() else 0:
        parts = [torch.cuda.get_device_properties(number) for number in range(count)]
        state = ", ".join(f"{part.name} ({part.total_memory / GB:.0f} GB)" for part in parts)
        yield Result("ok", "gpu", state)
        return
    study = setup.study
    is_asked_for = study and (study.device == "cuda" or isinstance(study.cluster, CudaWorkers))
    if NVIDIA_DRIVER.exists():
        state = f"a driver is installed, but torch {torch.__version__} sees no GPU"
        advice = "install a torch that is built for CUDA, or give this container its GPUs"
    else:
        state = "no GPU: networks are slow"
        advice = "tables and small networks need none; for large networks see 'cluster: kind: cuda'"
    yield Result("problem" if is_asked_for else "warning", "gpu", state, advice)


def processor(setup: Setup) -> Iterable[Result]:
    """Cores that this process may use."""
    cores = usable_cores()
    cluster = setup.study.cluster if setup.study else None
    if isinstance(cluster, LocalWorkers) and cluster.workers > cores:
        state = f"{cores:g} for {cluster.workers} workers: they wait for each other"
        yield Result("warning", "cores", state, "set 'cluster: workers:' to the number of cores")
    elif cores < 2:
        yield Result("warning", "cores", f"{cores:g}: workers and server share it", "use two")
    else:
        yield Result("ok", "cores", f"{cores:g}")


def workers(setup: Setup) -> Iterable[Result]:
    """Workers that a study without `cluster:` would get."""
    study = setup.study
    if study is None:
        cluster, reason = choose_cluster(read_machine(), LARGE_STUDY)
    elif study.cluster is None:
        study, reason = fill_cluster(study, study.pair_set())
        cluster = study.cluster
    else:
        cluster, reason = study.cluster, "set by the study"
    yield Result("ok", "workers", f"{describe_cluster(cluster)} ({reason})")


def memory(setup: Setup) -> Iterable[Result]:
    """Free memory of the machine or of this container, the smaller of both."""
    yield _judge_amount(
        free_memory(),
        (LEAST_MEMORY, LITTLE_MEMORY),
        "memory",
        "free",
        "a worker needs about 1 GB, plus its models",
    )


def disks(setup: Setup) -> Iterable[Result]:
    """Free space, access rights and speed of the folders that an audit writes to."""
    folders = {
        "workspace": setup.workspace.absolute(),
        "temporary folder": Path(tempfile.gettempdir()),
    }
    if setup.store.folder is not None:
        folders["warehouse folder"] = setup.store.folder
    for name, folder in folders.items():
        existing = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
        try:
            seconds = _seconds_to_flush(existing)
        except OSError as error:
            state = f"{existing} cannot be written: {error.strerror or error}"
            yield Result("problem", name, state, "choose another folder, or change permissions")
            continue
        free = shutil.disk_usage(existing).free
        yield _judge_amount(
            free, (LEAST_ROOM, LITTLE_ROOM), name, f"free in {existing}", "make room"
        )
        if seconds > SLOW_FLUSH_SECONDS:
            state = f"{seconds:.2f} s to put a small file on the disk: commits are slow"
            yield Result("warning", name, state, "use a local disk")


def caches(setup: Setup) -> Iterable[Result]:
    """Sizes of the caches that stay between runs."""
    import torch
    from huggingface_hub import constants

    hub, checkpoints = Path(constants.HF_HUB_CACHE), Path(torch.hub.get_dir()) / "checkpoints"
    for name, folder, pattern, what in (
        ("Hugging Face cache", hub, "models--*", "models"),
        ("torch cache", checkpoints, "*", "files of weights"),
        ("decaf cache", cache_folder(), "*", "entries"),
    ):
        size = sum(
            path.lstat().st_size
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        )
        count = len(list(folder.glob(pattern)))
        yield Result("ok", name, f"{count} {what}, {size / GB:.1f} GB in {folder}")


def warehouse(setup: Setup) -> Iterable[Result]:
    """Check that the warehouse can be reached and written, and that its version is known."""
    store, folder = setup.store, setup.store.folder
    if folder is not None and not folder.is_dir():
        yield Result("ok", "warehouse", f"{folder} does not exist yet; the first run makes it")
        return
    if store.exists(layout.FORMAT):
        check_version(store)
    started = time.perf_counter()
    store.prepare()
    seconds = time.perf_counter() - started
    level = "warning" if seconds > SLOW_STORE_SECONDS else "ok"
    advice = "" if level == "ok" else "every commit takes this long: use a closer store"
    yield Result(level, "warehouse", f"{store.address} is written in {seconds:.2f} s", advice)


def prefect(setup: Setup) -> Iterable[Result]:
    """Check that the Prefect server answers, if one is configured."""
    import httpx

    url = os.environ.get("PREFECT_API_URL")
    if not url:
        yield Result("ok", "prefect", "PREFECT_API_URL is not set: runs need no server")
        return
    try:
        httpx.get(f"{url}/health", timeout=ANSWER_SECONDS).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        state = f"no server answers at {url} ({error})"
        yield Result("problem", "prefect", state, "start it, or unset PREFECT_API_URL")
    else:
        yield Result("ok", "prefect", f"a server answers at {url}")


def study(setup: Setup) -> Iterable[Result]:
    """Check that the data, weights and packages of the configuration exist and can be used."""
    if setup.study is None:
        return
    pairs = setup.study.pair_set()
    remarks = check_inputs(Scope(setup.study, pairs), setup.study.models)
    yield from (Result("warning", "study", remark) for remark in remarks)
    if not remarks:
        yield Result("ok", "study", "data, weights and packages can be used")
    if setup.tries_models and setup.study.models:
        from tasks.trial import refuse_unusable

        count = len(refuse_unusable(plan_audit(setup.study, pairs)).models)
        yield Result("ok", "study", f"tried {number_of(count, 'model')}: the answers fit the score")


CHECKS: tuple[Callable[[Setup], Iterable[Result]], ...] = (
    *(versions, extras, gpu, processor, workers, memory, disks, caches, warehouse, prefect, study),
)


def _judge_amount(
    free: int, limits: tuple[int, int], subject: str, what: str, advice: str
) -> Result:
    least, little = limits
    level = "problem" if free < least else "warning" if free < little else "ok"
    return Result(level, subject, f"{free / GB:.1f} GB {what}", "" if level == "ok" else advice)


def _seconds_to_flush(folder: Path) -> float:
    """Mean seconds to write a small file, over a few files that are then deleted."""
    with tempfile.TemporaryDirectory(prefix="decaf-", dir=folder) as scratch:
        started = time.perf_counter()
        for number in range(TRIES):
            replace_file(Path(scratch) / str(number), lambda path: path.write_bytes(b"\n"))
        return (time.perf_counter() - started) / TRIES
