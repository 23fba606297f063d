"""Reading a report in a test: its text, its tables, its queries, and whether it is well formed."""

import re
from html.parser import HTMLParser

SECTIONS = ("header", "verdict", "trust", "profiles", "paths", "trajectories")
SECTIONS += ("epsilon", "reading", "made", "costs")
VOID = {"meta", "link", "br", "input", "img"}


class Reader(HTMLParser):
    """Text, tags and sections of a page; an unbalanced page is an error."""

    def __init__(self, text: str):
        super().__init__()
        self.page = text
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.queries: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag == "code" and "pre" in self._open:
            self.queries.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"style", "script"} & {*self._open}:
            return
        self.words.append(data)
        if self._open and self._open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        elif self._open[-2:] in (["th", "small"], ["td", "small"]):
            self.rows[-1][-1] += " " + data
        if self._open[-2:] == ["pre", "code"]:
            self.queries[-1] += data

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))
