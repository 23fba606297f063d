"""Display names of models, pair types and paths in what commands print."""

import in_process
import pytest
from small_studies import of_scenes, untrained

from decaf.foundation.number_text import score_text
from decaf.plan.study import load_study
from flows.commands import display
from tasks.compute import compute_model
from tasks.estimate import Remaining, estimate_of
from tasks.terminal import Terminal
from tasks.units.run_task import TaskSummary
from warehouse import storage
from warehouse.commits.writer import open_root
from warehouse.query.damage import connect_whole
from warehouse.report.audit.facts import read_printed

NAMES = {"tiny_cnn": "Tiny network", "wall_hue": "wall colour"}


@pytest.fixture
def study(tmp_path, write):
    return load_study(write(of_scenes(tmp_path, [untrained(tmp_path, "tiny_cnn")], names=NAMES)))


def test_results_and_status_have_display_names(study, capsys):
    in_process.compute(study)
    store = storage.open(study.warehouse)
    with connect_whole(store, study.study) as connection:
        facts = read_printed(connection, study.study)
    display.print_results(Terminal(width=80), store, study, facts)
    results = capsys.readouterr().out
    assert "wall colour, blend" in results
    heading, row = (
        next(line for line in results.splitlines() if line.startswith(start)).split(start[0])
        for start in ("┃ model", "│ Tiny")
    )
    place = [cell.strip() for cell in heading].index("M")
    assert row[place].strip() == score_text(facts.profiles[0].endpoint_magnitude)
    display.print_status(Terminal(width=80), store, None)
    for shown in (results, capsys.readouterr().out):
        assert "Tiny network" in shown
        assert "tiny_cnn" not in shown


def test_progress_has_display_names(study, monkeypatch):
    open_root(study.warehouse)
    plan = in_process.planned(study)
    shown = []

    def finish_all(client, work, tasks, labels, on_done, *_):
        for label in labels:
            on_done(TaskSummary(label, 1, 0))

    class Labels:
        def advance(self, label, rows, count=1):
            shown.append(label)

    monkeypatch.setattr("tasks.compute.drive", finish_all)
    remaining = Remaining(estimate_of(plan.store, study), plan.work.pending)
    groups = plan.work.by_model["tiny_cnn"]
    compute_model(
        None, plan, "tiny_cnn", 0, groups, in_process.NO_INPUTS, None, Labels(), remaining
    )
    assert {*shown} == {"Tiny network, block 1"}
