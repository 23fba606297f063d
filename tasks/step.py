"""Steps of a flow: plain functions, which are Prefect tasks inside a Prefect flow."""

import logging
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from decaf.errors import DecafError
from tasks.progress import announce_while_running


def is_in_flow() -> bool:
    """True inside a Prefect flow; does not import Prefect."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def step(work: Callable[..., Any], name: str = "", **options: Any) -> Callable[..., Any]:
    """Make a function a step; its name is that of the function by default.

    A step without output announces every 20 s that it still runs. In a Prefect flow it is a task
    with Prefect's ``options``; otherwise the function is called without importing Prefect.
    """
    name = name or work.__name__

    @wraps(work)
    def call(*arguments: Any) -> Any:
        with announce_while_running(f"the step '{name}'"):
            if not is_in_flow():
                return work(*arguments)
            return _run_as_task(work, arguments, name=name, **options)

    return call


def catch_error(call: Callable[..., Any], *arguments: Any) -> Exception | None:
    """Error of a step, or None if it succeeds; signals are raised."""
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001 - the caller decides whether the flow goes on
        return error
    return None


def _run_as_task(work: Callable[..., Any], arguments: tuple[Any, ...], **options: Any) -> Any:
    """Run a function as a task of the current flow.

    Steps pass clients, plans and inputs within one process, and receipts record finished work. So
    Prefect caches nothing and does not search the arguments for futures.
    """
    from prefect import task
    from prefect.cache_policies import NO_CACHE
    from prefect.utilities.annotations import opaque

    logging.getLogger("prefect.task_runs").addFilter(_has_no_expected_error)
    return task(work, cache_policy=NO_CACHE, **options)(*map(opaque, arguments))


def _has_no_expected_error(record: logging.LogRecord) -> bool:
    """False for the traceback of an error whose message the flow logs in one line."""
    return not (record.exc_info and isinstance(record.exc_info[1], DecafError))
