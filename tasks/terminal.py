"""Streams for terminals and logs that write only text, even if names contain control codes."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from decaf.errors import WriteFailed
from decaf.foundation.names import printable

BROKEN_PIPE_EXIT_CODE = 128 + signal.SIGPIPE


class Terminal(Console):
    """A stream of text without markup: no name can set colours, the cursor or the title."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments to print, with codes in place of unprintable characters."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                lines = (printable(line) for line in segment.text.split("\n"))
                yield segment._replace(text="\n".join(lines))

    def print(self, *objects: Any, **options: Any) -> None:
        """Print with the error handling of :meth:`writing`."""
        with self.writing():
            super().print(*objects, **options)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write to the stream in this block.

        Raises WriteFailed if results cannot be written; ignores errors of progress output.
        """
        try:
            yield
        except BrokenPipeError:
            self.on_broken_pipe()
        except OSError as error:
            if not self.stderr:
                raise WriteFailed(f"standard output cannot be written: {error.strerror}") from error

    def on_broken_pipe(self) -> None:
        """Handle a broken pipe: discard further progress, or end a command that writes results.

        The exit code is that of SIGPIPE, as for other programs: 0 would mean that all results were
        written, and 1 is a failed gate.
        """
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)
        if not self.stderr:
            raise SystemExit(BROKEN_PIPE_EXIT_CODE)
