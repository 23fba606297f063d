"""The command that shows a warehouse in the browser: ``decaf view``."""

from typing import Annotated

import typer

from flows.commands.options import DEFAULT_WAREHOUSE
from flows.commands.terminal import console


def view(
    warehouse: Annotated[
        str,
        typer.Argument(
            envvar="DECAF_WAREHOUSE",
            help="root of the warehouse: folder or URL",
            metavar="[WAREHOUSE]",
        ),
    ] = DEFAULT_WAREHOUSE,
    port: Annotated[int, typer.Option(min=1, max=65535, help="port on this machine")] = 8501,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="print the address, and open no browser")
    ] = False,
) -> None:
    """Show a warehouse in the browser, without SQL: studies, models, pairs and trajectories."""
    from flows.view.serving import serve_pages

    serve_pages(console, warehouse, port, opens_browser=not no_browser)
