"""The way in and out of every command: whatever happens, one message and one exit code.

Before anything else is imported, so that Ctrl-C is heeded from the first moment.
"""

import gc
import sys

from flows import stopping

MISUSED, BROKEN = 2, 3
FEW_COLLECTIONS = 100_000
"""Objects between two looks for garbage: imports make many, and all of them stay."""


def main() -> None:
    """Run a command; turn every error into a message and an exit code.

    0 fine, 1 a check found offending rows, or a gate or entry of a re-audit failed, 2 what was
    given cannot be used, 3 something broke, 128 and its number where a signal ended the command:
    130 Ctrl-C, 143 SIGTERM, 129 the end of the terminal, 141 nobody reads its output any more.
    """
    stopping.open_streams()
    stopping.heed_interrupts()
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        from flows.commands.app import app

        code = app(standalone_mode=False) or 0
        if stopping.received() or code == stopping.INTERRUPTED:  # Typer makes a code of it
            raise KeyboardInterrupt
    except BaseException as error:  # noqa: BLE001 - the one place where a command ends
        if "--debug" in sys.argv[1:] and isinstance(error, Exception):
            raise
        code = _told(error)
    stopping.end(code)


def _told(error: BaseException) -> int:
    """Say what has ended the command; returns the exit code."""
    if stopping.received() or isinstance(error, KeyboardInterrupt):
        stopping.say_stopped()
        return stopping.code()
    import typer
    from typer.exceptions import TyperException

    from decaf.errors import DecafError
    from flows.commands.terminal import complain
    from tasks.terminal import NOBODY_READS

    # Typer ends with 1 where it finds that nobody reads its own output, such as a help text.
    if isinstance(error, SystemExit) and error.code in (NOBODY_READS, 1):
        return NOBODY_READS
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, typer.Abort):  # a question was not answered
        stopping.say_stopped()
        return stopping.INTERRUPTED
    if isinstance(error, TyperException):
        text = _with_choice(error.format_message())
        complain(f"error: {text}\nSee: decaf --help" if text else "")
        return MISUSED
    if isinstance(error, DecafError):
        complain(f"error: {error}")
        return error.exit_code
    complain(
        f"error: {type(error).__name__}: {error}\nThis was not foreseen. What is committed is "
        "safe; for the traceback, put --debug before the command: decaf --debug …"
    )
    return BROKEN


def _with_choice(text: str) -> str:
    """A refused argument or option, and which of its choices is meant, where it has choices."""
    import re

    from decaf.errors import suggestion

    found = re.search(r"(.*: )Value error, '(.*)' is not one of (.*)\.$", text, re.DOTALL)
    if found is None:
        return text
    where, given, choices = found.groups()
    known = re.findall("'([^']*)'", choices)
    return f"{where}{given!r} is not one of the choices{suggestion(given, known)}"


if __name__ == "__main__":
    main()
