"""A step of a flow: a plain function as a task of Prefect."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.utilities.annotations import opaque

from tasks.progress import telling


def step(work: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Make a task of a function; ``return_state=True`` gives how it ended and raises nothing.

    Clients, plans and inputs are handed from step to step in one process, and receipts decide what
    is done already, so Prefect caches nothing, and does not search the arguments for futures. A
    step that shows nothing for long says that it is under way.
    """
    made = task(work, cache_policy=NO_CACHE, **options)

    @wraps(work)
    def call(*arguments: Any, return_state: bool = False) -> Any:
        with telling(f"the step '{made.name}'"):
            return made(*map(opaque, arguments), return_state=return_state)

    return call
