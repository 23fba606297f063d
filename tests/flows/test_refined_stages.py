"""Runs that double the stages of a path: what commands print, kills, another tolerance."""

import signal
from pathlib import Path

import pytest
from ended_commands import refused, succeeded
from registry_folder import put
from running_command import TABLES, receipts, results, wait_for
from small_studies import slow_network
from warehouse_answers import fetched

REASONS = "SELECT path, stage_count, reason FROM out_refinements ORDER BY ALL"
FORWARD_ROWS = "SELECT sum(forward_rows) FROM stg_costs"
NARROW = {"until": 1e-9, "at_most": 17}


@pytest.fixture
def refined(study, tmp_path):
    """Settings of a study of one network on four blocks, which is slow where it is told so."""
    paths = {"blend": study["paths"]["blend"] | {"stages": NARROW}}
    cluster = {"kind": "local", "workers": 1}
    return {**study, "models": [slow_network(tmp_path)], "paths": paths, "cluster": cluster}


@pytest.mark.slow
def test_a_run_ends_on_the_stages_that_it_needs(refined, write, decaf):
    config, root = write(refined), refined["warehouse"]
    plan = succeeded(decaf("plan", config))
    assert "9 stages now, at most 17" in plan
    assert "path blend: 17 stages" in succeeded(decaf("run", config))
    assert fetched(root, REASONS) == [("blend", 17, "at_most")]
    rows = fetched(root, FORWARD_ROWS)

    assert "nothing to do" in succeeded(decaf("run", config))
    # With a wide tolerance the stages that are there suffice.
    wide = {"blend": refined["paths"]["blend"] | {"stages": {"until": 9.0, "at_most": 33}}}
    succeeded(decaf("run", write({**refined, "paths": wide})))
    assert fetched(root, REASONS) == [("blend", 17, "converged")]
    assert fetched(root, FORWARD_ROWS) == rows
    # Nothing is left to score on 17 stages, so the run goes on at once.
    finer = {"blend": refined["paths"]["blend"] | {"stages": {**NARROW, "at_most": 33}}}
    succeeded(decaf("run", write({**refined, "paths": finer})))
    assert fetched(root, REASONS) == [("blend", 33, "at_most")]


@pytest.mark.slow
def test_a_killed_run_goes_on_with_its_stages(refined, write, decaf, start_decaf, tmp_path):
    undisturbed = {**refined, "warehouse": str(tmp_path / "undisturbed")}
    succeeded(decaf("run", write(undisturbed, "undisturbed.yaml")))

    warehouse, config = Path(refined["warehouse"]), write(refined)
    flow = start_decaf("run", config, SLOW_SECONDS="0.4")
    wait_for(lambda: len(receipts(warehouse)) >= 5, flow)  # one of four blocks on 17 stages
    flow.send_signal(signal.SIGKILL)
    flow.wait()
    stored = receipts(warehouse)
    assert len(stored) < 8
    assert "17 stages now" in succeeded(decaf("plan", config))
    succeeded(decaf("run", config))
    finished = receipts(warehouse)
    assert len(finished) == 8
    assert stored.items() <= finished.items(), "committed units were computed again"
    tables = {table: order for table, order in TABLES.items() if table != "core_blocks"}
    assert results(warehouse, tables) == results(undisturbed["warehouse"], tables)


@pytest.mark.slow
def test_a_new_version_and_the_one_before_are_compared_on_the_same_stages(
    refined, write, decaf, tmp_path
):
    zoo, root = tmp_path / "zoo", refined["warehouse"]
    registry = {"kind": "folder", "root": str(zoo), "trusted": ["leaning"]}
    gates = {"evidence": [{"increase": 0.9}, {"at_most": 0.9}]}
    settings = {**refined, "models": [], "registry": registry, "gates": gates}

    def reaudited(at_most):
        paths = {"blend": refined["paths"]["blend"] | {"stages": {**NARROW, "at_most": at_most}}}
        succeeded(decaf("reaudit", write({**settings, "paths": paths})))

    put(zoo / "net" / "1", 0)
    reaudited(9)
    assert fetched(root, REASONS) == [("blend", 9, "at_most")]
    put(zoo / "net" / "2", 1)
    reaudited(17)
    assert fetched(root, REASONS) == [("blend", 17, "at_most")]
    compared = (
        "SELECT version_before, count(DISTINCT trajectories.model_id), min(len(q_plus)) "
        "FROM core_entry_versions AS versions JOIN core_trajectories AS trajectories "
        "ON trajectories.run_id = versions.run_before "
        "WHERE is_newest AND against = 'last_passed' GROUP BY ALL"
    )
    assert fetched(root, compared) == [("1", 2, 17)]
    ((changes,),) = fetched(root, "SELECT count(*) FROM out_verdicts WHERE verdict = 'pass'")
    assert changes > 0
    rows = fetched(root, FORWARD_ROWS)
    reaudited(17)
    assert fetched(root, FORWARD_ROWS) == rows


@pytest.mark.parametrize(
    ("stages", "word"),
    [
        ({"until": 0, "at_most": 17}, "'until'"),
        ({"until": 0.01, "at_most": 5}, "9, 17, 33"),
        ({"until": 0.01, "at_most": 20}, "9, 17, 33"),
        ({"until": 0.01, "most": 17}, "'most'"),
        ({"until": 0.01}, "at_most"),
    ],
    ids=["no tolerance", "below the start", "not reached", "unknown key", "missing key"],
)
def test_a_rule_that_cannot_be_kept_is_refused(refined, write, decaf, stages, word):
    refused(decaf("plan", write({**refined, "stages": stages, "paths": _plain(refined)})), word)


def test_a_rule_is_refused_beside_an_early_stop(refined, write, decaf):
    stop = {"when": "interval", "metric": "evidence", "half_width": 0.1}
    refused(decaf("plan", write({**refined, "stop": stop})), "'stop'")


def _plain(settings):
    return {name: {**path, "stages": None} for name, path in settings["paths"].items()}
