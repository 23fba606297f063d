"""Sections of the report below its verdict: selection, order, and which are unfolded.

A configuration may list their names. Each section is a template of its name in ``sections/``, which
begins with the words of its link, its heading, and whether it is folded if the study does not list
its sections.
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
    """True for the first folded section."""


def sections_of(
    chosen: Sequence[str] | None, empty: Collection[str], titles: Mapping[str, str]
) -> list[Section]:
    """Sections that a study chose, in its order, or all sections; without empty ones.

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
