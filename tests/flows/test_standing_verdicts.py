"""Versions of one alias fail, stand, are accepted and rolled back, as a user sees it."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import yaml
from ended_commands import refused, succeeded
from registry_folder import alias, put
from warehouse_answers import fetched

from decaf.plan.study import load_study
from tasks.reaudit import notify as notifying
from tasks.reaudit.write_back import answers
from warehouse import storage
from warehouse.query.catalog import connect
from warehouse.report.audit.facts import rows_of

LEANS = {"1": 0.5, "2": 1.5, "3": 1.49}
"""The evidence on the wall grows with it; 3 is no worse than 2, and both are worse than 1."""


@pytest.fixture
def config(study, write, tmp_path):
    settings = {**study, "study": "standing", "models": []}
    settings |= {"paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
    settings["sources_per_block"] = 8
    settings["registry"] = {
        "kind": "folder",
        "root": str(tmp_path / "zoo"),
        "follow": ["champion"],
        "trusted": ["leaning"],
    }
    settings["gates"] = {"evidence": {"increase": 0.02, "pair_type": "wall_hue"}}
    told = "import sys; open('told.jsonl', 'a').write(sys.stdin.read() + '\\n')"
    settings["alerts"] = {"command": ["python3", "-c", told], "remind": "7d"}
    return write(settings)


def states(api):
    """Names and types of the states of all flow runs of re-audits, the newest first."""
    asked = {"sort": "START_TIME_DESC", "flows": {"name": {"any_": ["reaudit"]}}}
    answer = httpx.post(f"{api}/flow_runs/filter", json=asked, trust_env=False).json()
    return [(run["state"]["name"], run["state"]["type"], run["state"]["message"]) for run in answer]


@pytest.mark.slow
def test_a_verdict_stands_until_it_is_answered(config, decaf, prefect_server, tmp_path):
    zoo, warehouse = tmp_path / "zoo" / "net", tmp_path / "warehouse"

    def reaudit(champion=None, *options):
        if champion:
            alias(zoo, champion=int(champion))
        return decaf("reaudit", config, *options, **prefect_server)

    def verdict():
        query = "SELECT version, version_passed, verdict FROM out_entries"
        return fetched(warehouse, query)

    def told():
        return [json.loads(line) for line in (tmp_path / "told.jsonl").read_text().splitlines()]

    for version, lean in LEANS.items():
        put(zoo / version, seed=0, lean=lean)
    # No gate applies to a first version: exit code 4, also when nothing has changed since.
    api = prefect_server["PREFECT_API_URL"]
    refused(reaudit("1"), "net@champion 1", code=4)
    assert states(api)[0][:2] == ("Undecided", "FAILED")
    assert verdict() == [("1", None, "no gate applies")]
    refused(reaudit(), "net@champion 1", code=4)
    answer = json.loads(reaudit(None, "--json").stdout)
    assert (answer["changed"], answer["entries"]) == (False, [])
    (undecided,) = answer["undecided"]
    assert (undecided["entry"], undecided["verdict"]) == ("net@champion", "no gate applies")
    settings = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(settings | {"undecided": "pass"}))
    passing = reaudit()
    assert passing.returncode == 0
    assert "net@champion 1" in passing.stderr
    config.write_text(yaml.safe_dump(settings))
    # Somebody may accept such a version, and withdraw that.
    succeeded(decaf("accept", config, "net@champion", "--why", "the first"))
    succeeded(reaudit())
    succeeded(decaf("accept", config, "net@champion", "--undo", "--why", "not yet"))
    refused(reaudit(), "net@champion 1", code=4)

    # 2 leans on the wall.
    stands = "net@champion 2 failed evidence since 2"
    refused(reaudit("2"), stands, "accept with decaf accept", "evidence, wall hue", code=1)
    assert verdict() == [("2", "1", "fail")]
    name, kind, message = states(api)[0]
    assert (name, kind) == ("NeedsAttention", "FAILED")
    assert message.startswith("exit code 1: 1 failure")
    assert stands in message
    (alert,) = told()[0]["alerts"]
    assert alert["kind"] == "gate.failed"
    assert "compared with version 1" in alert["message"]

    # It is said in a plan, and what stands is nothing to be computed.
    planned = succeeded(reaudit(None, "--plan"))
    assert stands in planned
    assert "forward rows" not in planned

    # Nothing changed: it stands all the same, and nobody is told again.
    refused(reaudit(), "1 failure needs attention", stands, code=1)
    unchanged = reaudit(None, "--json")
    assert (unchanged.returncode, len(told())) == (1, 1)
    (standing,) = json.loads(unchanged.stdout)["standing"]
    assert (standing["version"], standing["failed_gates"]) == ("2", ["evidence"])
    assert standing["alert_count"] == 1
    remind(config, days=6)
    assert len(told()) == 1
    remind(config, days=8)
    assert [alert["kind"] for alert in told()[1]["alerts"]] == ["gate.standing"]

    # 3 is no worse than 2, but worse than 1, which passed last.
    third = reaudit("3")
    passed = "UTC (no version has passed since 2"
    refused(third, "net@champion 3 failed evidence", passed, code=1)
    assert third.stdout.index("net@champion 3 failed its gates:") < third.stdout.index(
        "Changes since"
    )
    query = "SELECT against, version_before, change > 0.02 FROM out_drift "
    query += "WHERE metric = 'evidence' AND pair_type = 'wall_hue'"
    assert fetched(warehouse, query) == [("last_passed", "1", True), ("previous", "2", False)]
    query = "SELECT version_passed, entry_failing_since < content_failed_since "
    query += "FROM out_standing_verdicts"
    assert fetched(warehouse, query) == [("1", True)]
    query = "SELECT version, value > highest_allowed FROM out_history WHERE metric = 'evidence' "
    query += "AND pair_type = 'wall_hue' ORDER BY version"
    assert fetched(warehouse, query) == [("1", None), ("2", True), ("3", True)]
    with connect(warehouse) as connection:
        points = rows_of(connection, "history", "standing")
    shown = [
        row.version for row in points if (row.metric, row.pair_type) == ("evidence", "wall_hue")
    ]
    assert shown == ["1", "2", "3"], "one point for a version that is compared with two others"
    succeeded(decaf("gc", "-w", warehouse, "--keep", 1, "--delete"))
    assert verdict() == [("3", "1", "fail")]

    # Somebody accepts 3; what comes next is compared with it.
    refused(decaf("accept", config, "net@champion", "--why", " "), "expected one line of text")
    refused(decaf("accept", config, "net@champio", "--why", "x"), "did you mean 'net@champion'")
    refused(decaf("accept", config), "no entry")
    settings, page = yaml.safe_load(config.read_text()), tmp_path / "report.html"
    config.write_text(yaml.safe_dump(settings | {"report": str(page)}))
    succeeded(decaf("report", config, "--against", "1"))
    compared = (tmp_path / "report-against-1.html").read_text()
    assert "net@champion: " in compared
    both = ("--against", "1", "--against", str(warehouse))
    several = succeeded(decaf("report", config, *both)).split("comparison: ")[1].strip()
    assert "3 runs side by side" in Path(several).read_text()
    refused(decaf("report", config, "--against", "7"), "unknown run or version", "known: 1")
    assert "net@champion 3 is accepted" in succeeded(
        decaf("accept", config, "net@champion", "--why", "a brighter camera")
    )
    refused(decaf("accept", config, "net@champion", "--why", "x"), "was accepted already")
    undo = ("accept", config, "net@champion", "--undo", "--why")
    assert "stands again" in succeeded(decaf(*undo, "not brighter"))
    refused(
        reaudit(), "1 failure needs attention", "net@champion 3 failed evidence since 2", code=1
    )
    store = storage.open(warehouse)
    assert answers(store, load_study(config))["net", "3"][:2] == ("fail", "no")
    refused(decaf(*undo, "x"), "net@champion 3 is not accepted, so there is nothing to undo")
    succeeded(decaf("accept", config, "net@champion", "--why", "a brighter camera"))
    listed = succeeded(decaf("accept", config, "--list"))
    assert [word for word in listed.split() if word in ("accepted", "undone")] == [
        "accepted",  # of the title
        *("accepted", "undone", "accepted", "undone", "accepted"),
    ]
    assert listed.index("a brighter camera") < listed.index("not brighter")
    ((version, answer),) = answers(store, load_study(config)).items()
    assert (version, answer.verdict) == (("net", "3"), "accepted")
    assert answer.accepted.startswith("by ")
    assert answer.accepted.endswith(" UTC: a brighter camera")
    assert "nothing changed" in succeeded(reaudit())
    assert "a brighter camera" in page.read_text()
    config.write_text(yaml.safe_dump(settings))
    succeeded(reaudit("2"))
    assert verdict() == [("2", "3", "pass")]

    # Back to 1, which leans less; then a copy of 2 under another number: it is worse than 1.
    succeeded(reaudit("1"))
    assert verdict() == [("1", "2", "pass")]
    shutil.copytree(zoo / "2", zoo / "4")
    refused(reaudit("4"), "net@champion 4 failed evidence", code=1)
    # The same content once more is no answer.
    shutil.copytree(zoo / "2", zoo / "5")
    refused(reaudit("5"), "net@champion 5 failed evidence", code=1)
    assert fetched(warehouse, "SELECT change, version FROM out_entries") == [("version", "5")]
    assert fetched(warehouse, "SELECT count(*) FROM out_acceptances") == [(5,)]

    # Nor is another epsilon, at which 5 cannot be compared with 1 any more.
    settings |= {"epsilon": 0.002}
    config.write_text(yaml.safe_dump(settings))
    refused(reaudit(), "net@champion 5 failed evidence", code=1)
    # What is no worse than it passes where that is what is asked.
    settings |= {"compare_with": "previous"}
    config.write_text(yaml.safe_dump(settings))
    succeeded(reaudit("3"))
    assert verdict() == [("3", "1", "pass")]

    # Another gate judges what is there again, as nothing but verdicts says.
    rows = fetched(warehouse, "SELECT count(*) FROM stg_costs")
    settings["gates"] = {"evidence": {"at_most": 0.001, "pair_type": "wall_hue"}}
    config.write_text(yaml.safe_dump(settings))
    stricter = reaudit()
    refused(stricter, "net@champion 3 failed evidence", code=1)
    assert "net@champion" in stricter.stdout
    assert verdict() == [("3", "1", "fail")]
    assert fetched(warehouse, "SELECT change FROM out_entries") == [("gates",)]
    assert fetched(warehouse, "SELECT count(*) FROM stg_costs") == rows


def remind(config, days):
    """Notify as so many days later."""
    study = load_study(config)
    events = study.alerts.model_copy(update={"events": False})
    study = study.model_copy(update={"alerts": events})

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(UTC) + timedelta(days=days)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notifying, "datetime", Clock)
        patch.chdir(config.parent)
        notifying.notify(storage.open(config.parent / "warehouse"), study, str(config))
