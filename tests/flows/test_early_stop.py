"""Audits that stop when enough is known: gates of a registry, widths of intervals, and resuming."""

import signal

import pytest
from ended_commands import refused, succeeded
from registry_folder import put
from running_command import receipts, wait_for
from small_studies import slow_network
from warehouse_answers import fetched

STOPS = "SELECT model_id, block_count, planned_block_count, is_decided FROM out_stops ORDER BY ALL"
LOOKS = (
    "SELECT model_id, metric, rule, pair_type, block_count, source_count, found, lower_limit, "
    "upper_limit, verdict, is_last FROM out_looks ORDER BY ALL"
)
SCORED = "SELECT model_id, count(DISTINCT source_id) FROM core_profiles GROUP BY ALL ORDER BY ALL"
COMMITS = "SELECT count(*) FROM stg_costs"


@pytest.fixture
def registered(study, tmp_path):
    """Settings of a study of 60 scenes over a registry, in 12 blocks."""
    # Its events go to a server that other tests of re-audits ask, too.
    settings = {**study, "study": "stopping", "models": []}
    settings["paths"] = {"blend": {"kind": "blend", "sigma": 1.15}}
    settings["data"] = {**study["data"], "sources": 60}
    settings["sources_per_block"] = 5
    settings["registry"] = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["leaning"]}
    settings["gates"] = {
        "evidence": [{"increase": 0.02, "pair_type": "wall_hue"}, {"at_most": 0.9}],
        "fragility": {"at_most": 0.5},
    }
    settings["stop"] = {"when": "gates_decided", "error": 0.1}
    return settings


@pytest.mark.slow
def test_a_registry_is_scored_until_its_gates_are_decided(
    registered, write, decaf, prefect_server, tmp_path
):
    config, zoo, root = write(registered), tmp_path / "zoo", registered["warehouse"]
    put(zoo / "net" / "1", 0)
    succeeded(decaf("reaudit", config, **prefect_server))
    # A first version has limits of its own alone, which are far away: the first look decides.
    ((first, *stopped),) = fetched(root, STOPS)
    assert stopped == [2, 12, True]
    verdicts = "SELECT DISTINCT rule, verdict FROM out_looks ORDER BY ALL"
    assert fetched(root, verdicts) == [("at_most", "pass"), ("increase", "not applicable")]
    assert fetched(root, SCORED) == [(first, 10)]

    put(zoo / "net" / "2", 0, lean=1.5)
    worse = refused(decaf("reaudit", config, **prefect_server), "net 2 failed evidence", code=1)
    seconds = fetched(root, STOPS)
    # The version before is scored as far as the comparison needs it, and each block once.
    ((_, blocks, _, _), _) = seconds
    assert seconds == sorted(
        (name, blocks, 12, True) for name in (first, second_of(seconds, first))
    )
    assert 2 < blocks < 12
    assert f"{blocks} of 12 blocks, {5 * blocks} of 60 sources: 1 fail" in worse
    looks = (
        "SELECT block_count, found, lower_limit, upper_limit, verdict FROM out_looks "
        "WHERE rule = 'increase'"
    )
    *before, (last, found, lower, upper, verdict) = fetched(root, looks)
    assert (last, verdict) == (blocks, "fail")
    assert {row[-1] for row in before} == {"undecided"}
    assert 0.02 < lower < found < upper
    history = succeeded(decaf("history", "net", "-w", root))
    assert f"{5 * blocks} of 60" in history

    again = refused(decaf("reaudit", config, **prefect_server), "net 2 failed", code=1)
    assert fetched(root, STOPS) == seconds, again
    done = refused(
        decaf("reaudit", config, "--to-the-end", **prefect_server), "net 2 failed", code=1
    )
    assert f"{(12 - blocks)}" in done
    assert fetched(root, STOPS) == fetched(root, LOOKS) == []
    assert [count for _, count in fetched(root, SCORED)] == [60, 60]
    change = (
        "SELECT change FROM out_drift WHERE metric = 'evidence' AND pair_type = 'wall_hue' "
        "AND path = 'blend'"
    )
    assert lower < fetched(root, change)[0][0] < upper


def second_of(stops, first):
    (second,) = (name for name, *_ in stops if name != first)
    return second


@pytest.fixture
def narrowed(study):
    """Settings of a study of 40 scenes, in 20 blocks, until its intervals are narrow."""
    data = {**study["data"], "sources": 40}
    stop = {"when": "interval", "metric": "evidence", "half_width": 0.15, "error": 0.1, "every": 2}
    paths = {"blend": {"kind": "blend", "sigma": 1.15}}
    return {**study, "data": data, "paths": paths, "stop": stop}


@pytest.mark.slow
def test_a_study_is_scored_until_its_intervals_are_narrow(narrowed, write, decaf, prefect_server):
    config, root = write(narrowed), narrowed["warehouse"]
    done = succeeded(decaf("run", config, **prefect_server))
    stops = fetched(root, STOPS)
    assert [row[::2] for row in stops] == [("small_cnn", 20), ("small_vit", 20)]
    assert all(
        2 < blocks < 20 and blocks % 2 == 0 and is_decided for _, blocks, _, is_decided in stops
    )
    assert [count for _, count in fetched(root, SCORED)] == [
        2 * blocks for _, blocks, _, _ in stops
    ]
    looks = fetched(root, LOOKS)
    for *_, lower, upper, verdict, is_last in looks:
        assert (verdict == "narrow") == (upper - lower <= 0.3) == is_last
    assert "stopped early" in succeeded(decaf("status", "-w", root))
    count = fetched(root, COMMITS)
    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server)), done
    assert fetched(root, COMMITS) == count

    succeeded(decaf("run", config, "--to-the-end", **prefect_server))
    assert fetched(root, STOPS) == fetched(root, LOOKS) == []
    assert [count for _, count in fetched(root, SCORED)] == [40, 40]
    whole = {
        row[:2]: row[2]
        for row in fetched(root, "SELECT model_id, pair_type, evidence FROM out_model_profiles")
    }
    assert len(whole) == 4
    for model, _, _, pair_type, *_, lower, upper, _, _ in looks:
        assert lower <= whole[model, pair_type] <= upper
    # A run to the end is enough for whoever asks for less.
    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server))
    assert fetched(root, STOPS) == []


@pytest.mark.slow
def test_a_killed_audit_stops_where_an_undisturbed_one_does(
    narrowed, write, decaf, start_decaf, prefect_server, tmp_path
):
    settings = {**narrowed, "models": [slow_network(tmp_path)]}
    undisturbed = {**settings, "warehouse": str(tmp_path / "undisturbed")}
    succeeded(decaf("run", write(undisturbed, "undisturbed.yaml"), **prefect_server))
    expected = [fetched(undisturbed["warehouse"], question) for question in (STOPS, LOOKS)]
    ((_, blocks, _, _),) = expected[0]

    config, root = write(settings), settings["warehouse"]
    killed = start_decaf("run", config, **prefect_server, SLOW_SECONDS="0.3")
    wait_for(lambda: len(receipts(tmp_path / "warehouse")) >= blocks, killed)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert fetched(root, STOPS) == []
    succeeded(decaf("run", config, **prefect_server))
    assert [fetched(root, question) for question in (STOPS, LOOKS)] == expected


@pytest.mark.slow
def test_where_nothing_is_known_before_the_end(narrowed, write, decaf, prefect_server):
    narrowed["models"], narrowed["data"]["sources"] = narrowed["models"][:1], 8
    narrowed["stop"]["half_width"] = 0.001
    root = narrowed["warehouse"]
    succeeded(decaf("run", write(narrowed), **prefect_server))
    # Whoever has all sources knows their mean.
    assert fetched(root, STOPS) == []
    assert fetched(root, SCORED) == [("small_cnn", 8)]
    narrowed["stop"]["at_most"] = "3 blocks"
    narrowed["warehouse"] += "_of_some"
    root = narrowed["warehouse"]
    done = succeeded(decaf("run", write(narrowed), **prefect_server))
    assert fetched(root, STOPS) == [("small_cnn", 3, 4, False)]
    assert "6 of 8 sources" in done


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"stop": {"when": "gates_decided"}}, ["study.yaml", "needs 'gates', and so a 'registry'"]),
        ({"stop.at_least": "30 blocks"}, ["'stop.at_least'", "'30 blocks'", "has 20 blocks"]),
        (
            {"score": {"kind": "target_logit", "classes": 2}},
            ["'stop' needs 'bounds'", "target_logit can have"],
        ),
        ({"stop.bounds": [0, 1]}, ["class_probability", "'bounds'"]),
    ],
)
def test_what_cannot_stop_is_refused(narrowed, write, decaf, keys, words):
    for key, value in keys.items():
        place = narrowed
        *above, name = key.split(".")
        for part in above:
            place = place[part]
        place[name] = value
    refused(decaf("plan", write(narrowed)), *words)
