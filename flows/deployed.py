"""The flows that Prefect's workers run: those of ``prefect.yaml``, and that of schedules.

Prefect's page shows their docstrings, which describe the parameters.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from prefect import flow, get_run_logger
from prefect.exceptions import FailedRun
from prefect.states import State

from decaf.errors import DecafError, UnknownEntry
from decaf.foundation.yaml_source import Source
from decaf.plan.study import load_study
from flows.commands import reaudits, runs
from flows.commands.terminal import console
from flows.final_state import final_state
from tasks.progress import LOG, announce

END_SECONDS = 5.0
"""Time to report a cancelled run to the server; its process ends in any case."""


@flow
def audit(
    config: str | dict[str, Any],
    overrides: list[str] | dict[str, Any] | None = None,
    force: list[str] | None = None,
) -> State | None:
    """Compute the missing units of a study, like decaf run.

    Args:
        config: Path of the study's YAML file where the worker runs, or its content
        overrides: Other values of some keys, as ["batch_size=8"]
        force: Units to compute again although they have results, as score:blend
    """
    source, changed = _parse_source(config), overrides or ()
    return _end_with_state(lambda: runs.run(console, source, force or (), changed))


@flow
def reaudit(
    config: str | dict[str, Any],
    overrides: list[str] | dict[str, Any] | None = None,
    entries: list[str] | None = None,
) -> State | None:
    """Audit changed entries of a registry, judge them and send alerts, like decaf reaudit.

    Args:
        config: Path of the study's YAML file where the worker runs, or its content
        overrides: Other values of some keys, as ["gates.evidence.increase=0.05"]
        entries: Entries to audit, all by default, as decaf reaudit --entry
    """
    how = {"overrides": overrides or (), "only": entries or ()}
    source = _parse_source(config)
    return _end_with_state(
        lambda: reaudits.reaudit(console, source, is_plan=False, is_json=False, **how)
    )


@flow
def scheduled(config: str, entries: list[str] | None = None) -> State | None:
    """Run a scheduled study: decaf reaudit if it has a registry, else decaf run.

    Args:
        config: Path of the study's YAML file
        entries: Entries of the registry to audit, all by default
    """
    source = Path(config)

    def work() -> None:
        if load_study(source).registry is None:
            runs.run(console, source, ())
            return
        try:
            reaudits.reaudit(console, source, is_plan=False, is_json=False, only=entries or ())
        except UnknownEntry as unknown:  # a registry has more models than are followed
            announce(f"nothing to do: {unknown}")

    return _end_with_state(work)


def _parse_source(config: str | dict[str, Any]) -> Source:
    return Path(config) if isinstance(config, str) else config


def _end_with_state(work: Callable[[], None]) -> State | None:
    """Do the work; return None, or a failed state with the command's error message."""
    with _log_to_run():
        try:
            work()
        except DecafError as error:
            LOG.error("%s", error)
            logging.getLogger("prefect.flow_runs").addFilter(_is_news)
            return final_state(error)
        except BaseException as stop:
            if not isinstance(stop, Exception):  # cancelled: threads and workers are not waited for
                last = threading.Timer(END_SECONDS, _end)
                last.daemon = True
                last.start()
            raise
    return None


def _end() -> None:
    """End this process and its workers; the next run computes their uncommitted units again."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()
    os._exit(128 + signal.SIGTERM)


def _is_news(record: logging.LogRecord) -> bool:
    """False for the traceback of a failed state, whose message is already in the log."""
    return not (record.exc_info and record.exc_info[0] is FailedRun)


class _ToRun(logging.Handler):
    """Passes records on to the log of a run, from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._log = get_run_logger()

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("prefect"):  # Prefect logs its own records to the run
            self._log.log(record.levelno, "%s", record.getMessage())


@contextmanager
def _log_to_run() -> Iterator[None]:
    """Send announcements, and warnings of libraries and Dask's workers, to the run's log."""
    to_run, warned = _ToRun(), _ToRun()
    warned.setLevel(logging.WARNING)
    listening = ((LOG, to_run), (logging.getLogger(), warned))
    for log, handler in listening:
        log.addHandler(handler)
    try:
        yield
    finally:
        for log, handler in listening:
            log.removeHandler(handler)
