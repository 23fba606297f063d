"""The command ``decaf``: hands over to the pipeline, or says why it cannot.

It stands beside the packages and imports none of them before it knows that they are ours.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

OURS = {"flows": "commands/cli.py", "tasks": "units/kinds.py", "warehouse": "commits/receipts.py"}
"""Packages of the pipeline, each with a file that no other package of its name has."""
MISUSED = 2


def check_packages(*names: str) -> None:
    """Look whether packages of these names are the pipeline's own; imports none.

    Raises ImportError, with the file that is found instead, where another project has taken a name,
    and ModuleNotFoundError where there is none.
    """
    for name in names:
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(
                f"decaf's pipeline is not installed (no package {name!r}): {_install_command()}",
                name=name,
            )
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        if not any((folder / OURS[name]).is_file() for folder in folders):
            raise ImportError(
                f"package {name!r} is {spec.origin or folders[0]}; expected that of decaf's "
                "pipeline: take that project off the path (PYTHONPATH, a .pth file), or give decaf "
                f"an environment of its own: {_install_command()}",
                name=name,
            )


def _install_command() -> str:
    from decaf.foundation.extras import install_command

    return install_command("pipeline")


def main() -> None:
    """Run a command of the pipeline; without it, say in one line what to install, exit code 2."""
    try:
        check_packages(*OURS)
    except ImportError as error:
        if sys.argv[1:] == ["--version"]:
            from decaf import __version__

            print(f"decaf {__version__}")  # noqa: T201 - nothing that prints otherwise is here
            return
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(MISUSED)
    from flows.commands.cli import main as command

    command()
