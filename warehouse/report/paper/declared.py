"""The pictures that studies declare of their tables of the paper: ``sql/studies/*/figures.csv``.

A line names a view, a kind of picture and its caption. Kinds are ``methods`` and ``bins``
(:mod:`warehouse.report.paper.benchmark_figures`), ``bars``, ``orders``, ``shares`` and ``ratios``
(:mod:`warehouse.report.paper.protocol_figures`), ``lines``
(:mod:`warehouse.report.paper.curve_figures`), and ``scatter``, ``heat_map`` and ``stacked``
(:mod:`warehouse.report.paper.entry_figures`; the first two have modules of their own).
"""

import csv
from typing import NamedTuple

from warehouse.query.views import SQL_FOLDER
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.paper.tables import heading


class Figure(NamedTuple):
    """One picture of a table; fields that its kind does not need are empty."""

    view: str
    kind: str
    title: str
    axis: str
    """Title of the axis of values: the quantity and its unit."""
    panel: str
    """Column whose value determines a row's panel."""
    panels: dict[str, str]
    """Names of the panels by values of that column, in order; rows of other values are left out."""
    rows: dict[str, str]
    """Columns with their values, separated by commas: only rows with these values are drawn."""
    method: str
    """Column that identifies a point or a line; for entries, columns separated by commas."""
    reference: float | None
    """Value with a dashed line: the value for no change, or for an uninformative score.

    For ``lines`` it is the slope of a dashed line from the origin.
    """
    digits: str
    """Format of the values that are written."""
    x: str = ""
    """Column, or statistic, on the x axis of lines and entries, and its title: ``column=title``."""
    figure: str = ""
    """Figure of the paper, such as ``figure 7``; only needed if the table has several."""
    rho: str = ""
    """View with the rank correlations of a scatter, and values of its columns: ``view|a=b``.

    The value ``*`` is the statistic of a panel.
    """
    hollow: str = ""
    """Column of a scatter that is false for entries with hollow marks."""
    below: str = ""
    """Column of a heat map whose value is written below that of a cell."""

    @property
    def along(self) -> tuple[str, str]:
        """Column, or statistic, of ``x`` and its title."""
        name, _, title = self.x.partition("=")
        return name, title or heading(name)

    def panel_of(self, row: PaperRow) -> str:
        """Name of the panel of a row; empty if the picture has a single panel."""
        return self.panels[str(row.keys[self.panel])] if self.panel else ""

    def is_drawn(self, row: PaperRow) -> bool:
        """True if a row has the values of ``rows`` and belongs to a panel, if there are panels."""
        return (not self.panel or str(row.keys[self.panel]) in self.panels) and all(
            str(row.keys[column]) in values.split(",") for column, values in self.rows.items()
        )


def figures_of(paper: Paper, *kinds: str) -> list[tuple[Figure, PaperTable]]:
    """Declared pictures of these kinds whose table has rows of the study, in the order of files."""
    tables = {table.name: table for table in paper.tables}
    return [
        (figure, tables[figure.view])
        for figure in _read_figures()
        if figure.kind in kinds and figure.view in tables
    ]


def _read_figures() -> list[Figure]:
    figures = []
    for path in sorted(SQL_FOLDER.glob("studies/*/figures.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file, restval=""):
                pairs = {name: _pairs(line[name]) for name in ("panels", "rows")}
                reference = float(line["reference"]) if line["reference"] else None
                figures.append(Figure(**line | pairs | {"reference": reference}))
    return figures


def _pairs(cell: str) -> dict[str, str]:
    """Values by name of a cell such as ``a=first|b=second``; without a value, the name itself."""
    parts = (part.partition("=") for part in cell.split("|") if part)
    return {name: value or name for name, _, value in parts}
