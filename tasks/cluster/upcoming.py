"""Which work a worker does next: it holds that before it has done what it is at."""

from collections.abc import Callable
from typing import Any

from distributed import Worker, WorkerPlugin


class Upcoming(WorkerPlugin):
    """Tells, whenever that changes, what :func:`drive` has given to a worker to do next, or None.

    A worker of several threads has no next work.
    """

    name = "decaf-upcoming"
    idempotent = True
    """A worker that has it keeps it, however many runs ask for it."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self.tell = tell

    def setup(self, worker: Worker) -> None:
        """Remember the worker."""
        self.worker = worker

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Look at what the worker holds when work has come, or has been begun."""
        state = self.worker.state
        if finish in ("ready", "executing") and state.nthreads == 1 and state.executing:
            self.tell(order_of(state.ready.peek().run_spec) if state.ready else None)


def order_of(task: Any) -> object:
    """The order in a call of :func:`tasks.cluster.drive.unless_refused`; None of another task."""
    given = getattr(task, "args", ())
    return given[1] if len(given) == 4 else None
