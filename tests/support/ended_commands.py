"""Check ended commands: their output, their error, and the cells of their tables."""

import re
import subprocess
import sys


def succeeded(done):
    """Assert exit code 0; returns standard output."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(done, *words, code=2):
    """Assert the exit code and one error with all words; returns standard error."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    (start,) = [begin.start() for begin in re.finditer("^error: ", done.stderr, re.MULTILINE)]
    message = done.stderr[start:]
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
    return done.stderr


def run_code(code, *arguments, **options):
    """Run code in a fresh interpreter to its end; the command as :func:`succeeded` takes it."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def cells(printed):
    """Cells of every row of the printed tables."""
    lines = printed.splitlines()
    return [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in lines]
