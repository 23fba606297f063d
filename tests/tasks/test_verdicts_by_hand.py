"""Verdicts on models whose M is known by hand: each pair changes the score by the same amount."""

import pytest
import yaml
from applicants import INPUTS, applicants, section, written
from in_process import reaudited
from registry_folder import NETWORKS, alias
from warehouse_answers import fetched

from flows.commands.reaudit_outcome import find_outcome
from flows.commands.reaudit_summary import list_remarks
from tasks.reaudit.judge import summary

CARD = {"source": "function", "function": "smiths:build", "input": "frame"}
CARD["output"] = "probabilities"
INCREASE = {"endpoint_magnitude": {"increase": 0.02}}
AT_MOST = {"endpoint_magnitude": {"at_most": 0.1}}
VERDICTS = "SELECT entry, verdict FROM out_entries ORDER BY entry"


@pytest.fixture
def zoo(tmp_path):
    """Register versions of `motor` by their M: zoo(1, 0.057)."""

    def put(version, effect, **arguments):
        folder = tmp_path / "zoo" / "motor" / str(version)
        folder.mkdir(parents=True)
        arguments = {"effect": effect, **arguments}
        (folder / "decaf.yaml").write_text(yaml.safe_dump(CARD | {"arguments": arguments}))
        return folder

    return put


@pytest.fixture
def audit(opened, tmp_path):
    """Audit and judge the registry in this process: audit("motor@3", rows=24) gives the outcome."""

    def of(*only, rows=24, **changed):
        registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["smiths"]}
        registry["follow"] = ["latest", "champion"] if "compare_with" in changed else ["latest"]
        settings = {
            "registry": registry,
            "python_path": [str(NETWORKS)],
            "data": section(
                tmp_path, table=written(tmp_path, applicants(rows), "rows.csv"), inputs=INPUTS
            ),
            "paths": {"blend": {"kind": "blend", "sigma": 0}},
            "score": {"kind": "class_probability", "classes": 2, "target": 1},
        }
        study, store = opened(**settings | changed)
        reaudited(study, store, only)
        content = summary(store, study) | {"undelivered": []}
        outcome = find_outcome(study, content, "study.yaml", only, only, [])
        remarks = list_remarks(store, study, content["entries"])
        return outcome._replace(remarks=[*remarks, *outcome.remarks])

    return of


def exit_code(outcome):
    return outcome.fields["exit_code"]


@pytest.mark.parametrize("only", ["motor@3", "motor"])
def test_a_version_is_compared_with_the_alias_as_it_is_now(zoo, audit, tmp_path, only):
    """M of 3 is 0.067: 0.01 above that of 1, and 0.06 above that of 2; 0.02 is allowed."""
    warehouse = tmp_path / "warehouse"
    settings = {"gates": INCREASE, "compare_with": "champion"}
    zoo(1, 0.057)
    alias(tmp_path / "zoo" / "motor", champion=1)
    assert exit_code(audit(**settings)) == 4  # a first version has no other to compare with
    zoo(2, 0.007)
    assert exit_code(audit(**settings)) == 0
    alias(tmp_path / "zoo" / "motor", champion=2)
    zoo(3, 0.067)
    assert exit_code(audit(only, **settings)) == 1
    query = f"SELECT found, gate_limit FROM out_verdicts WHERE entry = '{only}'"
    ((change, limit),) = fetched(warehouse, query)
    assert (change, limit) == (pytest.approx(0.06), 0.02)
    query = f"SELECT version_compared FROM out_entries WHERE entry = '{only}'"
    assert fetched(warehouse, query) == [("2",)]


def test_an_alias_that_cannot_be_audited_passes_no_version(zoo, audit, tmp_path):
    settings = {"gates": INCREASE, "compare_with": "champion"}
    zoo(1, 0.057)
    alias(tmp_path / "zoo" / "motor", champion=1)
    audit(**settings)
    (zoo(2, 0.007) / "decaf.yaml").write_text("{}")
    alias(tmp_path / "zoo" / "motor", champion=2)
    zoo(3, 0.067)
    assert exit_code(audit("motor@3", **settings)) == 1


def test_constant_scores_decide_no_limit_on_a_response_that_holds(zoo, audit, tmp_path):
    """M is 0, and all 24 scores are 0.4; only limits that fail, and accuracy, are decided."""
    warehouse = tmp_path / "warehouse"
    gates = AT_MOST | {"accuracy": {"at_least": 0.1}}
    zoo(1, 0)
    outcome = audit(gates=gates)
    assert exit_code(outcome) == 4
    assert "motor 1" in str(outcome.error)
    query = "SELECT DISTINCT metric, verdict, reason IS NOT NULL FROM out_verdicts ORDER BY ALL"
    assert fetched(warehouse, query) == [
        ("accuracy", "pass", False),
        ("endpoint_magnitude", "undecided", True),
    ]
    assert {remark.partition(": ")[0] for remark in outcome.remarks} == {"motor 1"}
    assert exit_code(audit(gates={"endpoint_magnitude": {"at_least": 0.1}})) == 1


@pytest.mark.parametrize(
    ("base", "limit", "code", "words"),
    [
        (0.48, 0.1, 4, "changes in 100"),
        (0.48, 0.03, 1, "0.040"),
        (0.4, 0.1, 4, "0.040"),
    ],
)
def test_a_limit_that_no_score_could_exceed_decides_nothing(zoo, audit, base, limit, code, words):
    """All scores are base or 0.04 more; at 0.4, the decision is always no."""
    zoo(1, 0.04, base=base)
    outcome = audit(gates={"endpoint_magnitude": {"at_most": limit}})
    assert exit_code(outcome) == code
    assert words in str(outcome.error)


def test_fewer_pairs_end_no_failure(zoo, audit, tmp_path):
    """M is 0.191 on all pairs; 0.1 is allowed. Eight rows have too few sources for an interval."""
    standing = "SELECT version, entry_failing_since IS NOT NULL FROM out_standing_verdicts"
    found = "SELECT verdict, found, reason FROM out_verdicts"
    zoo(4, 0.191)
    assert exit_code(audit(gates=AT_MOST)) == 1
    fewer = audit(gates=AT_MOST, rows=8, undecided="pass")
    assert exit_code(fewer) == 1
    assert fetched(tmp_path / "warehouse", standing) == [("4", True)]
    ((verdict, value, reason),) = fetched(tmp_path / "warehouse", found)
    assert (verdict, value) == ("fail", pytest.approx(0.191))
    assert reason in str(fewer.error)
    # Again fewer pairs change nothing; other gates, or pairs on which the limit holds, do.
    assert exit_code(audit(gates=AT_MOST, rows=6)) == 1
    assert exit_code(audit(gates={"endpoint_magnitude": {"at_most": 0.15}}, rows=6)) == 4
