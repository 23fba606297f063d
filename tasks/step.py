"""A step of a flow: a plain function, and a task where a flow of Prefect is under way."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from tasks.progress import telling


def is_in_flow() -> bool:
    """True if a flow of Prefect is under way; Prefect is not imported to find out."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def step(work: Callable[..., Any], name: str = "", **options: Any) -> Callable[..., Any]:
    """Name a function as a step, the name of the function by default.

    A step that shows nothing for long says that it is under way. In a flow of Prefect it is a task
    with Prefect's ``options``; otherwise the function is called, and Prefect is not imported.
    """
    name = name or work.__name__

    @wraps(work)
    def call(*arguments: Any) -> Any:
        with telling(f"the step '{name}'"):
            if not is_in_flow():
                return work(*arguments)
            return _run_as_task(work, arguments, name=name, **options)

    return call


def error_of(call: Callable[..., Any], *arguments: Any) -> Exception | None:
    """Error that a step ends with, None for a step that succeeds; signals are raised."""
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001 - the caller decides what becomes of the flow
        return error
    return None


def _run_as_task(work: Callable[..., Any], arguments: tuple[Any, ...], **options: Any) -> Any:
    """Run a function as a task of the flow that is under way.

    Clients, plans and inputs are handed from step to step in one process, and receipts decide what
    is done already, so Prefect caches nothing, and does not search the arguments for futures.
    """
    from prefect import task
    from prefect.cache_policies import NO_CACHE
    from prefect.utilities.annotations import opaque

    return task(work, cache_policy=NO_CACHE, **options)(*map(opaque, arguments))
