"""Run one query in a separate process with a memory limit, which can be killed at any moment.

DuckDB limits its buffers. It does not limit single values, lists, or the Python objects of a row,
and some of its functions do not check for interrupts. The kernel enforces the limit of the process,
and Ctrl-C kills it.
"""

import ctypes
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

import duckdb

from decaf.errors import DecafError, QueryError
from warehouse.query.catalog import TOO_LARGE, connect
from warehouse.query.damage import describe_damage, list_unreadable_files, report_damage
from warehouse.query.scratch import scratch_folder
from warehouse.storage import Storage

GIGABYTE = 10**9
ADDRESSED = 2
"""Memory limit of a process as a multiple of DuckDB's limit; large sorts need 1.5."""
PR_SET_PDEATHSIG = 1

Result = TypeVar("Result")


def run_in_process(
    work: Callable[[duckdb.DuckDBPyConnection], Result],
    store: Storage,
    memory_gb: int,
    warn: Callable[[str], None],
    *,
    threads: int | None = None,
    folder: Path | None = None,
) -> Result:
    """Call a function with a connection to a warehouse, in a forked process.

    Raises what ``work`` and :func:`warehouse.query.catalog.connect` raise, and QueryError when the
    process dies or needs too much memory. Ctrl-C kills the process.

    Parameters
    ----------
    work
        Returns something that can be pickled.
    memory_gb
        Memory of DuckDB's buffers, in GB; the process may take twice as much.
    warn
        Callback for a warning about files that are left out; the forked process calls it.
    threads
        DuckDB's threads; by default one for each core.
    folder
        Folder that ``work`` writes files to; temporary files of a killed process are removed there.
    """
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)

    def serve(scratch: str) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        receiver.close()
        tempfile.tempdir = scratch
        _bound_memory(ADDRESSED * memory_gb * GIGABYTE)
        result = error = None
        try:
            connection = connect(store, memory_limit=f"{memory_gb}GB", threads=threads)
            if damage := list_unreadable_files(connection):
                warn(describe_damage(store, damage))
            with report_damage(store):
                result = work(connection)
            sys.stdout.flush()
        except MemoryError:
            error = QueryError(TOO_LARGE)
        # The asking process raises the error again. SystemExit reports a broken pipe.
        except (Exception, SystemExit) as raised:  # noqa: BLE001
            error = raised
            if not isinstance(error, DecafError):
                error.add_note(traceback.format_exc())
        sender.send((result, error))

    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
        Path(scratch).chmod(0o700)  # for any umask
        process = fork.Process(target=serve, args=(scratch,), daemon=True)
        process.start()
        sender.close()  # now the receiver gets EOFError when the process ends
        try:
            result, error = receiver.recv()
        except EOFError:
            process.join()
            raise QueryError(f"{TOO_LARGE} (it ended with {_name_end(process)})") from None
        finally:
            process.kill()
            process.join()
            receiver.close()
            for partial_file in folder.glob(f"*.{process.pid}.tmp*") if folder else ():
                partial_file.unlink(missing_ok=True)
    if error is not None:
        raise error
    return result


def _name_end(process: BaseProcess) -> str:
    """Name of the signal that ended a process, or its exit code."""
    code = process.exitcode
    return signal.Signals(-code).name if code < 0 else str(code)


def _bound_memory(byte_count: int) -> None:
    """Limit the writable memory of this process to its present size plus ``byte_count``."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + byte_count
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
