"""A week of a registry through the command line: what changes is audited, judged and told."""

import hashlib
import hmac
import json
import os
import re
import shutil
import time

import httpx
import pytest
from ended_commands import refused, run_code, succeeded
from model_server import serving
from registry_folder import put_monday, put_tuesday
from warehouse_answers import fetched

SECRET = "webhook s3cret"


@pytest.fixture
def registered(study, tmp_path):
    """Settings of the small study over a registry, and an environment to run it in."""
    settings = {**study, "models": [], "paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
    settings["registry"] = {
        "kind": "folder",
        "root": str(tmp_path / "zoo"),
        "follow": ["latest", "champion"],
        "trusted": ["leaning"],
    }
    settings["gates"] = {
        "evidence": {"increase": 0.02, "pair_type": "wall_hue"},
        "endpoint_magnitude": {"at_most": 0.95},
    }
    settings["compare_with"] = "champion"
    settings["undecided"] = "pass"  # of the moved model, the interval holds the limit
    settings["epsilon"] = 0.1  # some pairs of the first versions stay below it
    return settings


def scored(settings):
    """Models that were scored, and in how many commits."""
    return dict(
        fetched(settings["warehouse"], "SELECT model_id, count(*) FROM stg_costs GROUP BY ALL")
    )


@pytest.mark.slow
def test_a_week_of_a_registry(registered, write, decaf, prefect_server, tmp_path):
    environment = {**prefect_server, "DECAF_WEBHOOK_SECRET": SECRET, "NO_PROXY": "127.0.0.1"}
    put_monday(tmp_path / "zoo")
    statuses = [503, 200]

    def behave(request, number):
        return statuses.pop(0) if statuses else 200, "", {}

    with serving(behave) as server:
        hook = {"url": server.url, "backoff_seconds": 0.01}
        registered["alerts"] = {"webhook": hook, "file": str(tmp_path / "alerts.jsonl")}
        config = write(registered)

        monday = succeeded(decaf("reaudit", config, **environment))
        assert monday.count("is compared with") == 1, monday
        assert "moved@champion" in monday
        before = scored(registered)
        assert len(before) == 6
        assert server.requests == []
        done = without_torch(config, tmp_path)
        assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr
        assert "nothing changed: the registry has the 6 entries" in done.stdout

        put_tuesday(tmp_path / "zoo")
        tuesday = decaf("reaudit", config, "--json", **environment)
        assert tuesday.returncode == 1, tuesday.stdout + tuesday.stderr
        assert "Traceback" not in tuesday.stderr
        check_found(registered, json.loads(tuesday.stdout), before)
        check_told(server.requests, tmp_path / "alerts.jsonl", json.loads(tuesday.stdout))
        check_strongest_pair(registered, json.loads(tuesday.stdout))
        check_events(prefect_server)
        check_wednesday(registered, config, decaf, tmp_path / "zoo", environment)
        assert len(server.requests) == 2  # none more
    assert "worse 2 failed evidence since" in tuesday.stderr
    assert "evidence, wall hue" in tuesday.stderr

    history = succeeded(decaf("history", "worse", "-w", registered["warehouse"]))
    followed, _, asked = history.partition("versions of worse@2")
    judged = r"20\d\d-\d\d-\d\d \d\d:\d\d .* 2 .* {} .* fail "
    assert re.search(judged.format("weights"), followed)
    assert "the content of version 1" in followed
    assert re.search(judged.format("new"), asked)
    assert all("\n  evidence, wall hue" in part for part in (followed, asked))
    assert "not audited" in succeeded(decaf("history", "broken", "-w", registered["warehouse"]))
    unknown = decaf("history", "wrose", "-w", registered["warehouse"])
    refused(unknown, "did you mean 'worse'")


def check_found(settings, content, before):
    """One model was scored and one is worse, by an interval above the gate."""
    after = scored(settings)
    (new,) = after.keys() - before.keys()
    assert new.startswith("worse-")
    assert {name: after[name] for name in before} == before
    found = {row["entry"]: (row["state"], row["change"]) for row in content["entries"]}
    assert found == {
        "worse": ("audited", "weights"),
        "again": ("audited", "version"),
        "gone": ("gone", "gone"),
        "broken": ("failed", "failed"),
        "moved": ("audited", "compared"),
        "moved@champion": ("audited", "weights"),
    }
    failed = [row for row in content["entries"] if row["verdict"] == "fail"]
    assert [row["entry"] for row in failed] == ["worse"]
    (row,) = [
        row
        for row in content["drift"]
        if (row["entry"], row["metric"], row["pair_type"]) == ("worse", "evidence", "wall_hue")
    ]
    assert 0.02 < row["change_lower"] < row["change"] < row["change_upper"]
    assert row["p_adjusted"] <= 0.05
    stored = dict(
        fetched(
            settings["warehouse"],
            "SELECT model_id, avg(evidence) FROM stg_profiles JOIN stg_pairs USING (pair_id) "
            "WHERE pair_type = 'wall_hue' AND starts_with(model_id, 'worse') GROUP BY ALL",
        )
    )
    old = stored.pop(next(name for name in before if name.startswith("worse")))
    assert row["change"] == pytest.approx(stored[new] - old, abs=1e-12)
    drawn = fetched(
        settings["warehouse"],
        "SELECT role_before <> role_now, factual IS NOT NULL, states IS NOT NULL, "
        "abs(q_plus_before[-1] - q_minus_before[-1] - endpoint_delta_before) < 1e-12, "
        "model_before FROM out_changed_pairs WHERE entry = 'worse'",
    )
    name = next(name for name in before if name.startswith("worse"))
    assert set(drawn) == {(True, True, True, True, name)}


def check_told(requests, file, content):
    """Two alerts, once in the file, and signed at the webhook, which refused the first attempt."""
    kinds = {(alert["kind"], alert["entry"]) for alert in content["alerts"]}
    assert kinds == {("gate.failed", "worse"), ("entry.failed", "broken")}
    assert len(requests) == 2
    for request in requests:
        signed = request.headers["X-Decaf-Timestamp"].encode() + b"." + request.body
        expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert request.headers["X-Decaf-Signature"] == f"sha256={expected}"
        assert json.loads(request.body)["alerts"] == content["alerts"]
    assert [json.loads(line)["alerts"] for line in file.read_text().splitlines()] == [
        content["alerts"]
    ]


def check_strongest_pair(settings, content):
    """The alert names the pair with the most of the component that its gate limits."""
    (alert,) = (each for each in content["alerts"] if each["kind"] == "gate.failed")
    pair, metrics = alert["strongest_pair"], set(alert["failed_gates"])
    limited = metrics & {"evidence", "contradiction", "fragility"}
    assert pair["component"] in limited or not limited
    ((pair_id, value),) = fetched(
        settings["warehouse"],
        f"SELECT pair_id, {pair['component']} FROM core_profiles "
        f"WHERE model_id = '{pair['model_id']}' AND pair_type = '{pair['pair_type']}' "
        f"ORDER BY {pair['component']} DESC LIMIT 1",
    )
    assert (pair["pair_id"], pair["value"]) == (pair_id, value)
    assert pair["pair_id"] in alert["message"]


def check_events(prefect_server):
    """An event for each new version, failure and end of Monday and Tuesday."""
    labels = ("again", "broken", "gone", "moved", "moved@champion", "worse")
    expected = {("decaf.version.new", f"decaf.entry.small.{label}") for label in labels} | {
        ("decaf.gate.failed", "decaf.entry.small.worse"),
        ("decaf.entry.failed", "decaf.entry.small.broken"),
        ("decaf.reaudit.finished", "decaf.study.small"),
    }
    assert emitted(prefect_server["PREFECT_API_URL"], len(expected)) == expected


def check_wednesday(settings, config, decaf, zoo, environment):
    """A version is rolled back, another is half there, and one is asked for by its number."""
    shutil.copytree(zoo / "worse" / "1", zoo / "worse" / "3")
    shutil.rmtree(zoo / "broken" / "2")
    half = zoo / "moved" / "3"
    half.mkdir()
    shutil.copy(zoo / "moved" / "2" / "decaf.yaml", half)
    before = scored(settings)

    asked = [word for name in ("worse", "worse@2", "broken") for word in ("--entry", name)]
    wednesday = decaf("reaudit", config, *asked, **environment)
    refused(wednesday, "1 failure needs", "worse@2 2 failed evidence", code=1)
    returned = r"worse 3 has the content of version 1, which passed on 20\d\d-.* UTC: its verdict "
    assert re.search(returned + "stands", wednesday.stdout), wednesday.stdout
    assert "worse@2 2 is compared with version 1 of worse" in wednesday.stdout
    assert scored(settings) == before
    query = "SELECT entry, version, change, verdict, version_judged, version_compared "
    query += "FROM out_entries WHERE entry IN ('broken', 'worse', 'worse@2') ORDER BY entry"
    assert fetched(settings["warehouse"], query) == [
        ("broken", "1", "none", "pass", "1", None),
        ("worse", "3", "returned", "pass", "1", None),
        ("worse@2", "2", "new", "fail", "2", "1"),
    ]

    # The half version counts as being copied, and does not let the next day pass.
    thursday = decaf("reaudit", config, **environment)
    refused(thursday, f"{half} ", "leaning.safetensors", code=4)

    # The version was asked for once: nothing of it stands on the next day.
    shutil.rmtree(half)
    friday = decaf("reaudit", config, **environment)
    assert "nothing changed: the registry has the 5 entries" in succeeded(friday)


def emitted(api, count):
    """Events of the study and their resources, once Prefect has stored as many as should be."""
    asked = {"filter": {"event": {"prefix": ["decaf."]}}}
    for _ in range(60):
        answer = httpx.post(f"{api}/events/filter", json=asked, trust_env=False).json()
        found = {(e["event"], e["resource"]["prefect.resource.id"]) for e in answer["events"]}
        own = ("decaf.entry.small.", "decaf.study.small")
        found = {(event, resource) for event, resource in found if resource.startswith(own)}
        if len(found) >= count:
            break
        time.sleep(0.5)
    return found


def without_torch(config, tmp_path):
    """Run the command in a process that says which heavy packages it has imported."""
    code = (
        "import sys\n"
        "from flows.commands.app import app\n"
        f"code = app(['reaudit', {str(config)!r}], standalone_mode=False) or 0\n"
        "heavy = ('torch', 'timm', 'prefect', 'distributed')\n"
        "print(code, [name for name in heavy if name in sys.modules])\n"
    )
    return run_code(code, cwd=tmp_path, env={**os.environ, "DECAF_WEBHOOK_SECRET": SECRET})
