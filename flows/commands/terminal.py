"""The two streams of commands: results on standard output, warnings on standard error."""

import sys

from tasks.terminal import Terminal

# In a pipe or a log, nothing is cut to fit a terminal.
console = Terminal(width=None if sys.stdout.isatty() else 1000)
complaints = Terminal(stderr=True, style="red", soft_wrap=True)


def say(console: Terminal, text: str) -> None:
    """Print a text without wrapping it."""
    console.print(text, soft_wrap=True)


def complain(text: str) -> None:
    """Print a text in red on standard error, if there is one."""
    if text:
        complaints.print(text)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(complaints, f"warning: {text}")
