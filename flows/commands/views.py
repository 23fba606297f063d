"""List the views of a warehouse, or describe the columns of one view."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.terminal import say
from warehouse.query.catalog import connect_empty
from warehouse.query.descriptions import describe_view
from warehouse.query.views import MACRO
from warehouse.query.views import views as catalog_views

KINDS = ("core", "out", "paper", MACRO)
"""Kinds of views that are listed; views of other kinds only serve these."""


def list_views(console: Console) -> None:
    """Print the name, the meaning of a row and the purpose of each view."""
    table = Table()
    for name in ("view", "one row per", "purpose"):
        table.add_column(name, no_wrap=name == "view")
    for view in catalog_views():
        if view.kind in KINDS:
            grain = view.grain.removeprefix("one row per ")
            table.add_row(view.name, Text(grain), Text(view.purpose))
    console.print(table)


def show_view(console: Console, name: str) -> None:
    """Print header, columns with types, and a query to start from; needs no warehouse.

    Raises UnknownName when no view, macro or check has this name, with the nearest name.
    """
    with connect_empty() as connection:
        description = describe_view(connection, name)
    view = description.view
    console.print(Text.assemble((view.name, "bold"), f": {view.purpose}"), soft_wrap=True)
    lines = [view.grain, f"reads: {', '.join(view.inputs) or 'nothing'}", f"paper: {view.paper}"]
    for line in lines + [f"call: {signature}" for signature in description.signatures]:
        say(console, f"  {line}")
    if description.columns:
        table = Table("column", "type")
        for column, kind in description.columns:
            table.add_row(Text(column), Text(kind))
        console.print(table)
    if description.example:
        console.print(Text("For example:"))
        say(console, f'  decaf sql "{description.example}"')
