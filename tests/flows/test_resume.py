"""Kill a flow, kill a worker, fill the disk: the same command again ends as if nothing was."""

import os
import signal
import subprocess

import featured_images
import psutil
import pytest
from ended_commands import succeeded
from running_command import DECAF, PATIENCE_SECONDS, receipts, results, wait_for
from small_studies import slow_network
from warehouse_answers import fetched, queried_counts, rounded


@pytest.fixture
def slow_study(study, tmp_path):
    """Ten blocks of a model that is slow where `SLOW_SECONDS` says so."""
    data = {**study["data"], "sources": 10}
    return {**study, "models": [slow_network(tmp_path)], "data": data, "sources_per_block": 1}


def workers_of(process):
    """Forks of the one process that has imported what workers need."""
    return [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if any("multiprocessing.forkserver" in word for word in child.parent().cmdline())
    ]


def kill_with_workers(flow):
    """Kill a flow, and wait for its workers, which end with it."""
    workers = workers_of(flow)
    flow.send_signal(signal.SIGKILL)
    assert flow.wait() == -signal.SIGKILL
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE_SECONDS)
    assert not alive


@pytest.mark.slow
def test_a_killed_flow_and_a_killed_worker_leave_no_trace(
    slow_study, write, decaf, start_decaf, prefect_server, tmp_path
):
    undisturbed = {**slow_study, "warehouse": str(tmp_path / "undisturbed")}
    succeeded(decaf("run", write(undisturbed, "undisturbed.yaml"), **prefect_server))

    warehouse = tmp_path / "warehouse"
    slowly = {**prefect_server, "SLOW_SECONDS": "0.6"}

    config = write({**slow_study, "cluster": {"kind": "local", "workers": 1}})
    flow = start_decaf("run", config, **slowly)
    wait_for(lambda: len(receipts(warehouse)) >= 2, flow)
    kill_with_workers(flow)
    after_flow = receipts(warehouse)
    assert 2 <= len(after_flow) < 10

    config = write({**slow_study, "cluster": {"kind": "local", "workers": 2}})
    flow = start_decaf("run", config, **slowly)
    wait_for(lambda: len(receipts(warehouse)) > len(after_flow), flow)
    workers_of(flow)[0].kill()
    # Who asks meanwhile sees a whole warehouse; the run goes on for several seconds.
    assert "running" in decaf("status", "-w", warehouse).stdout
    succeeded(decaf("sql", "-w", warehouse, "SELECT count(DISTINCT commit_key) FROM stg_costs"))
    assert flow.wait() == 0
    finished = receipts(warehouse)
    assert len(finished) == 10
    assert after_flow.items() <= finished.items(), "committed units were computed again"

    assert results(tmp_path / "undisturbed") == results(warehouse)
    one, other = (
        queried_counts(root, "trajectories", "profiles", "costs", "runs")
        for root in (tmp_path / "undisturbed", warehouse)
    )
    assert one == other
    assert not list(warehouse.rglob("*.tmp"))


ATTRIBUTED = "SELECT count(*) FROM stg_costs WHERE kind = 'attribute'"


@pytest.mark.slow
def test_attributions_of_a_killed_study_are_those_of_one_that_was_not(
    slow_study, write, decaf, start_decaf, prefect_server, tmp_path
):
    """Four blocks of a gradient method and of a game that two methods share: eight commits."""
    features = featured_images.mask_files(
        tmp_path / "masks", featured_images.photos(tmp_path / "photos")
    )
    methods = {name: {"kind": name} for name in ("input_x_gradient", "exact_shapley", "part_lime")}
    given = slow_study | {
        "data": {"adapter": "image_features", "images": str(tmp_path / "photos")}
        | {"features": features},
        "paths": {"removal": {"kind": "removal"}},
        "attributions": methods,
        "epsilon": 1e-7,
    }
    undisturbed = tmp_path / "undisturbed"
    succeeded(decaf("run", write(given | {"warehouse": str(undisturbed)}), **prefect_server))
    assert fetched(undisturbed, ATTRIBUTED) == [(8,)]

    warehouse = tmp_path / "warehouse"
    config = write(given | {"cluster": {"kind": "local", "workers": 1}})
    flow = start_decaf("run", config, **prefect_server, SLOW_SECONDS="0.6")
    wait_for(lambda: receipts(warehouse) and fetched(warehouse, ATTRIBUTED) > [(0,)], flow)
    kill_with_workers(flow)
    before = receipts(warehouse)
    assert [(0,)] < fetched(warehouse, ATTRIBUTED) < [(8,)]

    succeeded(decaf("run", config, **prefect_server))
    assert before.items() < receipts(warehouse).items(), "committed units were computed again"
    scores = "SELECT model_id, pair_id, method, region_score FROM core_attributions ORDER BY ALL"
    assert fetched(warehouse, scores) == fetched(undisturbed, scores)
    # SQL adds up in the order in which its threads get to the files.
    found, expected = (
        [tuple(map(rounded, row)) for row in fetched(root, "FROM core_attribution_quality")]
        for root in (warehouse, undisturbed)
    )
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.slow
def test_a_full_disk_is_explained_and_the_run_goes_on_when_there_is_room(
    study, write, decaf, prefect_server, small_disk
):
    config = write({**study, "warehouse": str(small_disk / "warehouse")})
    done = decaf("run", config, **prefect_server)
    assert done.returncode in (2, 3)
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(small_disk.rglob("*.tmp"))
    before = receipts(small_disk / "warehouse")
    assert len(before) < 8

    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    succeeded(decaf("run", config, **prefect_server))
    assert before.items() <= receipts(small_disk / "warehouse").items()


@pytest.mark.slow
def test_sigterm_ends_workers_and_says_how_to_go_on(slow_study, write, tmp_path):
    environment = {**os.environ, "SLOW_SECONDS": "0.6"}
    config = write({**slow_study, "cluster": {"kind": "local", "workers": 1}})
    command = [DECAF, "run", str(config)]
    options = {"cwd": tmp_path, "env": environment, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **options) as flow:
        wait_for(lambda: receipts(tmp_path / "warehouse"), flow)
        started = psutil.Process(flow.pid).children(recursive=True)
        assert workers_of(flow)
        flow.terminate()
        said = flow.stderr.read()
    assert flow.returncode == 143, said
    assert "stopped; " in said
    assert "Traceback" not in said
    _, alive = psutil.wait_procs(started, timeout=PATIENCE_SECONDS)
    assert not alive
