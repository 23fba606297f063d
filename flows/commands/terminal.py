"""The two streams of commands: results on standard output, warnings on standard error."""

import sys
import textwrap

from decaf.foundation.names import printable
from tasks.terminal import Terminal

COLUMNS = 80
"""Longest line of a sentence, characters."""

# In a pipe or a log, nothing is cut to fit a terminal.
console = Terminal(width=None if sys.stdout.isatty() else 1000)
complaints = Terminal(stderr=True, style="red", soft_wrap=True)


def say(console: Terminal, text: str) -> None:
    """Print a text without wrapping it."""
    console.print(text, soft_wrap=True)


def say_sentence(console: Terminal, text: str) -> None:
    """Print sentences in lines of at most 80 characters, the later ones indented.

    A longer word has its own line; no line begins with the percent sign of a number.
    """
    wrapped_text = textwrap.fill(
        printable(text).replace(" %", "\N{NO-BREAK SPACE}%"),
        COLUMNS,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    say(console, wrapped_text.replace("\N{NO-BREAK SPACE}", " "))


def complain(text: str) -> None:
    """Print a text in red on standard error, if there is one."""
    if text:
        complaints.print(text)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(complaints, f"warning: {text}")
