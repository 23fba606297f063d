"""Commands of docs/howto/: all are understood, and those that only ask a warehouse are run."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main
from ended_commands import succeeded
from typer.exceptions import TyperException

from flows.commands.app import app
from warehouse.query.catalog import connect, run_query

PAGES = sorted((Path(__file__).parents[2] / "docs" / "howto").glob("*.md"))
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page):
    lines = [line for block in BLOCK.findall(page.read_text()) for line in block.splitlines()]
    return [shlex.split(line) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_is_understood(page):
    for program, *words in commands(page):
        assert program == "decaf"
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            name, *words = words
            command = command.commands[name]
        command.make_context(name, words)  # raises for an option or argument that is not there


def test_an_option_that_is_not_there_would_be_seen():
    with pytest.raises(TyperException):
        typer.main.get_command(app).commands["run"].make_context("run", ["a.yaml", "--resume"])


@pytest.mark.parametrize("name", ["failing_pairs", "failed_gate", "query", "cost"])
def test_questions_are_answered(name, scenes, decaf):
    (page,) = (page for page in PAGES if page.stem == name)
    asked = [words for _, *words in commands(page) if words[0] in ("sql", "views", "export")]
    asked += [["sql", query] for query in re.findall(r'`decaf sql "([^"]+)"`', page.read_text())]
    assert asked
    with connect(scenes) as connection:
        for command, *words in asked:
            if command == "sql" and len(words) == 1:
                rows = run_query(connection, *words).to_pylist()
            else:
                succeeded(decaf(command, *words, DECAF_WAREHOUSE=str(scenes)))
    if name == "failing_pairs":
        assert "scene-0__wall_hue" in [row["pair_id"] for row in rows]


@pytest.mark.slow
def test_the_complete_gate_fails_as_its_page_says(decaf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (
        next(page for page in PAGES if page.stem == "gate").read_text().partition("complete ex")[2]
    )
    card, study = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    succeeded(decaf("init", "table_pairs", "loans"))
    version = Path("models/loans/1")
    version.mkdir(parents=True)
    Path("loans/applicants.csv").rename("applicants.csv")
    Path("loans/pipeline.skops").rename(version / "pipeline.skops")
    (version / "decaf.yaml").write_text(card)
    Path("nightly.yaml").write_text(study)
    ended = decaf("reaudit", "nightly.yaml")
    assert ended.returncode == 1
    assert "".join(shown.split()) in "".join(ended.stdout.split())
