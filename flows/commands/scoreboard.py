"""Every number of the paper beside ours: counted here, side by side on a page."""

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
    """Count the numbers with each verdict and write the pages that are asked for.

    They are of the result pages in the folders, or, without any, of all studies of the warehouse.
    """
    with TemporaryDirectory(prefix="decaf-scoreboard-") as made:
        if not folders:
            publish_papers(store, Path(made))
        board = read_scoreboard(folders or [Path(made)])
        table = Table("", *KINDS.values(), "paper's data", "")
        for verdict, tally in board.tallies.items():
            table.add_row(verdict, *(str(number or "") for number in tally), VERDICTS[verdict])
        console.print(table)
        drawn = sum(panel.picture is not None for panel in board.panels)
        say(console, f"{len(board.rows)} numbers; {drawn} of {len(board.panels)} panels drawn")
        for target in filter(None, targets):
            say(console, f"page: {write_scoreboard(board, target, has_pages=bool(folders))}")
