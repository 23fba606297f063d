"""Redirect the output of workers of this machine to a file, away from the display."""

import os
import sys
from pathlib import Path

from distributed import Worker, WorkerPlugin

from decaf.errors import WriteFailed
from decaf.foundation.files import convert_os_errors


class Prints(WorkerPlugin):
    """Appends all output of a worker's process, from Python or libraries, to a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with convert_os_errors(WriteFailed, f"{file} cannot be written", "free some space"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"")

    def setup(self, worker: Worker) -> None:
        """Replace standard output and standard error of the process."""
        end = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(end, stream.fileno())
            stream.reconfigure(line_buffering=True)
        os.close(end)
