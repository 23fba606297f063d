"""The command ``decaf``: hands over to the pipeline, or says why it cannot.

It stands beside the packages and imports none of the pipeline before it knows that they are ours.
"""

import sys

from decaf import __version__
from decaf.foundation.pipeline_packages import PIPELINE, check_packages

MISUSED = 2


def main() -> None:
    """Run a command of the pipeline; without it, say in one line what to install, exit code 2."""
    try:
        check_packages(*PIPELINE)
    except ImportError as error:
        if sys.argv[1:] == ["--version"]:
            print(f"decaf {__version__}")  # noqa: T201 - nothing that prints otherwise is here
            return
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(MISUSED)
    from flows.commands.cli import main as command

    command()
