"""``decaf history``: versions of a registry, the gates that they failed, and their means."""

from datetime import UTC, datetime

import in_process
import pytest
from registry_folder import put
from registry_rounds import recorded

from flows.commands.history import list_first_failures, print_history
from tasks.manifest import commit_outcome
from tasks.reaudit.plan import discover
from tasks.reaudit.standing import accept
from tasks.reaudit.write_back import answers, version_results
from tasks.stops import commit_stops
from tasks.terminal import Terminal

M = {"metric": "endpoint_magnitude", "pair_type": "wall_hue", "path": "blend"}
FOUND = {"found": 0.4321, "lower_limit": 0.4, "upper_limit": 0.5}


@pytest.fixture
def record(opened, tmp_path):
    """Audit and record a version of the model ``net`` with one verdict; gives study and store.

    The study has a display name for its pair type, and none for its path.
    """

    def of(version, verdict, **gate):
        put(tmp_path / "zoo" / "net" / str(version), seed=version)
        study, store = opened(names={"wall_hue": "wall colour"})
        plan = in_process.compute(discover(study, store, study.pair_set()).audited_study)
        commit_outcome(plan, forward_rows=1, quarantined_count=0)
        recorded(study, store, verdict, plan.run_id, **M, **gate)
        return study, store

    return of


@pytest.fixture
def history(capsys):
    """Lines that the command prints on a terminal of 80 columns."""

    def of(store):
        print_history(Terminal(width=80), store, "net", None)
        return capsys.readouterr().out.splitlines()

    return of


def test_a_long_note_is_wrapped_in_a_pipe(opened, tmp_path, capsys):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    study, store = opened()
    recorded(study, store, "fail", run_id=None)
    why = "the new camera is brighter, and the gate will follow next week; " * 4
    accept(store, study.study, "net", why, "ada")
    print_history(Terminal(width=1000), store, "net", None)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 140
    assert "camera" in "".join(lines)
    assert "".join(lines).count("week;") == 4


def test_a_history_has_m_and_the_gate_that_failed(record, history):
    record(1, "pass")
    study, store = record(2, "fail", **FOUND)
    lines = history(store)
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "endpoint magnitude, wall colour, blend: found 0.432 [0.400, 0.500]" in text
    (header,) = [line for line in lines if " E " in line]
    assert any("wall colour," in line for line in lines[lines.index(header) :])
    assert "at most 0.100" in text
    assert "first failed version: 2 (" in text
    assert header.split()[1::2][-4:] == ["M", "E", "C", "F"]
    answer = answers(store, study)["net", "2"]
    assert "endpoint magnitude, wall colour, blend: found 0.432" in answer.failed_gates
    (finding,) = version_results(store, study)
    assert finding.values["endpoint_magnitude.blend.wall_hue"][0] > 0


@pytest.mark.parametrize(
    ("verdicts", "versions"),
    [
        ([], []),
        (["pass", "undecided", "no gate applies"], []),
        (["fail"], ["1"]),
        (["pass", "fail", "fail"], ["2"]),
        (["fail", None, "fail", "pass", "fail", "undecided"], ["1", "5"]),
    ],
)
def test_each_series_of_failures_has_a_first_version(verdicts, versions):
    day = datetime(2026, 3, 1, 8, tzinfo=UTC)
    rows = [
        ("try", "net", day, str(number), "weights", verdict, "audited", "", None)
        for number, verdict in enumerate(verdicts, 1)
    ]
    assert list_first_failures(rows) == [f"{version} (2026-03-01 08:00)" for version in versions]


def test_a_version_that_passed_has_no_failed_gate(record):
    study, store = record(1, "pass", **FOUND)
    assert answers(store, study)["net", "1"].failed_gates == ""


def test_an_accepted_version_that_failed_no_gate_has_none(record):
    study, store = record(1, "undecided", **FOUND)
    accept(store, study.study, "net", "few pairs", "me")
    answer = answers(store, study)["net", "1"]
    assert (answer.verdict, answer.failed_gates) == ("accepted", "")


@pytest.mark.parametrize(("is_decided", "word"), [(True, "decided"), (False, "undecided")])
def test_a_version_that_stopped_without_a_decision_is_not_called_decided(
    opened, history, tmp_path, is_decided, word
):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    study, store = opened()
    (net,) = recorded(study, store, "undecided").resolved
    stop = {"model_id": net.model_id, "is_decided": is_decided, "block_count": 2}
    stop |= {"planned_block_count": 9, "source_count": 96, "planned_source_count": 1644}
    commit_stops(store, study.study, "run", "whole", [stop], [])
    text = " ".join(" ".join(history(store)).split())
    assert "96 of" in text
    assert f" {word} after" in text
