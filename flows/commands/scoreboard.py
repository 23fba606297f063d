"""Compare every number of the paper with decaf's: tallies here, details on a page."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from flows.commands.terminal import say
from tasks.publish import publish_papers
from warehouse.report.paper.scoreboard import KINDS, VERDICTS, read_scoreboard, write_scoreboard
from warehouse.storage import Storage


def show_scoreboard(
    console: Console, folders: list[Path], store: Storage, targets: Sequence[Path | None]
) -> None:
    """Print the number of comparisons with each verdict, and write the pages in ``targets``.

    Reads the result pages in ``folders``; without folders, all studies of the warehouse.
    """
    with TemporaryDirectory(prefix="decaf-scoreboard-") as scratch:
        if not folders:
            publish_papers(store, Path(scratch))
        board = read_scoreboard(folders or [Path(scratch)])
        table = Table("", *KINDS.values(), "paper's data", "")
        for verdict, tally in board.tallies.items():
            table.add_row(verdict, *(str(number or "") for number in tally), VERDICTS[verdict])
        console.print(table)
        drawn = sum(panel.picture is not None for panel in board.panels)
        say(console, f"{len(board.rows)} numbers; {drawn} of {len(board.panels)} panels drawn")
        for target in filter(None, targets):
            say(console, f"page: {write_scoreboard(board, target, has_pages=bool(folders))}")
