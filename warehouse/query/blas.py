"""Run BLAS with one thread inside SQL functions, which DuckDB calls in all its threads.

If each call used several BLAS threads, they would wait for cores that DuckDB's threads use, and a
query would have more threads than ``connect(threads=)`` allows.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def one_blas_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function so that BLAS uses one thread while it runs.

    The limit holds for the whole process. If several calls overlap, the first one sets the limit,
    and restores the old one when it ends.
    """

    @wraps(function)
    def call_with_one_thread(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return call_with_one_thread


@cache
def _controller() -> ThreadpoolController:
    """Controller of the libraries that this process has loaded; the search takes milliseconds."""
    return ThreadpoolController()
