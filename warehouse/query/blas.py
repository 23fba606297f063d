"""BLAS with one thread, inside functions of SQL: DuckDB runs them in as many threads as it has.

With threads of its own in each of these, BLAS would wait for cores that DuckDB's other threads
take, and threads of a query would be more than ``connect(threads=)`` allows.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Given = ParamSpec("Given")
Result = TypeVar("Result")


def one_blas_thread(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, during which BLAS takes one thread; afterwards as many as before.

    That holds for the whole process. Of several such calls at a time the first one sets it, and
    sets it back when it ends.
    """

    @wraps(function)
    def limited(*given: Given.args, **named: Given.kwargs) -> Result:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*given, **named)

    return limited


@cache
def _controller() -> ThreadpoolController:
    """Of the libraries that this process has loaded; to find them takes milliseconds."""
    return ThreadpoolController()
