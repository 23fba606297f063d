"""Convert errors on a worker into errors that can be sent to the flow."""

import traceback

from decaf import errors
from decaf.errors import DecafError, ScoringFailed

LONGEST = 2000
"""Most characters of a text."""
FRAMES = 6
"""Number of innermost frames in the note."""


def plain_error(error: BaseException) -> DecafError:
    """Convert an error into one of decaf's own classes with only a text.

    Errors of the user's code may not survive pickling, or may end the receiver: a RecursionError,
    an instance of an unknown class, SystemExit. decaf's own errors keep their class and text; the
    text of other errors begins with their type. A note has the end of the traceback.
    """
    kind = next((kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__), None)
    text = _limit_text(error)
    name = type(error).__name__
    plain = kind(text) if kind else ScoringFailed(f"{name}: {text}" if text else name)
    plain.add_note("".join(traceback.format_tb(error.__traceback__, limit=-FRAMES)))
    return plain


def _limit_text(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as another:  # noqa: BLE001 - the user's __str__ may raise anything
        return f"its text cannot be read ({type(another).__name__})"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
