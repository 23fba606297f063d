"""The command line in forks of one process that has imported the project already.

A short command spends most of its time on imports: torch, Prefect and Dask take seconds of a core.
Here they are paid once. Each command is a process of its own all the same, with its own arguments,
folder, environment, output and exit code. Tests of what a fresh interpreter does start one.

Run as a program, this file is the process that forks.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOMS = ("warehouse", "tasks", "flows")
ROOT = Path(__file__).parent.parent.parent
DECAF = Path(sys.executable).parent / "decaf"


class WarmCommand:
    """The process that forks; one command at a time."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "200"},
            start_new_session=True,  # so that a command that hangs is ended with all it started
        )
        self._answer(timeout=300)

    def run(self, arguments, folder, environment, timeout):
        """Run ``decaf`` with the arguments; what it printed goes through two files in ``folder``.

        Raises
        ------
        subprocess.TimeoutExpired
            When it does not end in ``timeout`` seconds; nothing can be run any more then.
        """
        shown = {name: folder / f".{name}" for name in ("stdout", "stderr")}
        asked = {"arguments": arguments, "folder": str(folder), "environment": environment}
        asked |= {name: str(path) for name, path in shown.items()}
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        code = int(self._answer(timeout))
        texts = [path.read_text() for path in shown.values()]
        for path in shown.values():
            path.unlink()
        return subprocess.CompletedProcess(["decaf", *arguments], code, *texts)

    def close(self):
        """End the process, and any command that is left."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._end()

    def _answer(self, timeout):
        clock = threading.Timer(timeout, self._end)
        clock.start()
        line = self._process.stdout.readline().strip()
        clock.cancel()
        if not line:
            raise subprocess.TimeoutExpired("decaf", timeout)
        return line

    def _end(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def serve():
    """Fork for every line of the input; answer with the exit code."""
    for room in map(importlib.import_module, ROOMS):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    gc.freeze()
    tell("ready")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(**json.loads(line))
            try:
                sys.modules["flows.commands.cli"].main()
            except SystemExit as stop:
                end(stop.code)
        _, status = os.waitpid(child, 0)
        tell(os.waitstatus_to_exitcode(status))


def tell(answer):
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def become(arguments, folder, environment, stdout, stderr):
    """Take on what a command has of its own."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate((os.devnull, stdout, stderr)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = [str(DECAF), *arguments]
    # Prefect has read its settings from the environment, with this project's defaults in it.
    importlib.reload(sys.modules["tasks"])
    sys.modules["prefect.context"].refresh_global_settings_context()


def end(code):
    """End as an interpreter does, but for freeing every object, which takes longer than that."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
