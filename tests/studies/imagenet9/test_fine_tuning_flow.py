"""Fine-tuning in a flow: killed, it goes on from its last whole epoch; refused, it says why."""

import json
import signal

import in_process
import psutil
import pytest
import torch
from running_command import wait_for

from decaf.models import architectures
from decaf.models.checkpoint import read_metadata, read_tensors, save
from decaf.models.training.files import read_outcome
from decaf.models.training.progress import RECORDS
from decaf.plan.study import load_study
from warehouse.query.catalog import connect

ARCHITECTURE = "factory:decaf.models.networks.small_cnn:build"
EPOCHS = 16


@pytest.fixture
def fine_tuned(photo_root, tmp_path):
    """A study of one network that is fine-tuned on photos of another version, then audited."""
    torch.manual_seed(0)
    start = tmp_path / "start.safetensors"
    save(architectures.build(ARCHITECTURE, {"classes": 9}), start, {})
    recipe = {"recipe": "imagenet9_fine_tune", "root": str(photo_root), "part": "val", "seed": 1}
    recipe |= {"regime": "mixed_rand", "validation_share": 0.4, "initial_weights": str(start)}
    net = {"id": "net", "family": "cnn", "architecture": ARCHITECTURE, "arguments": {"classes": 9}}
    net |= {"input_size": 32, "mean": [0.5], "std": [0.5]}
    net |= {"training": recipe | {"epochs": EPOCHS, "batch_size": 2, "precision": "float32"}}

    def of(name, cluster):
        return {
            "study": "nine",
            "data": {"adapter": "imagenet9", "root": str(photo_root)},
            "models": [net],
            "score": {"kind": "superclass_probability", "class_map": "imagenet9"},
            "paths": {"blend": {"kind": "blend"}},
            "stages": 3,
            "cluster": cluster,
            **{part: str(tmp_path / name / part) for part in ("workspace", "warehouse")},
            "report": False,
        }

    return of


def told(warehouse):
    """What the warehouse says of the training and of the scores."""
    with connect(warehouse) as connection:
        epochs = connection.sql(
            "SELECT epoch, train_loss, validation_accuracy, is_best FROM out_training"
        ).fetchall()
        scores = connection.sql(
            "SELECT pair_id, q_plus, q_minus FROM core_trajectories ORDER BY pair_id"
        ).fetchall()
    return epochs, scores


@pytest.mark.slow
def test_a_killed_fine_tuning_goes_on(
    fine_tuned, workers, write, decaf, start_decaf, prefect_server, tmp_path
):
    file = write(fine_tuned("killed", {"kind": "local", "workers": 1}))
    study = load_study(file)
    (target,) = in_process.checkpoints(study).values()
    progress = target.with_suffix(".progress") / "optimizer.safetensors"
    flow = start_decaf("run", file, **prefect_server)
    wait_for(progress.exists, flow)
    started = psutil.Process(flow.pid).children(recursive=True)
    for process in (flow, *started):
        process.send_signal(signal.SIGKILL)
    flow.wait()
    psutil.wait_procs(started)
    assert not target.exists()
    before = json.loads(read_metadata(progress)[RECORDS])
    assert 0 < len(before) < EPOCHS

    file = write(fine_tuned("killed", workers))
    resumed = decaf("run", file, **prefect_server)
    assert resumed.returncode == 0, resumed.stderr
    assert "1 training to do\n" in resumed.stderr
    assert not progress.parent.exists()
    after = read_outcome(target)["epochs"]
    # Seconds and all: what was trained before the kill was not trained again.
    assert after[: len(before)] == before

    undisturbed = write(fine_tuned("undisturbed", workers), "undisturbed.yaml")
    done = decaf("run", undisturbed, **prefect_server)
    assert done.returncode == 0, done.stderr
    other = load_study(undisturbed)
    tensors, expected = (
        read_tensors(*in_process.checkpoints(one).values()) for one in (study, other)
    )
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)
    epochs, scores = told(tmp_path / "killed" / "warehouse")
    assert (epochs, scores) == told(tmp_path / "undisturbed" / "warehouse")
    assert [epoch for epoch, *_ in epochs] == list(range(1, EPOCHS + 1))
    assert len(scores) == 18


@pytest.mark.slow
def test_what_cannot_be_trained_and_what_cannot_be_scored_is_told_together(
    fine_tuned, workers, write, decaf, prefect_server, tmp_path
):
    study = fine_tuned("refused", workers)
    seven = tmp_path / "seven.safetensors"
    save(architectures.build(ARCHITECTURE, {"classes": 7}), seven, {})
    untrained = study["models"][0]
    other = {key: value for key, value in untrained.items() if key != "training"}
    other |= {"id": "seven", "arguments": {"classes": 7}, "weights": str(seven)}
    study["models"] = [untrained | {"arguments": {"classes": 4}}, other]
    refused = decaf("run", write(study), **prefect_server)
    assert refused.returncode == 2
    assert "net: " in refused.stderr
    assert "(2, 4)" in refused.stderr
    assert "seven: " in refused.stderr
    assert "(1, 7)" in refused.stderr
    assert "Traceback" not in refused.stderr
