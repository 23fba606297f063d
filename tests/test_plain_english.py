"""Names, docstrings and pages keep the rules of plain English in ``CONTRIBUTING.md``."""

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("decaf", "warehouse", "tasks", "flows", "benchmarks", "packaging")
"""Rooms whose names and docstrings keep all rules."""
HOOK = ROOT / ".githooks" / "commit-msg"

FIRST_WORDS = re.compile(r"(What|Of|Whether)\b")
NAMES = re.compile(
    r"_*(told|kept|made|taken|found|seen|heard|said|asked|left|sent|about|aside|beside"
    r"|meanwhile|followed|forced|unanswered|looked|gone|without)$"
)
"""Functions with these names say neither what they do nor what they return."""
LOCALS = re.compile(
    r"(found|given|asked|left|said|one|own|kept|told|made|taken|wanted|rest|others?|seen|known"
    r"|heard|there|following)$"
)
"""Locals with these names do not say what they hold."""
PHRASES = re.compile(
    r"\b(as ever|nothing but|in the hands of|taken? at its word|no longer there"
    r"|of its own accord|behind the back|it is said|does without|whether or not)\b"
)


def find_in_python(source):
    """``(line, text)`` of every name and docstring that breaks a rule."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            continue
        line = getattr(node, "lineno", 1)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if NAMES.match(node.name):
                yield line, node.name
            yield from {(name.lineno, name.id) for name in list_locals(node)}
        docstring = ast.get_docstring(node) or ""
        if FIRST_WORDS.match(docstring):
            yield line, docstring.splitlines()[0]
        yield from ((line, match.group()) for match in PHRASES.finditer(docstring))


def list_locals(function):
    """Assignments of a function to names that do not say what they hold, without its classes."""
    nodes = [*function.body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and LOCALS.match(node.id):
            yield node
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            nodes += ast.iter_child_nodes(node)


def find_in_page(text):
    """``(line, text)`` of every phrase in a page, outside its blocks of code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield from ((number, match.group()) for match in PHRASES.finditer(line))


def list_breaches(files, find):
    return [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in files
        for line, text in find(file.read_text())
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_in_plain_english(room):
    assert list_breaches(sorted((ROOT / room).rglob("*.py")), find_in_python) == []


def test_pages_are_in_plain_english():
    folders = [ROOT / "docs", *(ROOT / "docs" / name for name in ("howto", "studies", "tutorials"))]
    pages = [page for folder in folders for page in sorted(folder.glob("*.md"))]
    breaches = list_breaches([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages], find_in_page)
    assert breaches == []


def test_checker_finds_names_first_words_and_phrases():
    source = '''"""What a worker takes."""

def _told(rows):
    """Whether a row is there,
    in the hands of a worker.
    """

async def kept():
    """Rows of a unit, whether or not they are committed."""
    for one in range(3):
        found = [own for own in (one, 2)]

class Card:
    """Of a model."""
'''
    assert sorted(find_in_python(source)) == [
        (1, "What a worker takes."),
        (3, "Whether a row is there,"),
        (3, "_told"),
        (3, "in the hands of"),
        (8, "kept"),
        (8, "whether or not"),
        (10, "one"),
        (11, "found"),
        (11, "own"),
        (13, "Of a model."),
    ]


def test_checker_passes_nouns_verbs_and_whole_words():
    source = '''"""Offer rows of a worker."""

def kept_rows(told):
    """Whatever ends early is left out; whether it ends is logged."""

def seed(found):
    """Nothing."""
    class Finding:
        found: str

    return Finding(found=found)
'''
    assert list(find_in_python(source)) == []


def test_checker_skips_code_of_pages():
    page = "A run, as ever.\n```\nas ever\n```\nand nothing but rows\n"
    assert list(find_in_page(page)) == [(1, "as ever"), (5, "nothing but")]


def run_hook(tmp_path, message):
    file = tmp_path / "message"
    file.write_text(message)
    return subprocess.run([HOOK, file], stderr=subprocess.DEVNULL, check=False).returncode


@pytest.mark.parametrize(
    "message",
    [
        "tasks: load a card once",
        "docs: name the unit of every cost\n\nReaders took seconds for hours.\n",
        "# a comment of git\nsql: sort pairs by their id\n\n# On branch main\n",
        "fixup! sql: sort pairs by their id",
        f"sql: {'a' * 67}",
    ],
)
def test_hook_takes_an_area_and_an_imperative(tmp_path, message):
    assert os.access(HOOK, os.X_OK)
    assert run_hook(tmp_path, message) == 0


@pytest.mark.parametrize(
    "message",
    [
        "",
        "load a card once",
        "kitchen: load a card once",
        "tasks load a card once",
        "tasks:load a card once",
        "tasks: Load a card once",
        "tasks: a card that is loaded once",
        "tasks: load a card once.",
        f"sql: {'a' * 68}",
        "tasks: load a card once\nwhich saves memory",
    ],
)
def test_hook_refuses_other_messages(tmp_path, message):
    assert run_hook(tmp_path, message) == 1
