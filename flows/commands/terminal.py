"""The two streams that commands write to: results, and complaints."""

import sys

from tasks.terminal import Terminal

# Where nobody looks at a terminal, as in a pipe or a log, nothing is cut to fit one.
console = Terminal(width=None if sys.stdout.isatty() else 1000)
complaints = Terminal(stderr=True, style="red", soft_wrap=True)


def say(console: Terminal, text: str) -> None:
    """Print a text as it is: nothing in it is wrapped."""
    console.print(text, soft_wrap=True)


def complain(text: str) -> None:
    """Print a text in red on standard error, if there is one."""
    if text:
        complaints.print(text)


def warn(text: str) -> None:
    """Say what is amiss beside the results."""
    say(complaints, f"warning: {text}")
