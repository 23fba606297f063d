"""Carrying out a recipe: once for all studies that share a workspace."""

import threading
from typing import NamedTuple

import pytest
import torch
from safetensors.torch import save_file
from small_studies import network_card

from decaf.errors import WriteFailed
from decaf.models.sources.network import NetworkCard
from decaf.studies.scenes.recipes import SceneShortcut


class Outcome(NamedTuple):
    seconds: float


SECONDS = 60
"""Far longer than anything here takes: a hanging test ends."""


def card():
    training = {"recipe": "scene_shortcut", "shortcut": 0.5, "seed": 1}
    return NetworkCard(**network_card("one", training=training))


class Trainings:
    """Stands for the recipe: a training begins, leaves something, and ends when it may."""

    def __init__(self, monkeypatch):
        self.under_way, self.may_end, self.sites = threading.Event(), threading.Event(), []
        monkeypatch.setattr(SceneShortcut, "train", lambda _, network, site: self._train(site))

    def _train(self, site):
        self.sites.append(site)
        save_file({"a": torch.ones(1)}, site.scratch / "epoch_001.safetensors")
        self.under_way.set()
        assert self.may_end.wait(SECONDS)
        assert (site.scratch / "epoch_001.safetensors").exists()
        return Outcome(2.0)


def in_background(file):
    thread = threading.Thread(target=card().train, args=(file, "cpu"), daemon=True)
    thread.start()
    return thread


@pytest.fixture
def target(tmp_path):
    """Where the checkpoint goes: alone in its folder, once it is there with what came out."""
    return tmp_path / "checkpoints" / "one.safetensors"


def left_beside(target):
    return sorted(path.name for path in target.parent.iterdir())


WHOLE = ["one.safetensors", "one.safetensors.outcome.json"]


def test_two_studies_of_one_workspace_train_a_network_once(target, monkeypatch):
    trainings, waits = Trainings(monkeypatch), threading.Event()
    monkeypatch.setattr("decaf.models.training.network.LOG.warning", lambda *_: waits.set())
    first = in_background(target)
    assert trainings.under_way.wait(SECONDS)
    second = in_background(target)
    assert waits.wait(SECONDS)
    trainings.may_end.set()
    for thread in (first, second):
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert len(trainings.sites) == 1
    assert left_beside(target) == WHOLE


def test_who_waited_goes_on_where_the_other_failed(target, monkeypatch):
    trainings, waits = Trainings(monkeypatch), threading.Event()
    monkeypatch.setattr("decaf.models.training.network.LOG.warning", lambda *_: waits.set())

    def failing(_, network, site):
        save_file({"a": torch.ones(1)}, site.scratch / "epoch_001.safetensors")
        trainings.under_way.set()
        assert waits.wait(SECONDS)
        monkeypatch.setattr(SceneShortcut, "train", lambda _, network, site: trainings._train(site))
        raise RuntimeError("the power went")

    monkeypatch.setattr(SceneShortcut, "train", failing)
    trainings.may_end.set()
    failed = []

    def first():
        with pytest.raises(RuntimeError, match="the power went"):
            card().train(target, "cpu")
        failed.append(True)

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    assert trainings.under_way.wait(SECONDS)
    card().train(target, "cpu")
    thread.join(SECONDS)
    assert failed == [True]
    assert len(trainings.sites) == 1
    assert left_beside(target) == WHOLE


def test_a_workspace_that_cannot_be_written_says_so(target):
    target.parent.write_text("a file in the way")
    with pytest.raises(WriteFailed, match=r"checkpoints cannot be made.*'workspace:'"):
        card().train(target, "cpu")
