"""The alias that gates compare with moves or is missing, as a user sees it."""

import json

import pytest
from ended_commands import cells, refused, succeeded
from registry_folder import alias, put
from warehouse_answers import fetched

LEANS = {"1": 0.5, "2": 1.5, "3": 1.49}
"""The evidence on the wall grows with it; 3 is no worse than 2, and both are worse than 1."""
GATE = {"pair_type": "wall_hue"}


@pytest.fixture
def config(study, write, tmp_path):
    settings = {**study, "study": "moved", "models": [], "compare_with": "champion"}
    settings |= {"paths": {"blend": {"kind": "blend", "sigma": 1.15}}, "sources_per_block": 8}
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["leaning"]}
    settings["registry"] = registry | {"follow": ["latest", "champion"]}
    settings["gates"] = {"evidence": [GATE | {"increase": 0.02}, GATE | {"at_most": 0.9}]}
    settings["alerts"] = {"file": "alerts.jsonl", "events": False}
    return write(settings)


@pytest.mark.slow
def test_a_verdict_follows_the_alias_that_it_depends_on(config, decaf, tmp_path):
    zoo, warehouse = tmp_path / "zoo" / "net", tmp_path / "warehouse"
    for version, lean in LEANS.items():
        put(zoo / version, seed=0, lean=lean)
    verdict = "SELECT verdict, change, version_compared FROM out_entries WHERE entry = 'net'"
    rules = "SELECT rule, verdict FROM out_verdicts WHERE entry = 'net' ORDER BY rule"
    costs = "SELECT count(*) FROM stg_costs"

    # There is nothing yet to compare a first version with.
    succeeded(decaf("reaudit", config))
    assert fetched(warehouse, rules) == [("at_most", "pass"), ("increase", "not applicable")]
    alias(zoo, champion=2)
    found = decaf("reaudit", config)
    succeeded(found)
    assert "champion 2, which" not in found.stdout
    assert fetched(warehouse, verdict) == [("pass", "compared", "2")]

    # Back to 1, which leans less: the verdict against 2 no longer holds.
    alias(zoo, champion=1)
    moved = decaf("reaudit", config)
    refused(moved, "net 3 failed evidence", code=1)
    assert "version 1 of net@champion" in moved.stdout
    assert fetched(warehouse, verdict) == [("fail", "compared", "1")]
    (alert,) = json.loads((tmp_path / "alerts.jsonl").read_text().splitlines()[-1])["alerts"]
    assert (alert["kind"], alert["entry"]) == ("gate.failed", "net")
    refused(decaf("reaudit", config), "1 failure needs attention", code=1)

    # An acceptance is shown until the alias moves again.
    succeeded(decaf("accept", config, "net", "--why", "a darker room"))
    put(tmp_path / "zoo" / "other" / "1", seed=0)
    alias(tmp_path / "zoo" / "other", champion=1)
    shown = decaf("reaudit", config).stdout
    rows = {row[0]: row[-1] for row in cells(shown) if len(row) == 6}
    assert (rows["net"], rows["net@champion"]) == ("accepted", "pass")
    assert "a darker room" in shown
    assert "Changes since" in moved.stdout
    assert "Changes since" not in shown  # net was not judged, and other has no changes

    scored = fetched(warehouse, costs)
    # Each move of the alias judges stored results.
    alias(zoo, champion=2)
    decaf("reaudit", config)
    assert fetched(warehouse, verdict) == [("pass", "compared", "2")]
    assert fetched(warehouse, costs) == scored
    (zoo / "aliases.yaml").unlink()
    # Without the alias, a limit on a change is undecided, although a limit on a value passes.
    refused(decaf("reaudit", config), "no net@champion", code=4)
    assert fetched(warehouse, verdict) == [("undecided", "compared", None)]
    assert fetched(warehouse, rules) == [("at_most", "pass"), ("increase", "undecided")]
    refused(decaf("reaudit", config), "no net@champion", code=4)
