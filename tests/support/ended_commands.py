"""What a command said that has ended: its output, why it refused, and cells of its tables."""

import re


def succeeded(done):
    """The output of a command that did what it should."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(done, *words, code=2):
    """One message with all words and without a traceback, under the exit code; standard error."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    (start,) = [begin.start() for begin in re.finditer("^error: ", done.stderr, re.MULTILINE)]
    message = done.stderr[start:]
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
    return done.stderr


def cells(printed):
    """Cells of every row of the printed tables."""
    lines = printed.splitlines()
    return [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in lines]
