"""The command line in forks of one process that has imported the project already.

A short command spends most of its time on imports: torch, Prefect and Dask take seconds of a core.
Here they are imported once. Each command is still a separate process with its own arguments,
folder, environment, output and exit code. Tests of a fresh interpreter start one themselves.

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
from uuid import uuid4

from psutil import STATUS_ZOMBIE, Process

ROOMS = ("warehouse", "tasks", "flows", "decaf.data", "decaf.scoring", "decaf.models.sources")
ROOMS += ("decaf.studies",)
USED_LATER = ("fastapi", "pandas", "prefect.flow_engine", "prefect.task_engine")
USED_LATER += ("prefect.utilities.visualization", "typer._adapters")
"""What a flow imports once it is under way."""
ROOT = Path(__file__).parent.parent.parent
DECAF = Path(sys.executable).parent / "decaf"
COMMAND_SECONDS = 1200
WIDE = {"COLUMNS": "300"}


class WarmCommand:
    """The process that forks."""

    def __init__(self, python=sys.executable):
        self._process = subprocess.Popen(
            [python, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | WIDE,
            start_new_session=True,  # so that a command that hangs is ended with all it started
        )
        self._answer(timeout=300)

    def start(self, arguments, folder, environment):
        """Start ``decaf`` with the arguments in a folder, with additional variables."""
        files = {name: folder / f".{uuid4().hex}" for name in ("stdout", "stderr")}
        variables = os.environ | WIDE | environment
        arguments = [*map(str, arguments)]
        order = {"arguments": arguments, "folder": str(folder), "environment": variables}
        order |= {name: str(path) for name, path in files.items()}
        return Command(self, arguments, self.ask(order, timeout=60), files)

    def ask(self, order, timeout):
        """Have the process do something; returns the number that it answers with.

        Raises
        ------
        subprocess.TimeoutExpired
            When it does not answer in ``timeout`` seconds; nothing can be run any more then.
        """
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        return int(self._answer(timeout))

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


class Command:
    """A command under way, with what tests use of :class:`subprocess.Popen`."""

    def __init__(self, warm, arguments, pid, files):
        self.pid, self.returncode = pid, None
        self._warm, self._arguments, self._files = warm, arguments, files

    def poll(self):
        """Exit code, or None while it runs."""
        if self.returncode is None and Process(self.pid).status() == STATUS_ZOMBIE:
            self.wait()
        return self.returncode

    def wait(self, timeout=COMMAND_SECONDS):
        """Wait for its end; returns the exit code."""
        if self.returncode is None:
            self.returncode = self._warm.ask({"wait_for": self.pid}, timeout)
        return self.returncode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def completed(self, timeout=COMMAND_SECONDS):
        """Wait for the end of the command; returns its exit code and output."""
        code = self.wait(timeout)
        texts = {name: path.read_text() for name, path in self._files.items()}
        for path in self._files.values():
            path.unlink()
        return subprocess.CompletedProcess(["decaf", *self._arguments], code, **texts)


def serve():
    """Fork for every command of the input and answer with its process, or wait for one."""
    for room in map(importlib.import_module, ROOMS):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    for name in USED_LATER:
        importlib.import_module(name)
    sys.modules["warehouse.query.views"].views()
    os.fsync = os.fstat  # as in conftest.py
    gc.freeze()
    tell("ready")
    for line in sys.stdin:
        order = json.loads(line)
        if "wait_for" in order:
            _, status = os.waitpid(order["wait_for"], 0)
            tell(os.waitstatus_to_exitcode(status))
            continue
        child = os.fork()
        if child == 0:
            become(**order)
            try:
                sys.modules["flows.commands.cli"].main()
            except SystemExit as stop:
                end(stop.code)
        tell(child)


def tell(answer):
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def become(arguments, folder, environment, stdout, stderr):
    """Turn this process into a command: set its folder, variables, streams and arguments."""
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
    if wanted := environment.get("SURROUNDINGS"):
        sys.path.append(str(Path(__file__).parent))
        importlib.import_module("surroundings").brought_about(wanted)


def end(code):
    """End as an interpreter does, but for freeing every object, which takes longer than that."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
