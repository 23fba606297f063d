"""The library as its page and its examples show it: everything that is printed there is printed."""

import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import yaml
from printed_words import check_alike

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "docs" / "images"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
LIBRARY_PART = re.compile(r"## As a library\n.*?(?=\n## |\Z)", re.DOTALL)


def shown(text):
    """Runs the blocks of a page in order; yields each with what it should and does print."""
    names = {"__name__": "page"}
    for code, expected in BLOCK.findall(text):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "block", "exec"), names)
        yield code, expected, printed.getvalue()


def library_part(page):
    text = (ROOT / page).read_text()
    return LIBRARY_PART.search(text)[0] if page == "README.md" else text


@pytest.mark.parametrize(
    ("page", "least"), [("README.md", 1), ("docs/library.md", 10), ("docs/attributions.md", 1)]
)
def test_a_page_prints_what_it_says(page, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = list(shown(library_part(page)))
    assert len(blocks) >= least
    for code, expected, printed in blocks:
        assert printed == expected, code


NOTEBOOKS = {path.name for path in (ROOT / "examples").glob("*.ipynb")}


def outputs(path):
    """Texts that every code cell of a notebook shows; of a picture, those in it."""
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", []):
            shown = output.get("data", {"stdout": output.get("text")})
            for kind, text in shown.items():
                text = "".join(text)
                svg = re.findall(r"<text[^>]*>([^<]*)<", text)
                yield " ".join(svg) if kind == "image/svg+xml" else text


def check_notebook(name, folder):
    """Compare what a notebook showed in a folder with what is stored."""
    found, stored = list(outputs(folder / name)), list(outputs(ROOT / "examples" / name))
    assert len(stored) > 3
    check_alike(found, stored)
    pictures = {picture.name for picture in folder.glob("*.svg")}
    stem = name.removesuffix(".ipynb")
    assert pictures == {picture.name for picture in PICTURES.glob(f"{stem}-*.svg")} != set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NOTEBOOKS - {"registry.ipynb"}))
def test_a_notebook_shows_what_is_stored(name, tmp_path):
    run_python("docs/make_notebooks.py", name, tmp_path, cwd=tmp_path)
    check_notebook(name, tmp_path)


@pytest.mark.slow
def test_the_registry_notebook_shows_what_is_stored(
    decaf, prefect_server, workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def shell(line):
        command, *arguments = line.split()
        assert command == "decaf"
        study = tmp_path / "nightly.yaml"
        settings = yaml.safe_load(study.read_text())
        # No workers are started, and the server gets no events, as without one.
        settings |= {"cluster": workers, "alerts": {"events": False}}
        study.write_text(yaml.safe_dump(settings))
        return decaf(*arguments, **prefect_server, COLUMNS="100").stdout

    run = runpy.run_path(str(ROOT / "docs" / "make_notebooks.py"))["run"]
    run("registry.ipynb", tmp_path, shell)
    check_notebook("registry.ipynb", tmp_path)


@pytest.mark.slow
def test_the_example_of_a_black_box_runs_and_draws(tmp_path):
    printed = run_python("examples/black_box.py", tmp_path, cwd=tmp_path)
    for line in ("13 requests with 680 rows", "after another threshold still 13 requests"):
        assert line in printed
    charts = list(tmp_path.glob("*.html"))
    assert len(charts) >= 2
    for chart in charts:
        text = chart.read_text()
        assert "evidence" in text
        assert not re.search(r"<script[^>]* src=", text), "a chart must need no network"


def run_python(file, *arguments, cwd):
    """Run a file of the project in a fresh process, where warnings are errors; what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / file, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
