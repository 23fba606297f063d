"""Errors as they travel from a worker to the flow."""

import traceback

from decaf import errors
from decaf.errors import DecafError, ScoringFailed

LONGEST = 2000
"""Characters of a text that are kept."""
FRAMES = 6
"""Innermost frames that are kept."""


def plain_error(error: BaseException) -> DecafError:
    """An error as one of decaf's own classes, which holds nothing but text.

    What the user's code raises may not survive the trip, or end its listener: a RecursionError, an
    instance of a class that is not known there, SystemExit. Our own errors keep their class and
    text; of another, the text begins with its type. A note has the end of the traceback.
    """
    kind = next((kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__), None)
    text = _bounded(error)
    name = type(error).__name__
    plain = kind(text) if kind else ScoringFailed(f"{name}: {text}" if text else name)
    plain.add_note("".join(traceback.format_tb(error.__traceback__, limit=-FRAMES)))
    return plain


def _bounded(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as another:  # noqa: BLE001 - whatever a stranger's __str__ does
        return f"its text cannot be had ({type(another).__name__})"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
