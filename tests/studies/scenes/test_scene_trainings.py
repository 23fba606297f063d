"""The recipes of the controlled suite: what they learn from, and how a training goes on."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from decaf.models.networks import small_cnn
from decaf.models.recipes.base import TrainingSite
from decaf.studies.scenes import training
from decaf.studies.scenes.factors import scene_index, scene_levels
from decaf.studies.scenes.recipes import SceneShortcut, SceneTask, SceneVariant
from decaf.studies.scenes.render import render
from decaf.studies.scenes.splits import split_scenes
from decaf.studies.scenes.tasks import balance_labels, bins, labels
from decaf.studies.scenes.training import SceneTraining

WALL, SHAPE = 1, 4
FEW = {"seed": 0, "scenes": 400, "epochs": 3, "learning_rate": 0.01, "batch_size": 32}

SHORTCUT = FEW | {"shortcut": 1.0, "validation_scenes": 400}

pytestmark = pytest.mark.usefixtures("one_thread")


def shortcut(**given):
    return SceneShortcut(recipe="scene_shortcut", **SHORTCUT | given)


def task(**given):
    quick = FEW | {"task": "object_color", "validation_scenes": 80}
    return SceneTask(recipe="scene_task", **quick | given)


def network(seed=0):
    torch.manual_seed(seed)
    return small_cnn.build(width=4)


@pytest.fixture
def site(tmp_path):
    """Where trainings keep nothing, or what a function does with an epoch."""

    def made(keep=None, name="scratch"):
        (tmp_path / name).mkdir(exist_ok=True)
        return TrainingSite("", torch.device("cpu"), torch.nn.Identity(), tmp_path / name, keep)

    return made


def weights(network):
    return torch.cat([value.flatten().double() for value in network.state_dict().values()])


@pytest.fixture
def drawn(monkeypatch):
    """Levels of all scenes that a training reads, in their order."""
    read = []

    def record(images, numbers):
        read.append(scene_levels(numbers))
        return render(numbers)

    monkeypatch.setattr(training, "read_scenes", record)
    return read


@pytest.mark.parametrize(
    "given",
    [
        {"shortcut": 0.49},
        {"shortcut": 1.01},
        {"scenes": 401},
        {"batch_size": 3},
        {"epochs": 0},
        {"scenes": 24_000},
    ],
)
def test_settings_of_a_shortcut_out_of_range(given):
    with pytest.raises(ValidationError):
        shortcut(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"task": "colour"}, "object_color"),
        ({"sampling": "cells", "scenes": 404}, "multiple of 8"),
        ({"epochs_at_most": 2}, "'epochs', 3"),
        ({"epochs_at_most": 4, "gate": None}, "'gate'"),
        ({"gate": 1.1}, "1"),
        ({"validation_scenes": 81}, "multiple of 8"),
        ({"keep_epochs": [4]}, "1 to 3"),
    ],
)
def test_settings_of_a_task_that_do_not_fit(given, words):
    with pytest.raises(ValidationError, match=words):
        task(**given)


def test_a_wall_that_gives_the_label_away_is_learned_instead_of_the_shape(site):
    trained = network()
    before = weights(trained)
    outcome = shortcut().train(trained, site())
    assert not trained.training
    assert not torch.equal(weights(trained), before)
    assert outcome.train_accuracy > 0.9
    assert outcome.aligned_accuracy > 0.85
    assert outcome.reversed_accuracy < 0.2
    assert outcome.vulnerability == outcome.aligned_accuracy - outcome.reversed_accuracy
    assert outcome.validation_accuracy == pytest.approx(0.5, abs=0.05)
    assert (outcome.epochs_trained, outcome.reached_gate) == (3, None)
    assert outcome.seconds > 0
    assert outcome.images_per_second > 0


def test_vulnerability_counts_what_the_network_says_of_every_scene(drawn, site):
    """By brute force: the same scenes with other walls, one at a time."""
    trained = network()
    outcome = shortcut(shortcut=0.9, validation_scenes=80).train(trained, site())

    def accuracy(scenes):
        assert len(scenes) == 80
        hits = 0
        for levels in scenes:
            pixels = render(scene_index(levels[None]))[0]
            image = torch.from_numpy(pixels / 127.5 - 1).float().permute(2, 0, 1)
            hits += int(trained(image[None]).argmax()) == levels[SHAPE]
        return hits / 80

    aligned, reversed_, _ = drawn
    assert (outcome.aligned_accuracy, outcome.reversed_accuracy) == (
        accuracy(aligned),
        accuracy(reversed_),
    )
    assert outcome.vulnerability == accuracy(aligned) - accuracy(reversed_) != 0


def test_the_same_seed_gives_the_same_weights(site):
    first, again, other = network(), network(), network()
    torch.manual_seed(1)
    outcome = task(epochs=1).train(first, site(name="first"))
    torch.manual_seed(2)
    assert task(epochs=1).train(again, site(name="again"))[:2] == outcome[:2]
    task(epochs=1, seed=1).train(other, site(name="other"))
    assert torch.equal(weights(first), weights(again))
    assert not torch.equal(weights(first), weights(other))


def test_epochs_are_kept_with_what_they_can_do(site):
    kept, plain, trained = {}, network(), network()

    def keep(epoch, network, outcome):
        kept[epoch] = weights(network), outcome

    outcome = shortcut(keep_epochs=[3, 1]).train(trained, site(keep))
    assert list(kept) == [1, 3]
    last_weights, last = kept[3]
    assert torch.equal(last_weights, weights(trained))
    assert not torch.equal(kept[1][0], last_weights)
    assert last == outcome._asdict()
    assert kept[1][1]["epochs_trained"] == len(kept[1][1]["epochs"]) == 1
    # Keeping changes nothing.
    shortcut().train(plain, site(name="plain"))
    assert torch.equal(weights(plain), last_weights)


def test_walls_of_twins(drawn, site):
    many = {"scenes": 4000, "validation_scenes": 2000}
    shortcut(shortcut=0.9, **many).training(network(), site())
    aligned, reversed_, learned = drawn
    assert len(learned) == 4000
    for scenes, probability in ((learned, 0.9), (aligned, 0.95), (reversed_, 0.05)):
        assert (np.bincount(scenes[:, SHAPE]) == len(scenes) // 2).all()
        share = ((scenes[:, WALL] >= 5) == scenes[:, SHAPE]).mean()
        assert share == pytest.approx(probability, abs=0.03)
        assert set(scenes[:, WALL]) == set(range(10))
    assert (np.delete(aligned, WALL, axis=1) == np.delete(reversed_, WALL, axis=1)).all()
    others = [
        set(map(tuple, np.delete(scenes, (WALL, SHAPE), axis=1))) for scenes in (learned, aligned)
    ]
    assert others[0].isdisjoint(others[1])


def test_walls_of_scenes_of_the_split(drawn, site):
    recipe = shortcut(shortcut=0.95, scenes=1000, sampling="split", validation_scenes=200)
    recipe.training(network(), site())
    aligned, reversed_, learned = drawn
    allowed = set(map(tuple, scene_levels(split_scenes("train"))))
    assert set(map(tuple, learned)) <= allowed
    assert len(set(map(tuple, learned))) == 1000
    assert ((learned[:, WALL] >= 5) == learned[:, SHAPE]).sum() == 950
    expected = np.delete(scene_levels(split_scenes("validation")[:200]), WALL, axis=1)
    for scenes in (aligned, reversed_):
        assert (np.delete(scenes, WALL, axis=1) == expected).all()


def test_cells_are_the_first_of_each(drawn, site):
    """By brute force, one scene after another."""
    task(sampling="cells", task="context_gate").training(network(), site())
    learned, held_out = drawn
    for levels, split, share in ((learned, "train", 50), (held_out, "validation", 10)):
        counts, expected = {}, []
        for scene in split_scenes(split)[:3000]:
            row = scene_levels(np.array([scene]))[0]
            cell = (row[2] >= 5, row[1] >= 5, row[4])
            counts[cell] = counts.get(cell, 0) + 1
            if counts[cell] <= share:
                expected.append(tuple(row))
        assert list(map(tuple, levels)) == expected


def test_uniform_scenes_are_the_first_of_the_split(drawn, site):
    begun = task(task="color_shape_xor").training(network(), site())
    assert (drawn[0] == scene_levels(split_scenes("train")[:400])).all()
    a, _, h = bins(drawn[0]).T
    assert (begun.scenes.labels.numpy() == (a != h)).all()


def test_batches_show_every_scene_once_in_another_order_in_every_epoch(site):
    begun = task().training(network(), site())
    orders = []
    for epoch in (1, 2):
        count, batches = begun.batches(epoch)
        batches = list(batches)
        assert count == len(batches) == 13
        assert {number for number, _ in batches} == {epoch}
        orders.append(torch.cat([chosen for _, chosen in batches]).tolist())
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(400))
    assert orders[0] != orders[1]


def test_the_rate_rises_falls_and_begins_lower_beyond_the_epochs(site):
    begun = task(epochs=4, warm_up=0.5, learning_rate=0.8, epochs_at_most=6, gate=1.0).training(
        network(), site()
    )
    rates = [begun.rate(epoch, step, 2) for epoch in range(1, 7) for step in range(2)]
    expected = [0.2, 0.4, 0.6, 0.8, 0.8, 0.4 + 0.4 / 2**0.5, 0.4, 0.4 - 0.4 / 2**0.5]
    expected += [0.08, 0.04 + 0.04 / 2**0.5, 0.04, 0.04 - 0.04 / 2**0.5]
    assert rates == pytest.approx(expected)


def test_a_training_is_extended_until_it_reaches_its_gate(site, monkeypatch):
    def trained(accuracies, name, **given):
        rest = iter(accuracies)
        monkeypatch.setattr(SceneTraining, "measure", lambda _: {"validation_accuracy": next(rest)})
        outcome = task(scenes=8, epochs=2, **given).train(network(), site(name=name))
        return outcome.epochs_trained, outcome.reached_gate

    wanted = {"gate": 0.9, "epochs_at_most": 5}
    assert trained([1.0, 0.8, 0.8, 0.9], "late", **wanted) == (4, True)
    assert trained([0.1, 0.9], "early", **wanted) == (2, True)
    assert trained([0.1, 0.2, 0.3, 0.4, 0.5], "never", **wanted) == (5, False)
    assert trained([0.1, 0.2], "short", gate=0.9) == (2, False)
    assert trained([0.1, 0.2], "free", gate=None) == (2, None)


class Killed(Exception):
    pass


@pytest.mark.parametrize(
    "recipe",
    [
        task(sampling="cells", keep_epochs="all", gate=1.0, epochs_at_most=5),
        shortcut(shortcut=0.9, keep_epochs="all", validation_scenes=80),
        SceneVariant(
            recipe="scene_variant",
            variant="fragile",
            clean_epochs=1,
            keep_epochs="all",
            validation_scenes=80,
            **FEW | {"scenes": 64},
        ),
    ],
    ids=lambda recipe: recipe.recipe,
)
def test_a_training_that_is_killed_ends_with_the_same_bytes(recipe, site, monkeypatch):
    """Killed between the weights of an epoch and its end, then at the end of the next one."""
    kept = {}

    def keep(epoch, network, outcome):
        kept.setdefault(epoch, []).append(weights(network))

    whole, resumed = network(), network()
    expected = recipe.train(whole, site(keep, "whole"))
    moments = [
        ("decaf.models.training.progress.save_tensors", 2),
        ("decaf.models.training.progress.save", 2),
    ]
    for target, survives in moments:
        module, _, name = target.rpartition(".")
        real = getattr(__import__(module, fromlist=[name]), name)
        calls = iter(range(survives - 1))

        def stops(*given, real=real, calls=calls):
            if next(calls, None) is None:
                raise Killed
            return real(*given)

        with monkeypatch.context() as patch:
            patch.setattr(target, stops)
            torch.manual_seed(99)
            with pytest.raises(Killed):
                recipe.train(network(), site(keep, "stopped"))
    outcome = recipe.train(resumed, site(keep, "stopped"))
    assert torch.equal(weights(resumed), weights(whole))
    assert outcome.epochs_trained == expected.epochs_trained
    for record, other in zip(outcome.epochs, expected.epochs, strict=True):
        same = record.keys() - {"seconds", "learning_seconds"}
        assert {key: record[key] for key in same} == {key: other[key] for key in same}
    for epoch, states in kept.items():
        assert all(torch.equal(state, states[0]) for state in states), epoch


def test_labels_are_those_of_the_task(site):
    begun = task(task="context_invert", sampling="cells").training(network(), site())
    scenes = balance_labels(split_scenes("train"), 400)
    assert (begun.scenes.labels.numpy() == labels("context_invert", scene_levels(scenes))).all()
    assert begun.scenes.images.dtype == torch.uint8
