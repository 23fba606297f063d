"""A connection in a process of its own, which has a bound of memory and can be ended at any moment.

DuckDB bounds what it buffers. A single value, a list, or what Python makes of a row is beyond that,
and so is a function that does not look whether it was interrupted. The kernel refuses the process
any memory above its bound, and ends it when somebody presses Ctrl-C.
"""

import ctypes
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb

from decaf.errors import DecafError, QueryError
from warehouse.query.catalog import TOO_LARGE, connect
from warehouse.query.damage import described, left_out, naming_damage
from warehouse.query.scratch import scratch_folder
from warehouse.storage import Root

GIGABYTE = 10**9
ADDRESSED = 2
"""Bytes that a process may have for each that DuckDB may buffer; large sorts have 1.5."""
PR_SET_PDEATHSIG = 1
BROKEN = (duckdb.FatalException, duckdb.InternalException, MemoryError)
"""What leaves a connection in no state to answer anything else."""

Answer = Callable[[duckdb.DuckDBPyConnection, Any], Any]


class QueryProcess:
    """A process with a connection to a warehouse, which answers questions.

    The process is forked when something is asked, and again after it has ended: after Ctrl-C, and
    when it came to its bound. So a warehouse is opened again then, as it is at that moment.

    Parameters
    ----------
    answer
        What the other process does with its connection and a question. Questions, answers and
        errors are pickled.
    memory_gb
        What DuckDB may buffer, in GB; the process may take twice as much.
    tell
        Is given what the connection does without, in words, by the other process.
    threads
        DuckDB's threads; all cores if it is not given.
    folder
        Where answers are written to: temporary files there go with a process that was ended.
    """

    def __init__(
        self,
        root: Root,
        answer: Answer,
        memory_gb: int,
        tell: Callable[[str], None],
        *,
        threads: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self._root, self._answer, self._folder = root, answer, folder
        self._memory_gb, self._tell, self._threads = memory_gb, tell, threads
        self._process = None

    def __enter__(self) -> "QueryProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, question: object = None) -> Any:
        """The answer to a question.

        Raises what ``answer`` and :func:`warehouse.query.catalog.connect` raise; QueryError when
        the process ends instead of answering; KeyboardInterrupt after the process was ended.
        """
        try:
            if self._process is None:
                self._start()
            self._pipe.send(question)
            answer, error, is_last = self._pipe.recv()
        except EOFError:
            raise QueryError(f"{TOO_LARGE} ({self._ended()})") from None
        except BaseException:
            self.close()
            raise
        if is_last:
            self.close()
        if error is not None:
            raise error
        return answer

    def close(self) -> None:
        """End the process, whatever it is doing, and remove what it leaves."""
        if self._process is not None:
            self._process.kill()
            self._ended()

    def _start(self) -> None:
        fork = get_context("fork")
        self._scratch = tempfile.TemporaryDirectory(dir=scratch_folder())
        Path(self._scratch.name).chmod(0o700)  # whatever the umask says
        self._pipe, other = fork.Pipe()
        self._process = fork.Process(target=self._serve, args=(self._pipe, other), daemon=True)
        self._process.start()
        other.close()

    def _ended(self) -> str:
        """How the process has ended; its files are removed."""
        process, self._process = self._process, None
        process.join()
        self._pipe.close()
        self._scratch.cleanup()
        for left in self._folder.glob(f"*.{process.pid}.tmp*") if self._folder else ():
            left.unlink(missing_ok=True)
        code = process.exitcode
        return f"it ended with {signal.Signals(-code).name if code < 0 else code}"

    def _serve(self, asking: Connection, pipe: Connection) -> None:
        """Answer until nobody asks any more; nothing outlives the process that asks."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        asking.close()
        tempfile.tempdir = self._scratch.name
        _bound(ADDRESSED * self._memory_gb * GIGABYTE)
        connection, is_last = None, False
        while not is_last:
            try:
                question = pipe.recv()
            except EOFError:
                return
            answer = error = None
            try:
                if connection is None:
                    limit = f"{self._memory_gb}GB"
                    connection = connect(self._root, memory_limit=limit, threads=self._threads)
                    if damage := left_out(connection):
                        self._tell(described(self._root, damage))
                with naming_damage(self._root):
                    answer = self._answer(connection, question)
                sys.stdout.flush()
            # What is raised here is raised again where it was asked; SystemExit says that nobody
            # reads the output any more.
            except (Exception, SystemExit) as raised:  # noqa: BLE001
                is_broken = any(isinstance(one, BROKEN) for one in (raised, raised.__cause__))
                is_last = is_broken or connection is None
                error = QueryError(TOO_LARGE) if isinstance(raised, MemoryError) else raised
                if not isinstance(error, DecafError):
                    error.add_note(traceback.format_exc())
            pipe.send((answer, error, is_last))


def _bound(byte_count: int) -> None:
    """Let this process have so many more bytes of memory that it can write to."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + byte_count
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
