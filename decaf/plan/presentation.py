"""How a study is shown; nothing here changes a number, or has anything computed again."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from decaf.foundation.settings import Settings


class Report(Settings):
    """The HTML page of a study."""

    page: Path | Literal[False] | None = Field(
        None, description="file of the page; `runs/<study>.html` when absent, `false` for none"
    )
    inputs: bool = Field(
        True,
        description="thumbnails of the strongest pairs are stored in the warehouse and shown; "
        "`false` for inputs that nobody else may see",
    )
    paper: bool = Field(False, description="show the tables of the paper too")
