"""Drive many Dask futures with a bounded window; a result is dropped once it has been seen."""

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
SHOWN = 5
OF_ONE_PATH = {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG}
"""Why one file cannot be written where others can."""
MOST_ORDERS = 1 << 32
"""More than any call has: keeps calls of different ranks apart."""

Task = TypeVar("Task")
Result = TypeVar("Result")

_refused: dict[str, str] = {}
"""Clients for which this worker has met a disk that refuses, and what the disk said."""


def drive(
    client: Client,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    names: Sequence[str],
    on_done: Callable[[Result], Any],
    rank: int = 0,
    final: tuple[type[DecafError], ...] = (DiskRefuses,),
) -> None:
    """Run ``work`` on every task as :func:`attempt` does, and raise what failed as one error.

    Raises BadInput when tasks failed because of what was given, and ScoringFailed when they failed
    for another reason. Raises DiskRefuses when the disk refused a result, so that what is left has
    not been begun, and WriteFailed when a result could not be written for a reason that is its own.
    Raises OrchestrationLost when the scheduler is gone.
    """
    _raise(attempt(client, work, tasks, names, on_done, rank, final), len(names))


def attempt(
    client: Client,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    names: Sequence[str],
    on_done: Callable[[Result], Any],
    rank: int = 0,
    final: tuple[type[DecafError], ...] = (DiskRefuses,),
) -> dict[str, DecafError]:
    """Run ``work`` on every task, in their sequence, and hand over each result as it comes.

    Orders are taken as they are sent, a window of them at a time.

    Work must be idempotent: a task is run again when its worker dies, unless it is to blame
    (:mod:`tasks.cluster.worker_deaths`). A failing task does not stop the others, unless the disk
    refused its result, and would refuse theirs as well: no further task is begun then, and none at
    all by its worker, in whichever call of this client. No further task is begun after any other
    ``final`` error, either.

    Each task has one unique name: the key of its future, and what an error calls it. Of several
    calls at a time, tasks of a lower rank go first, so that a worker meets those of one call
    together.

    Returns what failed, by the name of the task. Raises OrchestrationLost when the scheduler is
    gone.
    """
    waiting = zip(tasks, names, strict=True)
    window = WINDOW_PER_WORKER * max(len(client.nthreads()), 1)
    running = as_completed(loop=client.loop)
    called: dict[str, str] = {}
    failures: dict[str, DecafError] = {}

    def submit(count: int) -> None:
        for task, name in itertools.islice(waiting, count):
            place = -(rank * MOST_ORDERS + len(called))
            # Of this client alone: two studies on one scheduler may have work of equal names,
            # and Dask would do the work of one key once.
            key = _key(work, name, client)
            call = run_unless_refused, work, task, client.id, key
            future = client.submit(*call, key=key, priority=place, pure=False)
            called[future.key] = name
            running.add(future)

    try:
        submit(window)
        for future in running:
            error = future.exception()
            if error is None:
                on_done(_fetch_result(future))
            else:
                error = failures[called[future.key]] = _as_decaf_error(error)
            future.release()
            if isinstance(error, final):
                client.cancel(list(running.futures))
                break
            submit(1)
    except (CancelledError, ClosedClientError, CommClosedError) as error:
        raise OrchestrationLost(
            "the connection to the Dask scheduler is lost; what is committed is safe: see that the "
            "scheduler and its workers run, and give the same command again"
        ) from error
    return failures


def _key(work: Callable[..., Any], name: str, client: Client) -> str:
    return f"{work.__name__}-{name}-{client.id}"


def run_unless_refused(work: Callable[[Task], Result], task: Task, client: str, key: str) -> Result:
    """What a worker does of a task: nothing, once the disk has refused it a result.

    The worker knows at once; until the client has heard of it, and taken back what it had sent, the
    worker would have begun the next task in vain. Raises DiskRefuses when the disk refused this
    result, or an earlier one of the client's on this worker, and no error but decaf's own, whatever
    the user's code raises.
    """
    if client in _refused:
        raise DiskRefuses(f"not begun, since an earlier result was refused: {_refused[client]}")
    try:
        with note_work(key):
            return work(task)
    except BaseException as error:  # noqa: BLE001 - a model may raise SystemExit
        failed = plain_error(error)
        is_refused = isinstance(error, WriteFailed) and (
            getattr(error.__cause__, "errno", None) not in OF_ONE_PATH
        )
    if is_refused:
        _refused[client] = str(failed)
        raise DiskRefuses(str(failed))
    raise failed


def _fetch_result(future: Future) -> Any:
    """Result of a task that has succeeded; the scheduler hands it over."""
    try:
        return future.result()
    except OSError as error:
        raise CommClosedError(str(error)) from error


def _as_decaf_error(error: BaseException) -> DecafError:
    if isinstance(error, KilledWorker):
        return ScoringFailed(
            f"{error.allowed_failures + 1} worker processes died while computing it, the last one "
            f"{error.last_worker.address}: look into the logs of the workers"
        )
    return error if isinstance(error, DecafError) else plain_error(error)


def _raise(failures: dict[str, DecafError], task_count: int) -> None:
    if not failures:
        return
    reasons = [f"{name}: {error}" for name, error in failures.items()]
    shown = "\n  ".join(reasons[:SHOWN])
    text = f"{len(failures)} of {task_count} tasks failed; what succeeded is kept:\n  {shown}"
    errors = list(failures.values())
    kind = common_error(errors, text)
    raise kind from errors[-1 if isinstance(kind, WriteFailed) else 0]


def common_error(errors: Sequence[BaseException], text: str) -> DecafError:
    """The error that stands for several, of the kind that they share.

    A disk's refusal comes before all else. Of different kinds, it is bad input where all are, and
    otherwise a failure of the work.
    """
    kinds = {type(error) for error in errors}
    for kind in (DiskRefuses, WriteFailed):
        if kind in kinds:
            return kind(text)
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), DecafError):
        return kind(text)
    if all(isinstance(error, BadInput) for error in errors):
        return BadInput(text)
    return ScoringFailed(text)
