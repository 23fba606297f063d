"""A study that trains on scenes: killed in the middle of a training, it ends with its bytes."""

import json
import os
import signal
import subprocess

import in_process
import psutil
import pytest
from ended_commands import refused
from running_command import DECAF, wait_for
from small_studies import network_card, of_scenes

from decaf.models.checkpoint import read_metadata
from decaf.models.training.files import epoch_file, read_outcome
from decaf.models.training.progress import RECORDS
from decaf.plan.study import load_study
from warehouse.query.catalog import connect

pytestmark = pytest.mark.usefixtures("one_thread")

EPOCHS = 12
RECIPE = {"recipe": "scene_task", "task": "context_gate", "sampling": "cells", "seed": 1}
RECIPE |= {"scenes": 2000, "validation_scenes": 80, "batch_size": 32, "epochs": EPOCHS}
RECIPE |= {"keep_epochs": [1], "gate": 1.0}


@pytest.fixture
def settings(tmp_path):
    card = network_card("net", training=RECIPE)
    return of_scenes(tmp_path, [card, card | {"id": "early", "epoch": 1}], study="gate")


@pytest.mark.slow
def test_a_killed_training_ends_with_the_bytes_of_one_that_was_not(
    settings, write, decaf, workers, prefect_server, tmp_path
):
    file = write(settings | {"cluster": {"kind": "local", "workers": 1}})
    study = load_study(file)
    (target,) = set(in_process.checkpoints(study).values())
    progress = target.with_suffix(".progress") / "optimizer.safetensors"
    command, environment = [DECAF, "run", str(file)], {**os.environ, **prefect_server}
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as flow:
        wait_for(progress.exists, flow)
        started = psutil.Process(flow.pid).children(recursive=True)
        for process in (flow, *started):
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs(started)
    assert not target.exists()
    kept = epoch_file(target, 1)
    before = json.loads(read_metadata(progress)[RECORDS]), kept.stat().st_mtime_ns
    assert 0 < len(before[0]) < EPOCHS

    resumed = decaf("run", write(settings | {"cluster": workers}), **prefect_server)
    assert resumed.returncode == 0, resumed.stderr
    outcome = read_outcome(target)
    assert (outcome["epochs"][: len(before[0])], kept.stat().st_mtime_ns) == before
    assert (outcome["epochs_trained"], outcome["reached_gate"]) == (EPOCHS, False)
    undisturbed = tmp_path / "undisturbed" / "net.safetensors"
    study.models[0].train(undisturbed, "cpu")
    assert target.read_bytes() == undisturbed.read_bytes()
    assert kept.read_bytes() == epoch_file(undisturbed, 1).read_bytes()

    with connect(tmp_path / "warehouse") as connection:
        audited = connection.sql(
            """
            SELECT model_id, (training ->> '$.outcome.epochs_trained')::INT,
                (training ->> '$.outcome.reached_gate')::BOOLEAN, count(*)
            FROM stg_models JOIN core_profiles USING (study, model_id)
            GROUP BY ALL ORDER BY model_id
            """
        ).fetchall()
    assert audited == [("early", 1, False, 4), ("net", EPOCHS, False, 4)]


def test_an_epoch_that_is_not_kept_is_named(settings, write, decaf):
    settings["models"][1]["epoch"] = 2
    words = "'epoch' needs 'training' that keeps epoch 2, with 'keep_epochs:' (found [1])"
    refused(decaf("plan", write(settings)), "study.yaml:", words)
