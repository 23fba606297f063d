"""Changes that a re-audit finds against the previous one, without scoring."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from model_server import serving
from registry_folder import alias, put
from registry_rounds import recorded, unchanged
from rich.console import Console
from small_studies import network_card
from warehouse_answers import fetched

from decaf.errors import (
    ConfigError,
    ModelError,
    RegistryError,
    UnknownEntry,
)
from decaf.plan.resolution import list_entries
from flows.commands.reaudits import reaudit, refuse_registry
from flows.reaudit import reaudit as flow_of_reaudit
from tasks.cluster.worker import load_model
from tasks.make_task import make_task
from tasks.manifest import commit_outcome, commit_run
from tasks.plan import plan_audit
from tasks.reaudit import plan as reaudits
from tasks.reaudit.notify import notify
from tasks.reaudit.plan import commit_reaudit, discover, is_unchanged
from tasks.reaudit.recorded import ALERTS, newest_reaudit
from warehouse.commits import writer
from warehouse.commits.writer import commit


def test_an_entry_is_followed_through_failure_absence_and_return(opened, tmp_path):
    zoo = tmp_path / "zoo"
    put(zoo / "net" / "1", seed=1)
    put(zoo / "other", seed=2)
    study, store = opened()
    assert not unchanged(study, store)
    first = recorded(study, store)
    assert first.changes() == {"net": "new", "other": "new"}
    assert unchanged(study, store)
    assert not discover(study, store, study.pair_set()).is_changed

    (put(zoo / "net" / "2", seed=1) / "decaf.yaml").write_text("{}")
    failed = recorded(study, store)
    assert failed.changes() == {"net": "failed", "other": "none"}
    # The same failure is no news, but it is tried again.
    assert discover(study, store, study.pair_set()).changes()["net"] == "none"
    assert not unchanged(study, store)

    shutil.copytree(zoo / "net" / "1", zoo / "net" / "2", dirs_exist_ok=True)
    shutil.rmtree(zoo / "other")
    mended = recorded(study, store)
    assert mended.changes() == {"net": "version"}
    assert [row["entry"] for row in mended.list_missing()] == ["other"]
    rows = fetched(store, "SELECT entry, version, state FROM out_entries ORDER BY entry")
    assert rows == [("net", "2", "audited"), ("other", rows[1][1], "gone")]

    put(zoo / "other", seed=3)
    again = discover(study, store, study.pair_set())
    assert (again.changes()["other"], again.list_missing()) == ("new", [])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"epsilon": 0.1}, "epsilon"),
        ({"stages": 5}, "stages"),
        ({"paths": {"blend": {"kind": "blend", "sigma": 2.0}}}, "paths"),
        ({"data": {"adapter": "shapes3d", "sources": 3}}, "pairs"),
        ({"score": {"kind": "class_probability", "classes": 2, "target": 1}}, "score"),
        ({"expect": {"wall_hue": "should_matter"}}, "none"),
        ({"names": {"blend": "fading in"}}, "none"),
    ],
)
def test_what_changes_of_the_study_is_said(opened, tmp_path, changed, words):
    put(tmp_path / "zoo" / "net", seed=1)
    recorded(*opened())
    study, store = opened(**changed)
    assert not unchanged(study, store)
    reason = discover(study, store, study.pair_set()).changes()["net"]
    assert words in reason.split(", ")


def test_other_gates_judge_what_was_found_again(opened, tmp_path):
    """Against what its content was compared with first."""
    keys = []
    study, store = opened()
    for version, seed in (("1", 1), ("2", 2), ("3", 2)):
        put(tmp_path / "zoo" / "net" / version, seed=seed)
        recorded(study, store)
        keys.append(newest_reaudit(store, study.study).reaudit_id)
    for limit in (0.1, 0.2):
        study, store = opened(gates={"evidence": {"increase": limit}})
        assert not unchanged(study, store)
        assert recorded(study, store).changes() == {"net": "gates"}
        assert unchanged(study, store)
        judged = newest_reaudit(store, study.study)
        row = judged.rows["net"]
        assert row["judged_reaudit_id"] == judged.reaudit_id
        assert row["previous_reaudit_id"] == row["passed_reaudit_id"] == keys[0]
    other, _ = opened(gates={"evidence": {"increase": 0.3}}, epsilon=0.1)
    assert discover(other, store, other.pair_set()).changes() == {"net": "epsilon"}


def test_a_re_audit_that_was_stopped_before_its_alerts_is_not_over(opened, tmp_path):
    put(tmp_path / "zoo" / "net", seed=1)
    study, store = opened()
    commit_reaudit(discover(study, store, study.pair_set()), None)
    assert not newest_reaudit(store, study.study).is_settled
    assert not unchanged(study, store)


@pytest.mark.slow
def test_a_failure_that_nobody_heard_of_is_told_after_further_changes(opened, tmp_path):
    zoo, told = tmp_path / "zoo", tmp_path / "told"
    study, store = opened(alerts={"file": str(told / "alerts.jsonl"), "events": False})

    def audited(name):
        put(zoo / name, seed=len(name))
        found = discover(study, store, study.pair_set())
        commit_reaudit(found, None)
        return found.changes()["broken"]

    (zoo / "broken").mkdir(parents=True)
    (zoo / "broken" / "decaf.yaml").write_text("weights: absent")
    told.write_text("")  # a file where a folder has to be
    assert audited("net") == "failed"
    (failure,) = notify(store, study, "study.yaml")["undelivered"]
    assert "cannot be written" in failure
    assert audited("other") == "none"
    told.unlink()
    (alert,) = notify(store, study, "study.yaml")["alerts"]
    assert (alert["kind"], alert["entry"]) == ("entry.failed", "broken")
    assert audited("another") == "none"
    assert notify(store, study, "study.yaml")["alerts"] == []


def test_only_a_channel_that_failed_gets_an_alert_again(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("DECAF_WEBHOOK_SECRET", "secret")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    statuses, file = [500, 200], tmp_path / "alerts.jsonl"
    (tmp_path / "zoo" / "broken").mkdir(parents=True)
    with serving(lambda request, number: (statuses.pop(0), "", {})) as server:
        hook = {"url": server.url, "retries": 0}
        study, store = opened(alerts={"file": str(file), "webhook": hook, "events": False})
        diff = discover(study, store, study.pair_set())
        commit_reaudit(diff, None)
        (failure,) = notify(store, study, "study.yaml")["undelivered"]
        assert "500" in failure
        assert not newest_reaudit(store, study.study).is_settled
        (alert,) = notify(store, study, "study.yaml")["alerts"]
        assert notify(store, study, "study.yaml")["alerts"] == []
        names = [request.headers["X-Decaf-Delivery"] for request in server.requests]
    assert alert["entry"] == "broken"
    assert names == [newest_reaudit(store, study.study).reaudit_id] * 2
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["alerts"] == [alert]
    assert fetched(study.warehouse, "SELECT count(*) FROM stg_alerts") == [(1,)]


def test_a_clock_that_is_set_back_keeps_the_order(opened, tmp_path, monkeypatch):
    """The newest run and the newest re-audit count."""
    put(tmp_path / "zoo" / "net", seed=1)

    def round_of(epsilon, day):
        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(2026, 5, day, tzinfo=UTC)

        for module in (writer, reaudits):
            monkeypatch.setattr(module, "datetime", Clock)
        study, store = opened(epsilon=epsilon)
        found = discover(study, store, study.pair_set())
        plan = plan_audit(found.audited_study, study.pair_set())
        commit_run(plan)
        commit_outcome(plan, 0, 0)
        return plan, commit_reaudit(found, plan.run_id)

    known = [round_of(0.1, 9), round_of(0.2, 8), round_of(0.3, 7)]
    plan, reaudit_id = known[-1]
    assert plan_audit(plan.study, plan.pairs).is_current
    assert newest_reaudit(plan.store, "try").reaudit_id == reaudit_id
    newest_first = [(plan.run_id,) for plan, _ in reversed(known)]
    assert fetched(plan.store, "SELECT run_id FROM out_runs") == newest_first
    query = (
        "SELECT DISTINCT ON (reaudit_id) reaudit_id, is_newest, change FROM core_entry_versions "
    )
    query += "ORDER BY resolved_at"
    assert fetched(plan.store, query) == [
        (reaudit_id, number == 2, "epsilon" if number else "new")
        for number, (_, reaudit_id) in enumerate(known)
    ]
    query = "FROM stg_run_outcomes JOIN stg_runs USING (run_id) WHERE finished_at < started_at"
    assert fetched(plan.store, query) == []


def test_what_moves_meanwhile_is_noted(opened, settings, tmp_path):
    settings["registry"]["follow"] = ["champion"]
    zoo = tmp_path / "zoo"
    for version in ("1", "2"):
        put(zoo / "net" / version, seed=int(version))
    alias(zoo / "net", champion=1)
    study, store = opened()
    found = discover(study, store, study.pair_set())
    alias(zoo / "net", champion=2)
    commit_reaudit(found, "run")
    (row,) = newest_reaudit(store, study.study).rows.values()
    assert "version 2" in row["problem"]
    assert discover(study, store, study.pair_set()).changes() == {"net@champion": "weights"}


def test_a_worker_refuses_weights_that_moved(opened, tmp_path):
    folder = put(tmp_path / "zoo" / "net", seed=1)
    study, store = opened()
    found = discover(study, store, study.pair_set())
    plan = plan_audit(found.audited_study, study.pair_set())
    order = make_task(plan, plan.work.units[:1], tmp_path / "pixels", None).model
    load_model(order)
    shutil.rmtree(folder)
    put(folder, seed=2)
    with pytest.raises(ModelError, match="changed during the audit"):
        load_model(replace(order, device="auto"))  # not the one that the worker holds


def test_a_registry_out_of_reach_is_told(config, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DECAF_WEBHOOK_SECRET", "s")
    with serving(lambda *_: (200, "", {})) as server:
        path = config(alerts={"webhook": {"url": server.url}})
        with pytest.raises(RegistryError, match="cannot be read"):
            reaudit(Console(), path, is_plan=False, is_json=False)
    assert b"registry.failed" in server.requests[0].body


def test_a_registry_that_is_lost_during_a_re_audit_is_told(opened, tmp_path):
    file = tmp_path / "alerts.jsonl"
    put(tmp_path / "zoo" / "net", seed=1)
    study, store = opened(alerts={"file": str(file)})
    found = discover(study, store, study.pair_set())
    (tmp_path / "zoo").rename(tmp_path / "away")
    commit_reaudit(found, "run")
    (row,) = newest_reaudit(store, study.study).rows.values()
    assert (row["entry"], row["problem"]) == ("net", None)
    with pytest.raises(RegistryError):
        flow_of_reaudit(study, study.pair_set(), store, "study.yaml")
    (alert,) = json.loads(file.read_text())["alerts"]
    assert alert["kind"] == "registry.failed"


def test_a_missing_secret_is_missed_before_anything_is_scored(config, tmp_path, monkeypatch):
    monkeypatch.delenv("DECAF_WEBHOOK_SECRET", raising=False)
    put(tmp_path / "zoo" / "net", seed=1)
    path = config(alerts={"webhook": {"url": "http://127.0.0.1:9/"}})
    with pytest.raises(ConfigError, match="DECAF_WEBHOOK_SECRET is not set"):
        reaudit(Console(), path, is_plan=False, is_json=False)


def test_what_is_not_asked_for_keeps_its_last_row(opened, tmp_path):
    zoo = tmp_path / "zoo"
    for seed, name in enumerate(["asked", "same", "moved", "gone"]):
        put(zoo / name / "1", seed=seed)
    study, store = opened()
    first = recorded(study, store)
    put(zoo / "asked" / "2", seed=5)
    put(zoo / "moved" / "2", seed=6)
    put(zoo / "fresh" / "1", seed=7)
    shutil.rmtree(zoo / "gone")

    pairs = study.pair_set()
    found = discover(study, store, pairs, ["asked"])
    assert found.changes() == {"asked": "weights", "same": "none"}
    assert found.list_missing() == []
    assert found.is_changed
    key = commit_reaudit(found, "another run")
    commit(store, ALERTS, study.study, key, {})
    rows = newest_reaudit(store, study.study).rows
    assert {
        label: (row["version"], row["change"], row["run_id"]) for label, row in rows.items()
    } == {
        "asked": ("2", "weights", "another run"),
        "same": ("1", "none", "another run"),
        "moved": ("1", "none", "run"),
        "gone": ("1", "none", "run"),
    }
    assert not discover(study, store, pairs, ["asked"]).is_changed
    assert is_unchanged(study, store, list_entries(study.registry), pairs, ["asked"])
    assert not is_unchanged(study, store, list_entries(study.registry), pairs, ["moved"])
    changes = discover(study, store, pairs, ["asked", "unfollowed"]).changes()
    assert set(changes) == {"asked", "same"}
    with pytest.raises(UnknownEntry, match="did you mean 'asked'"):
        discover(study, store, pairs, ["askde"])

    night = discover(study, store, pairs)
    assert night.changes() == {
        "asked": "none",
        "same": "none",
        "moved": "weights",
        "fresh": "new",
    }
    assert [row["entry"] for row in night.list_missing()] == ["gone"]
    moved = night.last_audited["moved"].row
    assert moved["model_id"] == {r.entry.label: r.model_id for r in first.resolved}["moved"]


def test_where_the_study_has_changed_all_entries_are_audited(opened, tmp_path, capsys):
    put(tmp_path / "zoo" / "one", seed=1)
    put(tmp_path / "zoo" / "two", seed=2)
    study, store = opened()
    assert discover(study, store, study.pair_set(), ["one"]).changes().keys() == {"one", "two"}
    recorded(study, store)
    other, _ = opened(epsilon=0.1)
    assert not discover(other, store, other.pair_set(), ["one"]).held_back
    assert "all entries" in capsys.readouterr().err


def test_a_gate_on_pairs_that_are_not_there(config):
    path = config(gates={"evidence": {"increase": 0.1, "pair_type": "wall_hu"}})
    with pytest.raises(ConfigError, match="'wall_hu'.*'wall_hue'"):
        reaudit(Console(), path, is_plan=False, is_json=False)


@pytest.mark.parametrize(
    ("changed", "key", "hint"),
    [
        ({"gates": {"evidence": {"at_most": "5%"}}}, "gates.evidence", "write 0.05"),
        ({"gates": {"evidence": [{"increase": "2 %"}]}}, "gates.evidence", "write 0.02"),
        ({"alerts": {"webhook": "http://127.0.0.1:9/"}}, "alerts.webhook", "{url: "),
        ({"alerts": {"webhook": ["http://127.0.0.1:9/"]}}, "alerts.webhook", "{url: "),
    ],
)
def test_a_refused_value_names_its_key_and_the_form_to_write(opened, changed, key, hint):
    with pytest.raises(ConfigError) as refusal:
        opened(**changed)
    assert key in str(refusal.value)
    assert hint in str(refusal.value)


def test_a_registry_is_not_for_run_and_models_are_not_for_reaudit(opened, config, settings):
    study, _ = opened()
    with pytest.raises(ConfigError, match="decaf reaudit"):
        refuse_registry(study, "run")
    card = network_card("one", weights="a.pt")
    with pytest.raises(ConfigError, match="'registry:'"):
        reaudit(Console(), config(registry=None, models=[card]), is_plan=False, is_json=False)


def test_versions_between_two_re_audits_are_named_once(opened, tmp_path, capsys):
    for version in ("1", "4"):
        put(tmp_path / "zoo" / "net" / version, seed=int(version))
        study, store = opened()
        capsys.readouterr()
        recorded(study, store)
        assert ("versions 2 to 3" in capsys.readouterr().err) == (version == "4")
    discover(study, store, study.pair_set())
    assert "version" not in capsys.readouterr().err


def test_a_version_that_was_audited_and_deleted_is_not_called_left_out(opened, tmp_path, capsys):
    zoo = tmp_path / "zoo" / "net"
    study, store = opened()
    for version in ("3", "4"):
        put(zoo / version, seed=int(version))
        recorded(study, store)
    shutil.rmtree(zoo / "4")
    recorded(study, store)
    put(zoo / "6", seed=6)
    capsys.readouterr()
    recorded(study, store)
    remark = capsys.readouterr().err
    assert "version 5" in remark
    assert "4" not in remark


def test_a_version_that_could_not_be_audited_is_not_called_left_out(opened, tmp_path, capsys):
    study, store = opened()
    put(tmp_path / "zoo" / "net" / "3", seed=3)
    recorded(study, store)
    (put(tmp_path / "zoo" / "net" / "4", seed=4) / "decaf.yaml").write_text("{}")
    recorded(study, store)
    put(tmp_path / "zoo" / "net" / "5", seed=5)
    capsys.readouterr()
    recorded(study, store)
    assert "version 4" not in capsys.readouterr().err
