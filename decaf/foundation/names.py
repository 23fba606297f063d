"""Check names that come from data or from other people, and show any text safely.

A name goes unchanged into tables, reports, files for other programs and terminals. So it must not
move a cursor, turn the direction of writing, or end a line.
"""

from collections.abc import Mapping

LONGEST = 500
"""Most letters of a name."""


def fault_of(name: str) -> str:
    """Reason why a text cannot be a name, as the end of a sentence; empty if it can."""
    if not name or len(name) > LONGEST:
        return f"has {len(name):,} letters; expected 1 to {LONGEST}"
    if not name.isprintable():
        return "has letters that cannot be printed; expected none"
    return ""


def quote(name: str, most: int = 80) -> str:
    """Show any text in a message: printable, in quotes, with its length if it is cut."""
    cut = f"… ({len(name):,} letters)" if len(name) > most else ""
    return f"'{printable(name[:most])}'{cut}"


def shown_name(name: str, names: Mapping[str, str]) -> str:
    """Display name of a pair type or path: that in ``names``, else the name with spaces.

    Models without a display name are shown by their id: ``names.get(model_id, model_id)``.

    >>> shown_name("wall_hue", {"wall_hue": "wall colour"}), shown_name("wall_hue", {})
    ('wall colour', 'wall hue')
    """
    return names.get(name, name.replace("_", " "))


def metric_name(metric: str) -> str:
    """Name of a metric for people.

    >>> [metric_name(metric) for metric in ("abs_response", "endpoint_magnitude", "evidence_frac")]
    ['Abs', 'endpoint magnitude', 'evidence share']
    """
    words = metric.replace("abs_response", "Abs").replace("net_response", "Net")
    return words.replace("_frac", " share").replace("_", " ")


def printable(text: str) -> str:
    r"""Escape letters that control a terminal: ``\x1b`` instead of an escape."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
