"""Carry out ``decaf init``: copy a study of ``configs/init/`` under a new name."""

import re
import runpy
import shlex
import shutil
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from decaf.errors import BadInput, WriteFailed, suggestion
from decaf.foundation.files import convert_os_errors
from decaf.foundation.names import quote
from flows.commands.terminal import console, say

EXAMPLES = Path(__file__).parents[2] / "configs" / "init"
KINDS = ("image_pairs", "table_pairs", "image_features", "arrays", "registry")
KIND_OF_DATA = {
    "images": "image_pairs",
    "photos": "image_pairs",
    "table": "table_pairs",
    "parts": "image_features",
    "signals": "arrays",
    "models": "registry",
}
"""Kinds by words for the data that a user has."""
MARK = re.compile(r"# \(\d\) (.*)")
"""Comment of a line to change for other data; its text names the value to write."""
FIT = "fit.py"
"""File of an example that makes its table and its estimator."""
FITTED_WITH = "1.9.1"
"""Version of scikit-learn that saved the estimators of examples; another one fits them again."""


def parse_kind(word: str) -> str:
    """Check the name of a kind; raises BadInput with the kind that is meant."""
    if word not in KINDS:
        raise BadInput(
            f"unknown KIND {word!r}{suggestion(KIND_OF_DATA.get(word.lower(), word), KINDS)}"
        )
    return word


def init(
    kind: Annotated[
        str,
        typer.Argument(
            help="image_pairs, table_pairs, image_features, arrays or registry",
            metavar="KIND",
            parser=parse_kind,
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
