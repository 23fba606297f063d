"""Entry point of every command: turns errors and signals into one message and one exit code.

Its handlers are set before other imports, so that Ctrl-C works from the first moment.
"""

import gc
import sys
from typing import Any

from flows import stopping

MISUSED, BROKEN = 2, 3
"""Exit codes of a wrong command line, and of a bug of decaf."""
COLLECTION_THRESHOLD = 100_000
"""Garbage-collection threshold: imports make many objects, and all of them stay."""


def main() -> None:
    """Run a command; turn every error into a message and an exit code.

    0 success; 1 a check found offending rows, or a gate or entry of a re-audit failed; 2 bad input;
    3 a failure; 128 plus the number of the signal that ended the command: 130 Ctrl-C, 143 SIGTERM,
    129 a closed terminal, 141 a broken pipe.
    """
    stopping.open_streams()
    stopping.heed_interrupts()
    gc.set_threshold(COLLECTION_THRESHOLD)
    try:
        from flows.commands.app import app

        code = app(standalone_mode=False) or 0
        if stopping.has_signal() or code == stopping.INTERRUPTED:  # Typer returns this code
            raise KeyboardInterrupt
    except BaseException as error:  # noqa: BLE001 - the one place where a command ends
        if "--debug" in sys.argv[1:] and isinstance(error, Exception):
            raise
        code = _report_end(error)
    stopping.end(code)


def _report_end(error: BaseException) -> int:
    """Print the error that ended the command; returns the exit code."""
    if stopping.has_signal() or isinstance(error, KeyboardInterrupt):
        stopping.say_stopped()
        return stopping.code()
    import typer
    from typer.exceptions import TyperException

    from decaf.errors import DecafError
    from flows.commands.terminal import complain
    from tasks.terminal import BROKEN_PIPE_EXIT_CODE

    # Typer ends with 1 after a broken pipe in its own output, such as a help text.
    if isinstance(error, SystemExit) and error.code in (BROKEN_PIPE_EXIT_CODE, 1):
        return BROKEN_PIPE_EXIT_CODE
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, typer.Abort):  # a question was not answered
        stopping.say_stopped()
        return stopping.INTERRUPTED
    if isinstance(error, TyperException):
        text = _suggest_choice(error.format_message())
        complain(f"error: {text}{_name_options(error)}\nSee: decaf --help" if text else "")
        return MISUSED
    if isinstance(error, DecafError):
        complain(f"error: {error}")
        return error.exit_code
    complain(
        f"error: {type(error).__name__}: {error}\nThis is a bug of decaf. Committed results are "
        "safe; for the traceback, put --debug before the command: decaf --debug …"
    )
    return BROKEN


def _name_options(error: Any) -> str:
    """Options of a command that takes no arguments, if it was given one; else empty."""
    context = getattr(error, "ctx", None)
    parameters = context.command.params if context else []
    is_argument_given = "unexpected extra argument" in error.format_message()
    if not is_argument_given or any(each.param_type_name == "argument" for each in parameters):
        return ""
    options = ", ".join(each.opts[0] for each in parameters)
    only = f", only options: {options}" if options else ""
    return f"; {context.command_path} takes no arguments{only}"


def _suggest_choice(text: str) -> str:
    """Replace Typer's list of choices in a message by the nearest choice."""
    import re

    from decaf.errors import suggestion

    match = re.search(r"(.*: )Value error, '(.*)' is not one of (.*)\.$", text, re.DOTALL)
    if match is None:
        return text
    where, value, choices = match.groups()
    names = re.findall("'([^']*)'", choices)
    return f"{where}{value!r} is not one of the choices{suggestion(value, names)}"


if __name__ == "__main__":
    main()
