"""The library as its page and its examples show it: everything that is printed there is printed."""

import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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


EXAMPLES = {
    "images": ("wall_hue changed", "DECAF-9, mean evidence"),
    "tabular": ("logistic: 9", "with epsilon 0.1"),
    "black_box": ("8 requests with 680 rows", "after another threshold still 8 requests"),
}


def test_every_example_is_run():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_and_draws(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / f"{name}.py", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for line in EXAMPLES[name]:
        assert line in done.stdout
    charts = list(tmp_path.glob("*.html"))
    assert len(charts) >= 2
    for chart in charts:
        text = chart.read_text()
        assert "evidence" in text
        assert not re.search(r"<script[^>]* src=", text), "a chart must need no network"
