"""One query in a process of its own, which has a bound of memory and can be ended at any moment.

DuckDB bounds what it buffers. It does not bound a single value, a list, or the Python objects of a
row, and some of its functions do not look for interrupts. The kernel refuses the process memory
above its bound, and Ctrl-C kills the process.
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
from warehouse.query.damage import described, left_out, naming_damage
from warehouse.query.scratch import scratch_folder
from warehouse.storage import Storage

GIGABYTE = 10**9
ADDRESSED = 2
"""Bytes that a process may have for each that DuckDB may buffer; large sorts have 1.5."""
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
        DuckDB's threads; all cores if it is not given.
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
            if damage := left_out(connection):
                warn(described(store, damage))
            with naming_damage(store):
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
        Path(scratch).chmod(0o700)  # whatever the umask says
        process = fork.Process(target=serve, args=(scratch,), daemon=True)
        process.start()
        sender.close()  # the end of the process now ends what the receiver waits for
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
    """Let this process have so many more bytes of memory that it can write to."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + byte_count
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
