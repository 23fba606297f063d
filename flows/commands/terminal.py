"""The two streams that commands write to: results, and complaints."""

import sys

from rich.console import Console

# Where nobody looks at a terminal, as in a pipe or a log, nothing is cut to fit one.
console = Console(width=None if sys.stdout.isatty() else 1000, highlight=False)
complaints = Console(stderr=True, style="red", highlight=False, soft_wrap=True)


def say(console: Console, text: str) -> None:
    """Print a text as it is: nothing in it is wrapped, coloured or taken for markup."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Say what is amiss beside the results."""
    say(complaints, f"warning: {text}")
