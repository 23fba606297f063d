"""Make the documentation as a site that opens from a folder: ``python docs/make_site.py [FOLDER]``.

Pages link to each other and to files of the project as they lie in the repository, so the site has
them in the same places. Nothing is fetched, and a link that leads nowhere ends the build. Long
tables and lists are folded, and code on pages with much of it, so that a page can be scrolled.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = (
    "*.md",
    "CITATION.cff",
    "LICENSE",
    "prefect.yaml",
    "benchmarks",
    "configs",
    "docs",
    "examples",
)
"""What pages are made of or link to."""
MOST_ROWS, MOST_ITEMS = 12, 16
"""Rows of a table and items of a list that are shown without a click."""
MOST_TABLES = 20
"""Tables of a page from which it is a reference, whose tables are all folded."""
MOST_BLOCKS, MOST_LINES = 30, 9
"""Blocks of code of a page from which it is a reference, and lines of code that it shows then."""
PART = re.compile(r"<(table|ul)>(?:(?!<table>|<ul>).)*?</\1>", re.DOTALL)
"""A table or a list of the text (those of menus have classes), but no list of lists."""
CODE = re.compile(r'<div class="highlight"><pre>.*?</pre></div>', re.DOTALL)
HEADING, TAG = re.compile(r"<th[ >].*?</th>", re.DOTALL), re.compile(r"<[^>]+>")
BUILDER = Path(sys.executable).with_name("zensical")


def build(folder: Path) -> Path:
    """Make the site in ``folder``, which it replaces; returns its first page."""
    if folder.exists() and not (folder / "mkdocs.yml").exists():
        raise SystemExit(f"{folder} is there and is no site of ours; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for name in _files():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, pages / name)
    settings = (ROOT / "docs" / "site.yml").read_text()
    (folder / "mkdocs.yml").write_text(f"{settings}docs_dir: pages\nsite_dir: site\n")
    subprocess.run([BUILDER, "build", "--strict"], cwd=folder, check=True)
    for page in (folder / "site").rglob("*.html"):
        page.write_text(let_keys_scroll(fold_long_parts(page.read_text())))
    return folder / "site" / "index.html"


def fold_long_parts(html: str) -> str:
    """Fold tables of more than ``MOST_ROWS`` rows and lists of more than ``MOST_ITEMS`` items.

    On a page of more than ``MOST_TABLES`` tables, fold every table; on one of more than
    ``MOST_BLOCKS`` blocks of code, fold those of more than ``MOST_LINES`` lines.
    """
    most_rows = 0 if html.count("<table>") > MOST_TABLES else MOST_ROWS
    html = PART.sub(lambda part: _fold(part[1], part[0], most_rows), html)
    if len(CODE.findall(html)) > MOST_BLOCKS:
        html = CODE.sub(lambda block: _fold_code(block[0]), html)
    return html


def let_keys_scroll(html: str) -> str:
    """Let the focus reach code and tables, which scroll sideways on a telephone."""
    for element in ("<table>", "<pre>"):
        html = html.replace(element, f'{element[:-1]} tabindex="0">')
    return html


def _fold_code(block: str) -> str:
    count = TAG.sub("", block).strip("\n").count("\n") + 1
    return block if count <= MOST_LINES else _details(f"{count} lines", block)


def _details(words: str, part: str) -> str:
    return f'<details class="long"><summary>{words}</summary>\n{part}\n</details>'


def _fold(kind: str, part: str, most_rows: int) -> str:
    count = part.count("<li>") if kind == "ul" else part.count("<tr>") - 1
    if count <= (MOST_ITEMS if kind == "ul" else most_rows):
        return part
    words = f"{count} entries"
    if kind == "table":
        headings = [TAG.sub("", heading) for heading in HEADING.findall(part)]
        words = f"{count} rows: {', '.join(filter(None, headings))}"
    return _details(words, part)


def _files() -> list[str]:
    """Files of the project that are shown, by their paths in it."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SHOWN]
    found = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [name for name in found.stdout.split("\0") if name]


if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(*sys.argv[1:] or ['runs/site']))}\n")
