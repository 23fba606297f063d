"""The two streams that commands write to: results, and complaints."""

import sys

from rich.console import Console

from tasks.terminal import Terminal

# Where nobody looks at a terminal, as in a pipe or a log, nothing is cut to fit one.
console = Terminal(width=None if sys.stdout.isatty() else 1000)
complaints = Terminal(stderr=True, style="red", soft_wrap=True)


def say(console: Console, text: str) -> None:
    """Print a text without wrapping its lines."""
    console.print(text, soft_wrap=True)


def warn(text: str) -> None:
    """Say what is amiss beside the results."""
    say(complaints, f"warning: {text}")
