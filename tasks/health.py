"""Whether this machine has what an audit needs, and what will be slow: what `decaf doctor` asks."""

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
from tasks.plan import missing_inputs, plan_audit
from tasks.sizes import fill_cluster
from tasks.units.scope import Scope
from warehouse.commits import layout
from warehouse.commits.migrations import check_version
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


class Finding(NamedTuple):
    """What one check found."""

    level: Literal["ok", "warning", "problem"]
    subject: str
    found: str
    advice: str = ""


class Asked(NamedTuple):
    """What the checks are about."""

    store: Storage
    workspace: Path
    study: Study | None
    tries_models: bool = False
    """Whether models of the study are loaded."""


def examine(asked: Asked) -> Iterator[Finding]:
    """Carry out every check; one that cannot be carried out is a problem, with its reason.

    Nothing is left behind: what is written to try a folder or a store is deleted.
    """
    for check in CHECKS:
        try:
            yield from check(asked)
        except (DecafError, OSError) as error:
            yield Finding("problem", check.__name__, str(error))


def versions(asked: Asked) -> Iterable[Finding]:
    """Python, decaf, and the packages that results and speed depend on."""
    packages = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    yield Finding(
        "ok",
        "versions",
        f"decaf {decaf.__version__}, Python {platform.python_version()}, {packages}",
    )


def extras(asked: Asked) -> Iterable[Finding]:
    """Which extras are installed; the one for GPUs is missed where there is a driver of one."""
    for extra, modules in PACKAGES.items():
        absent = [name for name in modules if find_spec(name) is None]
        if not absent:
            yield Finding("ok", f"extra {extra}", "installed")
            continue
        is_missed = extra == "cuda" and NVIDIA_DRIVER.exists()
        found, advice = f"without {', '.join(absent)}", install_command(extra)
        yield Finding("warning" if is_missed else "ok", f"extra {extra}", found, advice)


def gpu(asked: Asked) -> Iterable[Finding]:
    """GPUs that torch sees, or why it may see none."""
    import torch

    if count := torch.cuda.device_count() if torch.cuda.is_available() else 0:
        parts = [torch.cuda.get_device_properties(number) for number in range(count)]
        found = ", ".join(f"{part.name} ({part.total_memory / GB:.0f} GB)" for part in parts)
        yield Finding("ok", "gpu", found)
        return
    study = asked.study
    is_asked_for = study and (study.device == "cuda" or isinstance(study.cluster, CudaWorkers))
    if NVIDIA_DRIVER.exists():
        found = f"a driver is there, and torch {torch.__version__} sees no GPU"
        advice = "install a torch that is built for CUDA, or give this container its devices"
    else:
        found = "none: networks are slow"
        advice = "tables and small networks need none; for others see 'cluster: kind: cuda'"
    yield Finding("problem" if is_asked_for else "warning", "gpu", found, advice)


def processor(asked: Asked) -> Iterable[Finding]:
    """Cores that this process may use."""
    cores = usable_cores()
    cluster = asked.study.cluster if asked.study else None
    if isinstance(cluster, LocalWorkers) and cluster.workers > cores:
        found = f"{cores:g} for {cluster.workers} workers: they wait for each other"
        yield Finding("warning", "cores", found, "set 'cluster: workers:' to the number of cores")
    elif cores < 2:
        yield Finding("warning", "cores", f"{cores:g}: workers and server share it", "use two")
    else:
        yield Finding("ok", "cores", f"{cores:g}")


def workers(asked: Asked) -> Iterable[Finding]:
    """Workers that a study without `cluster:` would get."""
    study = asked.study
    if study is None:
        cluster, reason = choose_cluster(read_machine(), LARGE_STUDY)
    elif study.cluster is None:
        study, reason = fill_cluster(study, study.pair_set())
        cluster = study.cluster
    else:
        cluster, reason = study.cluster, "set by the study"
    yield Finding("ok", "workers", f"{describe_cluster(cluster)} ({reason})")


def memory(asked: Asked) -> Iterable[Finding]:
    """Memory that is left, to the machine or to this container, whichever has less."""
    yield _measured(
        free_memory(),
        (LEAST_MEMORY, LITTLE_MEMORY),
        "memory",
        "free",
        "a worker takes about 1 GB, and its models",
    )


def disks(asked: Asked) -> Iterable[Finding]:
    """Room, right to write and speed of the folders that an audit writes to."""
    folders = {
        "workspace": asked.workspace.absolute(),
        "temporary folder": Path(tempfile.gettempdir()),
    }
    if asked.store.folder is not None:
        folders["warehouse folder"] = asked.store.folder
    for name, folder in folders.items():
        there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
        try:
            seconds = _seconds_to_flush(there)
        except OSError as error:
            found = f"{there} cannot be written: {error.strerror or error}"
            yield Finding("problem", name, found, "choose another folder, or correct its rights")
            continue
        free = shutil.disk_usage(there).free
        yield _measured(free, (LEAST_ROOM, LITTLE_ROOM), name, f"free in {there}", "make room")
        if seconds > SLOW_FLUSH_SECONDS:
            found = f"{seconds:.2f} s to put a small file on the disk: commits are slow"
            yield Finding("warning", name, found, "use a local disk")


def caches(asked: Asked) -> Iterable[Finding]:
    """Weights and other things that are kept between runs."""
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
        yield Finding("ok", name, f"{count} {what}, {size / GB:.1f} GB in {folder}")


def warehouse(asked: Asked) -> Iterable[Finding]:
    """Whether the warehouse is reached, of a version that is known, and takes what is written."""
    store, folder = asked.store, asked.store.folder
    if folder is not None and not folder.is_dir():
        yield Finding("ok", "warehouse", f"{folder} is not there yet; the first run makes it")
        return
    if store.exists(layout.FORMAT):
        check_version(store)
    started = time.perf_counter()
    store.prepare()
    seconds = time.perf_counter() - started
    level = "warning" if seconds > SLOW_STORE_SECONDS else "ok"
    advice = "" if level == "ok" else "every commit waits so long: use a nearer store"
    yield Finding(level, "warehouse", f"{store.address} is written in {seconds:.2f} s", advice)


def prefect(asked: Asked) -> Iterable[Finding]:
    """The Prefect server that keeps runs."""
    import httpx

    url = os.environ.get("PREFECT_API_URL")
    if not url:
        yield Finding("ok", "prefect", "PREFECT_API_URL is not set: runs need no server")
        return
    try:
        httpx.get(f"{url}/health", timeout=ANSWER_SECONDS).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        found = f"no server answers at {url} ({error})"
        yield Finding("problem", "prefect", found, "start it, or unset PREFECT_API_URL")
    else:
        yield Finding("ok", "prefect", f"a server answers at {url}")


def study(asked: Asked) -> Iterable[Finding]:
    """Whether what the configuration names is there (data, weights, packages) and can be used."""
    if asked.study is None:
        return
    pairs = asked.study.pair_set()
    remarks = missing_inputs(Scope(asked.study, pairs), asked.study.models)
    yield from (Finding("warning", "study", remark) for remark in remarks)
    if not remarks:
        yield Finding("ok", "study", "data, weights and packages are there")
    if asked.tries_models and asked.study.models:
        from tasks.trial import refuse_unusable

        count = len(refuse_unusable(plan_audit(asked.study, pairs)).models)
        yield Finding(
            "ok", "study", f"tried {number_of(count, 'model')}: the answers fit the score"
        )


CHECKS: tuple[Callable[[Asked], Iterable[Finding]], ...] = (
    *(versions, extras, gpu, processor, workers, memory, disks, caches, warehouse, prefect, study),
)


def _measured(free: int, limits: tuple[int, int], subject: str, what: str, advice: str) -> Finding:
    least, little = limits
    level = "problem" if free < least else "warning" if free < little else "ok"
    return Finding(level, subject, f"{free / GB:.1f} GB {what}", "" if level == "ok" else advice)


def _seconds_to_flush(folder: Path) -> float:
    """Mean over a few files that are written and deleted."""
    with tempfile.TemporaryDirectory(prefix="decaf-", dir=folder) as made:
        started = time.perf_counter()
        for number in range(TRIES):
            replace_file(Path(made) / str(number), lambda path: path.write_bytes(b"\n"))
        return (time.perf_counter() - started) / TRIES
