"""Stages and forward rows that `decaf plan` prints."""

import io

import pytest
from in_process import compute, planned
from small_studies import of_scenes, untrained

from decaf.plan.study import Study
from flows.commands.sizes import describe_paths, say_rows
from tasks.terminal import Terminal

PATHS = {"blend": {"kind": "blend", "sigma": 1.0}, "patch": {"kind": "patches", "side": 8}}


@pytest.fixture
def study_of(tmp_path):
    """Make a study of one network on four scenes."""
    models = [untrained(tmp_path, "net", 0)]
    place = {"warehouse": str(tmp_path / "warehouse")}

    def of(**changed):
        settings = {"sources": 4, "paths": PATHS, "stages": 5} | changed
        return Study.model_validate(of_scenes(tmp_path, models, **place, **settings))

    return of


def rows_left(study):
    """Words between the label and the count without shared states."""
    console = Terminal(file=io.StringIO(), width=1000)
    say_rows(console, planned(study))
    return console.file.getvalue().partition("model: ")[2].partition(",")[0]


def test_paths_with_other_stages_have_their_own_numbers(study_of):
    assert describe_paths(study_of()) == "blend, patch, 5 stages"
    own = {**PATHS, "patch": PATHS["patch"] | {"stages": 3}}
    assert describe_paths(study_of(paths=own)) == "blend (5 stages), patch (3 stages)"


def test_rows_that_are_stored_are_not_planned(study_of):
    count, word = rows_left(study_of()).split()
    assert word == "planned"
    compute(study_of())
    assert rows_left(study_of()) == f"none left of {count}"
    assert rows_left(study_of(stages=9)).startswith("at most ")
