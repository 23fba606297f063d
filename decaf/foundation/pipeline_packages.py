"""Packages of the pipeline, which may not be installed, or hide behind others of their names."""

from importlib.util import find_spec
from pathlib import Path

PIPELINE = {
    "flows": "commands/cli.py",
    "tasks": "units/kinds.py",
    "warehouse": "commits/receipts.py",
}
"""Packages of the pipeline, each with a file that no other package of its name has."""


def check_packages(*names: str) -> None:
    """Check that packages of these names are the pipeline's own, without importing them.

    Raises ImportError, with the other file, if a package of another project has the name, and
    ModuleNotFoundError if there is no package.
    """
    for name in names:
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(
                f"decaf's pipeline is not installed (no package {name!r}): {_install_command()}",
                name=name,
            )
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        if not any((folder / PIPELINE[name]).is_file() for folder in folders):
            raise ImportError(
                f"package {name!r} is {spec.origin or folders[0]}; expected that of decaf's "
                "pipeline: take that project off the path (PYTHONPATH, a .pth file), or give decaf "
                f"an environment of its own: {_install_command()}",
                name=name,
            )


def _install_command() -> str:
    from decaf.foundation.extras import install_command  # every command imports this module

    return install_command("pipeline")
