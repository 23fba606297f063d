"""Run notebooks of ``examples/`` and pages of ``tutorials/``; store what they print and draw.

    python docs/make_notebooks.py                      # all, each in a process of its own
    python docs/make_notebooks.py tables.ipynb FOLDER  # one, in FOLDER, where its results go
    python docs/make_notebooks.py photos.md FOLDER     # a page, likewise

A line of a cell that begins with ``!`` is a command of the shell, as in Jupyter; what the last
expression of a cell gives is shown. Charts become SVG, in ``images/``, and warnings are errors. All
blocks of a page are run that are Python or commands; a block of text after one is its output.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
TUTORIALS = Path(__file__).parent / "tutorials"
PAGES = ("photos.md", "table.md")  # registry.md needs a server: its test makes what it shows
PICTURES = Path(__file__).parent / "images"
COMMAND = re.compile(r"^!(.*)$", re.MULTILINE)
BLOCK = re.compile(r"```(python|sh)\n(.*?)```(\n\n```text\n.*?```)?", re.DOTALL)
LINE = re.compile(r".*<<'END'\n(?s:.*?)\nEND\n|.+\n")
"""A command in a block of the shell, with the file that it writes if there is one."""


def executed(
    notebook: dict[str, Any], shell: Callable[[str], str]
) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Run the code cells in one namespace: each cell, what it printed, and its last value."""

    def command(line: str) -> None:
        sys.stdout.write(shell(line))

    names: dict[str, Any] = {"__name__": "__main__", "_shell": command}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse(COMMAND.sub(r"_shell(r'''\1''')", "".join(cell["source"])))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        value, printed = None, StringIO()
        with redirect_stdout(printed):
            exec(compile(tree, "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        yield cell, printed.getvalue(), value


def run(name: str, folder: Path, shell: Callable[[str], str]) -> None:
    """Run a notebook of ``examples/`` where we are; write it, with outputs, and its pictures."""
    notebook = json.loads((EXAMPLES / name).read_text())
    pictures = 0
    for number, (cell, printed, value) in enumerate(executed(notebook, shell), 1):
        outputs: list[dict[str, Any]] = []
        if printed:
            lines = printed.splitlines(keepends=True)
            outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
        if value is not None:
            shown = {"text/plain": repr(value).splitlines(keepends=True)}
            if hasattr(value, "_repr_mimebundle_"):  # a chart
                pictures += 1
                shown = {"image/svg+xml": _svg(value), "text/plain": [f"picture {pictures}"]}
                (folder / f"{Path(name).stem}-{pictures}.svg").write_text(shown["image/svg+xml"])
            elif hasattr(value, "_repr_html_"):
                shown = {"text/html": value._repr_html_().splitlines(keepends=True), **shown}
            outputs.append({"data": shown, "metadata": {}, "output_type": "display_data"})
        cell |= {"execution_count": number, "outputs": outputs}
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    (folder / name).write_text(f"{text}\n")


def run_page(name: str, folder: Path, shell: Callable[[str], str]) -> None:
    """Run the blocks of a page of ``tutorials/`` where we are; write it, with what they print."""

    def done(line: str) -> str:
        if line.startswith("cd "):
            os.chdir(line[3:].strip())
            return ""
        return shell(line)

    page = (TUTORIALS / name).read_text()
    blocks = list(BLOCK.finditer(page))
    cells = []
    for language, code in (block.group(1, 2) for block in blocks):
        lines = [f"_shell({line!r})\n" for line in LINE.findall(code)]
        cells.append({"cell_type": "code", "source": code if language == "python" else lines})
    parts, end = [], 0
    for block, (_, printed, _) in zip(blocks, executed({"cells": cells}, done), strict=True):
        parts.append(page[end : block.end(2)] + "```")
        if block[3]:
            text = "\n".join(line.rstrip() for line in printed.splitlines())
            parts.append(f"\n\n```text\n{text}\n```")
        end = block.end()
    (folder / name).write_text("".join(parts) + page[end:])


def _svg(chart: Any) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(chart.to_json())


def _shell(line: str) -> str:
    """What a command prints; the commands of this interpreter's environment come first."""
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": found, "COLUMNS": "100"}
    return subprocess.run(
        line, shell=True, env=variables, stdout=subprocess.PIPE, text=True, check=False
    ).stdout


def main() -> None:
    """Run one notebook here, or all of them, each in a fresh process and an empty folder."""
    if len(sys.argv) == 3:
        name, folder = sys.argv[1], Path(sys.argv[2])
        (run_page if name.endswith(".md") else run)(name, folder, _shell)
        return
    for path in [*sorted(EXAMPLES.glob("*.ipynb")), *(TUTORIALS / name for name in PAGES)]:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-W",
                "error",
                str(Path(__file__).resolve()),
                path.name,
                folder,
            ]
            subprocess.run(command, cwd=folder, check=True)
            path.write_text((Path(folder) / path.name).read_text())
            for picture in Path(folder).glob(f"{path.stem}-*.svg"):
                (PICTURES / picture.name).write_text(picture.read_text())


if __name__ == "__main__":
    main()
