"""Terminals and logs: what is written there is text, wherever its names come from."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from decaf.errors import WriteFailed
from decaf.foundation.names import printable

NOBODY_READS = 128 + signal.SIGPIPE


class Terminal(Console):
    """A stream of text without markup: no name makes colours, moves the cursor or sets a title."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments of something to print, with what cannot be printed as its codes."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                lines = (printable(line) for line in segment.text.split("\n"))
                yield segment._replace(text="\n".join(lines))

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, as :meth:`writing` has it."""
        with self.writing():
            super().print(*objects, **options)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write to the stream in this block.

        Raises WriteFailed when the disk refuses results; of progress, nothing is raised.
        """
        try:
            yield
        except BrokenPipeError:
            self.on_broken_pipe()
        except OSError as error:
            if not self.stderr:
                raise WriteFailed(f"standard output cannot be written: {error.strerror}") from error

    def on_broken_pipe(self) -> None:
        """Nobody reads any more: no failure of the work, which goes on if this is its progress.

        Results have nobody to go to: the command ends, with the code of SIGPIPE, which shells give
        any program here. 0 would say that they were given, and 1 is a failed gate.
        """
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)
        if not self.stderr:
            raise SystemExit(NOBODY_READS)
