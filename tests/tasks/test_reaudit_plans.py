"""`decaf reaudit --plan` names what would be scored and what is missing, and writes nothing."""

import shutil

import pytest
from applicants import section
from registry_folder import alias, put
from rich.console import Console

from decaf.errors import BadInput, ChecksFailed, RegistryError
from decaf.plan.study import load_study
from flows.commands.reaudits import reaudit
from tasks import trial


def test_a_plan_says_what_would_be_scored_and_writes_nothing(
    config, settings, tmp_path, capsys, monkeypatch
):
    put(tmp_path / "zoo" / "net", seed=1)
    (tmp_path / "zoo" / "bad").mkdir()

    def fail(plan):
        return trial.TriedModels({card.id: "its layers" for card in plan.study.models}, {}, 1)

    monkeypatch.setattr(trial, "try_on_cluster", fail)
    settings["registry"] |= {"cards": {"nte": {}}, "trust": ["net"]}
    with pytest.raises(ChecksFailed):
        reaudit(Console(width=200), config(), is_plan=True, is_json=False)
    shown, told = capsys.readouterr()
    assert "net: its layers" in shown
    assert "bad has no card" in shown
    assert "'nte'" in told
    assert "'net'" in told
    assert "'trust'" not in told
    assert not (tmp_path / "warehouse").exists()


def test_a_plan_names_everything_that_is_missing_at_once(config, settings, tmp_path, monkeypatch):
    monkeypatch.delenv("DECAF_WEBHOOK_SECRET", raising=False)
    monkeypatch.setattr(trial, "try_on_cluster", lambda plan: trial.TriedModels({}, {}, 1))
    (tmp_path / "zoo" / "bad").mkdir(parents=True)
    url = "http://127.0.0.1:9/"  # nobody listens on the port of discard
    alerts = {"webhook": {"url": url}, "command": ["no-such-program"]}
    with pytest.raises(ChecksFailed) as failed:
        reaudit(Console(), config(alerts=alerts), is_plan=True, is_json=False)
    for missing in ("DECAF_WEBHOOK_SECRET", url, "no-such-program", "bad"):
        assert missing in str(failed.value)


def test_a_plan_of_an_unreachable_registry_still_names_faults_of_alerts(
    config, settings, tmp_path, capsys
):
    gone = settings["registry"] | {"root": str(tmp_path / "gone")}
    changed = {"registry": gone, "alerts": {"command": ["no-such-program"]}}
    with pytest.raises(RegistryError):
        reaudit(Console(), config(**changed), is_plan=True, is_json=False)
    assert "no-such-program" in capsys.readouterr().err


def test_a_plan_as_json_is_refused(config):
    with pytest.raises(BadInput, match="--json"):
        reaudit(Console(), config(), is_plan=True, is_json=True)


def test_a_plan_has_the_remarks_on_data_and_threshold(config, tmp_path, capsys, monkeypatch):
    """The first study has models to plan, the second has none that can be audited."""
    monkeypatch.setattr(trial, "try_on_cluster", lambda plan: trial.TriedModels({}, {}, 1))
    put(tmp_path / "zoo" / "net", seed=1)
    score = {"kind": "target_logit", "classes": 2}
    reaudit(Console(width=200), config(score=score), is_plan=True, is_json=False)
    assert "sets no 'epsilon:'" in capsys.readouterr().out

    shutil.rmtree(tmp_path / "zoo" / "net")
    (tmp_path / "zoo" / "bad").mkdir()
    of_table = {"data": section(tmp_path), "paths": {"blend": {"kind": "blend", "sigma": 0}}}
    score = {"kind": "class_probability", "classes": 2, "target": 1}
    with pytest.raises(ChecksFailed):
        reaudit(Console(width=200), config(**of_table, score=score), is_plan=True, is_json=False)
    remarks = load_study(config(**of_table, score=score)).pair_set().remarks
    shown = capsys.readouterr().out
    assert remarks
    assert [remark for remark in remarks if remark not in shown] == []


def test_a_first_plan_that_compares_with_an_alias(config, settings, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(trial, "try_on_cluster", lambda plan: trial.TriedModels({}, {}, 1))
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    alias(tmp_path / "zoo" / "net", champion=1)
    settings["registry"]["follow"] = ["latest", "champion"]
    path = config(compare_with="champion", gates={"evidence": {"increase": 0.02}})
    reaudit(Console(width=200), path, is_plan=True, is_json=False)
    assert "net@champion" in capsys.readouterr().out
    assert not (tmp_path / "warehouse").exists()
