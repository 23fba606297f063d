"""Drive many Dask futures with a bounded window; each result is released after its callback."""

import errno
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from distributed import CancelledError, Client, Future, KilledWorker, as_completed
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError

from decaf.errors import (
    BadInput,
    DecafError,
    DiskRefuses,
    OrchestrationLost,
    ScoringFailed,
    WriteFailed,
)
from tasks.cluster.worker_deaths import note_work
from tasks.cluster.worker_errors import plain_error

WINDOW_PER_WORKER = 4
MOST_SHOWN = 5
FILE_ERRORS = {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG}
"""Errors that concern one file and do not prevent writing others."""
MOST_TASKS = 1 << 32
"""More tasks than any call has, so that priorities of different ranks do not overlap."""

Task = TypeVar("Task")
Result = TypeVar("Result")

_refused: dict[str, str] = {}
"""Write errors of this worker's disk, by client."""


def drive(
    client: Client,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    names: Sequence[str],
    on_done: Callable[[Result], Any],
    rank: int = 0,
    final_errors: tuple[type[DecafError], ...] = (DiskRefuses,),
) -> None:
    """Run ``work`` on every task with :func:`attempt`, and raise all failures as one error.

    Raises BadInput if tasks failed because of their input, and ScoringFailed if they failed for
    another reason; DiskRefuses if the disk refused a result, after which no task is started, and
    WriteFailed if only one file could not be written; OrchestrationLost if the connection to the
    scheduler is lost.
    """
    _raise(attempt(client, work, tasks, names, on_done, rank, final_errors), len(names))


def attempt(
    client: Client,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    names: Sequence[str],
    on_done: Callable[[Result], Any],
    rank: int = 0,
    final_errors: tuple[type[DecafError], ...] = (DiskRefuses,),
) -> dict[str, DecafError]:
    """Run ``work`` on every task in order, and call ``on_done`` with each result as it arrives.

    Takes tasks from the iterable as it sends them, a window at a time.

    Work must be idempotent: a task is repeated if its worker dies, unless the task caused that
    (:mod:`tasks.cluster.worker_deaths`). After a failed task, the others continue; after
    one of the ``final_errors``, no further task is started. After a write error of the disk, the
    worker starts no task in any call of this client.

    Each task has a unique name, which is in the key of its future and in messages. Among concurrent
    calls, tasks of a lower rank come first, so that a worker computes the tasks of one call in a
    row.

    Returns errors by the names of their tasks. Raises OrchestrationLost if the connection to the
    scheduler is lost.
    """
    waiting = zip(tasks, names, strict=True)
    window = WINDOW_PER_WORKER * max(len(client.nthreads()), 1)
    running = as_completed(loop=client.loop)
    names_by_key: dict[str, str] = {}
    failures: dict[str, DecafError] = {}

    def submit(count: int) -> None:
        for task, name in itertools.islice(waiting, count):
            priority = -(rank * MOST_TASKS + len(names_by_key))
            # The key has the client's id: two studies on one scheduler may have tasks of equal
            # names, and Dask runs a key once.
            key = _key(work, name, client)
            arguments = run_unless_refused, work, task, client.id, key
            future = client.submit(*arguments, key=key, priority=priority, pure=False)
            names_by_key[future.key] = name
            running.add(future)

    try:
        submit(window)
        for future in running:
            error = future.exception()
            if error is None:
                on_done(_fetch_result(future))
            else:
                error = failures[names_by_key[future.key]] = _as_decaf_error(error)
            future.release()
            if isinstance(error, final_errors):
                client.cancel(list(running.futures))
                break
            submit(1)
    except (CancelledError, ClosedClientError, CommClosedError) as error:
        raise OrchestrationLost(
            "the connection to the Dask scheduler is lost; committed results are safe: check that "
            "the scheduler and its workers run, and give the same command again"
        ) from error
    return failures


def _key(work: Callable[..., Any], name: str, client: Client) -> str:
    return f"{work.__name__}-{name}-{client.id}"


def run_unless_refused(work: Callable[[Task], Result], task: Task, client: str, key: str) -> Result:
    """Run a task on a worker, unless its disk has refused a result of this client.

    Before the client can cancel the remaining tasks, the worker would start the next one in vain.
    Raises DiskRefuses if the disk refused this result or an earlier one. Other errors, including
    those of the user's code, are raised as decaf's own.
    """
    if client in _refused:
        raise DiskRefuses(f"not started, since an earlier write failed: {_refused[client]}")
    try:
        with note_work(key):
            return work(task)
    except BaseException as error:  # noqa: BLE001 - a model may raise SystemExit
        failed = plain_error(error)
        is_refused = isinstance(error, WriteFailed) and (
            getattr(error.__cause__, "errno", None) not in FILE_ERRORS
        )
    if is_refused:
        _refused[client] = str(failed)
        raise DiskRefuses(str(failed))
    raise failed


def _fetch_result(future: Future) -> Any:
    """Fetch the result of a succeeded task from the scheduler."""
    try:
        return future.result()
    except OSError as error:
        raise CommClosedError(str(error)) from error


def _as_decaf_error(error: BaseException) -> DecafError:
    if isinstance(error, KilledWorker):
        return ScoringFailed(
            f"{error.allowed_failures + 1} worker processes died while computing it, the last one "
            f"{error.last_worker.address}: see the logs of the workers"
        )
    return error if isinstance(error, DecafError) else plain_error(error)


def _raise(failures: dict[str, DecafError], task_count: int) -> None:
    if not failures:
        return
    reasons = [f"{name}: {error}" for name, error in failures.items()]
    shown = "\n  ".join(reasons[:MOST_SHOWN])
    text = f"{len(failures)} of {task_count} tasks failed; other results are kept:\n  {shown}"
    errors = list(failures.values())
    error = common_error(errors, text)
    error.by_task = failures
    raise error from errors[-1 if isinstance(error, WriteFailed) else 0]


def common_error(errors: Sequence[BaseException], text: str) -> DecafError:
    """Combine errors into one with a given text, of their common class.

    If there is a write error, the result is a write error. Errors of different classes become
    BadInput if all are bad input, and ScoringFailed otherwise.
    """
    types = {type(error) for error in errors}
    for error_type in (DiskRefuses, WriteFailed):
        if error_type in types:
            return error_type(text)
    if len(types) == 1 and issubclass(error_type := types.pop(), DecafError):
        return error_type(text)
    if all(isinstance(error, BadInput) for error in errors):
        return BadInput(text)
    return ScoringFailed(text)
