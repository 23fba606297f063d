"""Sections of the report below its verdict: which, in what order, and which are unfolded.

Their names are those that a configuration may list, in their usual order; each is a template of
that name in ``sections/``, which begins with the words of its link, its heading, and whether it is
folded unless a study chooses its sections.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from decaf.plan import presentation

FOLDER = Path(__file__).parent / "sections"
HEADER = re.compile(r"\{#\nlink: (.+)\ntitle: (.+)\n(folded\n)?#\}")


class Section(NamedTuple):
    """One section as the page shows it."""

    name: str
    link: str
    title: str
    is_open: bool
    begins_details: bool
    """Whether it is the first of those that are folded at the end."""


def sections_of(
    chosen: Sequence[str] | None, empty: Collection[str], titles: Mapping[str, str]
) -> list[Section]:
    """Sections in the order that a study chose, or all of them; not those that are empty.

    ``titles`` are headings that state a finding, in place of those of the templates.
    """
    names = chosen or get_args(presentation.Section)
    shown = [_section(name, bool(chosen)) for name in names if name not in empty]
    shown = [section._replace(title=titles.get(section.name, section.title)) for section in shown]
    first = next((section for section in shown if not section.is_open), None)
    return [section._replace(begins_details=section is first) for section in shown]


def _section(name: str, is_chosen: bool) -> Section:
    text = (FOLDER / f"{name}.html.j2").read_text(encoding="utf-8")
    header = HEADER.match(text)
    if header is None:
        raise ValueError(f"sections/{name}.html.j2 does not begin with its link and title")
    link, title, folded = header.groups()
    return Section(name, link, title, is_chosen or not folded, False)
