from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from decaf.models.networks import small_cnn, small_vit
from decaf.models.recipes.base import TrainingSite
from decaf.studies.scenes import recipes
from decaf.studies.scenes.factors import scene_levels
from decaf.studies.scenes.recipes import SceneShortcut
from decaf.studies.scenes.render import render

WALL, SHAPE = 1, 4


pytestmark = pytest.mark.usefixtures("one_thread")


def settings(**given):
    quick = {"shortcut": 1.0, "seed": 0, "scenes": 400, "epochs": 3, "learning_rate": 0.01}
    return SceneShortcut(recipe="scene_shortcut", **quick | given)


def network(seed=0):
    torch.manual_seed(seed)
    return small_cnn.build(width=4)


def site(keep=None):
    """Where no epoch is kept unless a function says how: scenes are trained on in one go."""
    return TrainingSite("", torch.device("cpu"), torch.nn.Identity(), Path(), keep)


def weights(network):
    return torch.cat([value.flatten().double() for value in network.state_dict().values()])


@pytest.mark.parametrize(
    "given",
    [{"shortcut": 0.49}, {"shortcut": 1.01}, {"scenes": 401}, {"batch_size": 3}, {"epochs": 0}],
)
def test_settings_out_of_range(given):
    with pytest.raises(ValidationError):
        settings(**given)


@pytest.mark.parametrize("build", [small_cnn.build, small_vit.build])
@pytest.mark.parametrize("classes", [2, 9])
def test_networks_map_images_to_logits(build, classes):
    built = build(classes).eval()
    images = torch.rand(3, 3, 32, 32)
    assert built(images).shape == (3, classes)
    torch.testing.assert_close(built(images)[1:2], built(images[1:2]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("build", [small_cnn.build, small_vit.build])
def test_every_weight_of_a_network_is_used(build):
    torch.manual_seed(0)
    built = build()
    built(torch.rand(4, 3, 32, 32)).square().sum().backward()
    assert all(weight.grad is not None for weight in built.parameters())


def test_a_wall_that_gives_the_label_away_is_learned_instead_of_the_shape():
    trained = network()
    before = weights(trained)
    outcome = settings().train(trained, site())
    assert not trained.training
    assert not torch.equal(weights(trained), before)
    assert outcome.train_accuracy > 0.9
    assert outcome.aligned_accuracy > 0.85
    assert outcome.reversed_accuracy < 0.2
    assert outcome.seconds > 0


def test_the_same_seed_gives_the_same_weights():
    first, again, other = network(), network(), network()
    torch.manual_seed(1)
    outcome = settings(epochs=1).train(first, site())
    torch.manual_seed(2)
    assert settings(epochs=1).train(again, site())[:3] == outcome[:3]
    settings(epochs=1, seed=1).train(other, site())
    assert torch.equal(weights(first), weights(again))
    assert not torch.equal(weights(first), weights(other))


def test_epochs_are_kept_with_what_they_can_do():
    kept, plain, trained = {}, network(), network()

    def keep(epoch, network, measured):
        kept[epoch] = weights(network), measured

    outcome = settings(keep_epochs=[3, 1]).train(trained, site(keep))
    assert list(kept) == [1, 3]
    last_weights, last = kept[3]
    assert torch.equal(last_weights, weights(trained))
    assert not torch.equal(kept[1][0], last_weights)
    assert (last["aligned_accuracy"], last["reversed_accuracy"]) == outcome[1:3]
    assert last["vulnerability"] == outcome.aligned_accuracy - outcome.reversed_accuracy
    # Measuring on the way changes nothing.
    settings().train(plain, site())
    assert torch.equal(weights(plain), last_weights)


def test_training_leaves_the_global_generator_alone():
    trained = network()
    before = torch.get_rng_state()
    settings(scenes=32, epochs=1).train(trained, site())
    assert torch.equal(torch.get_rng_state(), before)


def test_scenes(monkeypatch):
    drawn = []

    def record(index):
        drawn.append(scene_levels(index))
        return render(index)

    monkeypatch.setattr(recipes, "render", record)
    settings(shortcut=0.9, scenes=4000, epochs=1, batch_size=500).train(network(), site())
    training, training_again, aligned, reversed_ = drawn

    assert len(training) == 4000
    assert (training == training_again).all()
    for scenes, probability in ((training, 0.9), (aligned, 0.95), (reversed_, 0.05)):
        assert (np.bincount(scenes[:, SHAPE]) == len(scenes) // 2).all()
        share = ((scenes[:, WALL] >= 5) == scenes[:, SHAPE]).mean()
        assert share == pytest.approx(probability, abs=0.03)
        assert set(scenes[:, WALL]) == set(range(10))

    assert (np.delete(aligned, WALL, axis=1) == np.delete(reversed_, WALL, axis=1)).all()
    others = [
        set(map(tuple, np.delete(scenes, (WALL, SHAPE), axis=1))) for scenes in (training, aligned)
    ]
    assert others[0].isdisjoint(others[1])
