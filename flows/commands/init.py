"""Carry out ``decaf init``: copy a study of ``configs/init/`` under a new name."""

import re
import runpy
import shlex
import shutil
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from decaf.errors import BadInput, WriteFailed
from decaf.foundation.files import convert_os_errors
from decaf.foundation.names import quote
from flows.commands.terminal import console, say

EXAMPLES = Path(__file__).parents[2] / "configs" / "init"
MARK = re.compile(r"# \(\d\) (.*)")
"""Comment of a line to change for other data; its text names the value to write."""
FIT = "fit.py"
"""File of an example that makes its table and its estimator."""
FITTED_WITH = "1.9.1"
"""Version of scikit-learn that saved the estimators of examples; another one fits them again."""


def init(
    kind: Annotated[
        Literal["image_pairs", "table_pairs", "image_features", "arrays", "registry"],
        typer.Argument(
            help="image_pairs, table_pairs, image_features, arrays or registry", metavar="KIND"
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(help="new or empty folder; by default named after KIND", metavar="[FOLDER]"),
    ] = None,
) -> None:
    """Write a small study that runs as it is, and name the three places to change for your data."""
    folder = folder or Path(kind)
    if folder.exists() and not (folder.is_dir() and next(folder.iterdir(), None) is None):
        fault = "is not empty" if folder.is_dir() else "is not a folder"
        raise BadInput(f"{quote(str(folder))} {fault}; expected a new or an empty folder")
    name = re.sub(r"[^A-Za-z0-9]+", "-", folder.resolve().name)[:60].strip("-") or kind
    with convert_os_errors(
        WriteFailed, f"{quote(str(folder))} cannot be written", "choose another"
    ):
        lines = _copy(EXAMPLES / kind, folder, name)
    say(console, f"wrote {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    say(console, "To audit your own data, change these three places:")
    for number, line in enumerate(lines, 1):
        if mark := MARK.search(line):
            say(console, f"  {folder / 'study.yaml'}:{number}  {mark[1]}")
    say(console, "It runs as it is:")
    say(console, f"  cd {shlex.quote(str(folder))}")
    say(console, "  decaf data study.yaml")
    say(console, f"  decaf {'reaudit' if kind == 'registry' else 'run'} study.yaml")


def _copy(example: Path, folder: Path, name: str) -> list[str]:
    """Copy all files of an example or none, and rename its study; returns the study's lines."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as scratch:
        draft = Path(scratch)
        hidden = shutil.ignore_patterns("__pycache__")
        shutil.copytree(
            example, draft, ignore=hidden, copy_function=shutil.copyfile, dirs_exist_ok=True
        )
        text = (example / "study.yaml").read_text(encoding="utf-8")
        text = text.replace(f'study: "{example.name}"', f'study: "{name}"')
        (draft / "study.yaml").write_text(text, encoding="utf-8")
        if (draft / FIT).exists() and version("scikit-learn") != FITTED_WITH:
            with chdir(draft):
                runpy.run_path(FIT)
        for path in draft.iterdir():
            path.rename(folder / path.name)
    return text.splitlines()
