"""Consoles that show text of others as it is: it colours nothing and moves no cursor."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from decaf.foundation.names import printable


class Terminal(Console):
    """A console that takes nothing for markup and shows control characters as their codes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments of what is printed; those that are no text are Rich's own."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                lines = (printable(line) for line in segment.text.split("\n"))
                yield segment._replace(text="\n".join(lines))
