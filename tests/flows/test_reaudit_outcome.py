"""Output and errors of decaf reaudit when alerts fail, verdicts stand, or nothing is judged."""

import json
from contextlib import nullcontext

import pytest
from raw_server import misbehaving
from registry_folder import put
from registry_rounds import recorded
from rich.console import Console

from decaf.errors import AlertFailed, DecafError, GatesFailed
from flows.commands.reaudits import reaudit
from tasks.reaudit.standing import list_standing

GATES = {"evidence": {"at_most": 0.1}}


@pytest.fixture
def after(opened, config, tmp_path):
    """Record a verdict on net 1, without a run: after("fail", …) gives the command."""

    def of(verdict, **changed):
        put(tmp_path / "zoo" / "net" / "1", seed=1)
        recorded(*opened(**changed), verdict, run_id=None)

        def command(*, is_json=False, **more):
            reaudit(Console(), config(**changed, **more), is_plan=False, is_json=is_json)

        return command

    return of


@pytest.mark.parametrize("is_json", [False, True])
def test_a_dead_webhook_leaves_the_verdict_readable(after, capsys, monkeypatch, is_json):
    monkeypatch.setenv("DECAF_WEBHOOK_SECRET", "secret")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    command = after("fail", gates=GATES)
    with misbehaving("says 500") as server:
        hook = {"url": server.url, "retries": 0, "deadline_seconds": 2}
        with pytest.raises(AlertFailed, match="500"):
            command(alerts={"webhook": hook}, is_json=is_json)
    printed = capsys.readouterr()
    assert "net 1 failed evidence" in printed.err
    if is_json:
        summary = json.loads(printed.out)
        assert summary["exit_code"] == AlertFailed.exit_code == 3
        (failure,) = summary["undelivered"]
        assert server.url in failure
        assert summary["standing"][0]["entry"] == "net"
    else:
        assert "net 1 failed its gates" in printed.out
        assert "delivered to" not in printed.out


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("undecided", 4)])
def test_json_has_the_exit_code_when_nothing_has_changed(after, capsys, verdict, code):
    command = after(verdict, gates=GATES)
    with pytest.raises(DecafError) if code else nullcontext() as ended:
        command(is_json=True)
    assert code == (ended.value.exit_code if ended else 0)
    summary = json.loads(capsys.readouterr().out)
    assert (summary["entries"], summary["exit_code"], summary["remarks"]) == ([], code, [])


@pytest.mark.parametrize("gates", [{}, GATES])
def test_a_study_without_gates_says_that_it_judged_nothing(after, capsys, gates):
    after("pass", gates=gates)(is_json=True)
    printed = capsys.readouterr()
    remarks = json.loads(printed.out)["remarks"]
    assert len(remarks) == (not gates)
    assert ("no gates" in printed.err) is (not gates)


@pytest.mark.parametrize("receivers", [{}, {"events": False}])
def test_the_first_receiver_gets_the_alert_of_an_older_failure(
    opened, config, tmp_path, monkeypatch, receivers
):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    study, store = opened(gates=GATES, alerts=receivers)
    recorded(study, store, "fail", run_id=None, is_settled=False)

    def command(**alerts):
        with pytest.raises(GatesFailed):
            reaudit(Console(), config(gates=GATES, alerts=alerts), is_plan=False, is_json=False)

    command(**receivers)
    command(**receivers)
    (standing,) = list_standing(store, study.study)
    assert (standing["alert_count"], standing["last_alert_at"]) == (0, None)
    file = tmp_path / "alerts.jsonl"
    command(file=str(file), **receivers)
    command(file=str(file), **receivers)
    (line,) = file.read_text().splitlines()
    assert [alert["kind"] for alert in json.loads(line)["alerts"]] == ["gate.failed"]
    (standing,) = list_standing(store, study.study)
    assert standing["alert_count"] == 1
