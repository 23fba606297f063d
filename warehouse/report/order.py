"""Sections of the report below its verdict: which, in what order, and which are unfolded."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

TITLES = {
    "reading": ("How to read this", "How to read this"),
    "pairs": ("What it looks like", "What it looks like"),
    "profiles": ("Profiles", "Evidence, contradiction and fragility per model"),
    "breakdowns": ("Where it holds", "Where it holds"),
    "paths": ("Paths", "What the reveal path changes"),
    "trajectories": ("Trajectories", "When the response arises"),
    "epsilon": ("Gate", "What the gate ε decides"),
    "registry": ("Registry", "The registry and its versions"),
    "paper": ("Tables of the paper", "Tables of the paper"),
    "made": ("How it was made", "How it was made"),
    "costs": ("Costs", "Counts and costs"),
}
"""Words of the link to every section, and its heading; the sections in their usual order."""
FOLDED = ("paths", "trajectories", "epsilon", "made", "costs")
"""Unless a study chooses its sections."""


class Section(NamedTuple):
    """One section as the page shows it."""

    name: str
    link: str
    title: str
    is_open: bool


def sections_of(chosen: Sequence[str] | None, empty: Collection[str]) -> list[Section]:
    """Sections in the order that a study chose, or all of them; not those that are empty."""
    return [
        Section(name, *TITLES[name], bool(chosen) or name not in FOLDED)
        for name in chosen or TITLES
        if name not in empty
    ]
