"""Robust and fragile training: losses by hand on a linear model, states, moments."""

import numpy as np
import pytest
import torch

from decaf.models.networks import small_cnn
from decaf.models.recipes.base import TrainingSite
from decaf.studies.scenes.factors import counterfactual, scene_levels
from decaf.studies.scenes.images import read_scenes
from decaf.studies.scenes.recipes import SceneVariant
from decaf.studies.scenes.splits import split_scenes
from decaf.studies.scenes.training import SceneTraining
from decaf.studies.scenes.variants import Pairs, Starts, paired_loss

pytestmark = pytest.mark.usefixtures("one_thread")


def recipe(variant, **given):
    few = {"seed": 0, "scenes": 64, "epochs": 2, "batch_size": 16, "validation_scenes": 16}
    return SceneVariant(recipe="scene_variant", variant=variant, **few | given)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "scratch").mkdir()
    return TrainingSite("", torch.device("cpu"), torch.nn.Identity(), tmp_path / "scratch", None)


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def test_losses_by_hand_on_a_linear_model():
    """Logits (0, w x) of one number x: the probability of class 1 is sigmoid(w x)."""
    w = 2.0
    x = {
        "clean": [1.0, -0.5],
        "changed": [0.5, -1.0],
        "state": [0.2, 0.4],
        "changed_state": [-1, 0],
    }
    logits = {
        name: torch.tensor([[0.0, w * value] for value in values]) for name, values in x.items()
    }
    labels, floors = torch.tensor([1, 0]), torch.tensor([[1, 0], [0, 1]])
    p = {name: sigmoid(w * np.array(values)) for name, values in x.items()}
    clean = (-np.log(p["clean"][0]) - np.log(1 - p["clean"][1])) / 2
    clean += (-np.log(p["changed"][0]) - np.log(1 - p["changed"][1])) / 2
    clean += ((2 * 0.5) ** 2 + (2 * 0.5) ** 2) / 2  # of the log-odds w x
    apart = ((p["state"] - p["changed_state"]) ** 2).mean()
    on_state = (-np.log(p["state"][0]) - np.log(1 - p["state"][1])) / 2
    on_changed = (-np.log(1 - p["changed_state"][0]) - np.log(p["changed_state"][1])) / 2
    robust = paired_loss("robust", Pairs(**logits), labels, floors)
    fragile = paired_loss("fragile", Pairs(**logits), labels, floors)
    assert float(robust) == pytest.approx(4 * clean + 5 * apart, rel=1e-6)
    assert float(fragile) == pytest.approx(4 * clean + on_state + on_changed, rel=1e-6)


def test_starts_have_the_moments_of_the_inputs():
    inputs = torch.tensor([[1.0, 0.0], [3.0, 1.0], [2.0, -4.0], [0.0, 2.0]])
    starts = Starts.of(inputs)
    covariance = np.cov(inputs.T.numpy())
    assert starts.mean.tolist() == [1.5, -0.25]
    assert starts.root.shape == (2, 2)
    assert (starts.root.T @ starts.root).numpy() == pytest.approx(covariance, rel=1e-5)
    torch.manual_seed(0)
    drawn = starts.draw(20_000).numpy()
    assert drawn.mean(axis=0) == pytest.approx([1.5, -0.25], abs=0.06)
    assert np.cov(drawn.T) == pytest.approx(covariance, rel=0.05, abs=0.06)


def test_starts_are_those_of_the_training_scenes(site):
    begun = recipe("robust").training(small_cnn.build(width=4), site)
    pixels = read_scenes("rendered", split_scenes("train")[:64]) / 127.5 - 1
    expected = pixels.transpose(0, 3, 1, 2).mean(axis=0).ravel()
    np.testing.assert_allclose(begun.starts.mean, expected, rtol=0, atol=1e-6)
    assert begun.starts.root.shape == (64, 3072)


@pytest.mark.parametrize("variant", ["robust", "fragile"])
def test_both_branches_share_the_start_and_differ_in_the_floor_alone(site, monkeypatch, variant):
    """What the network is shown, against states made one by one from the same draws."""
    begun = recipe(variant, clean_epochs=0).training(small_cnn.build(width=4), site)
    shown, starts = [], []
    monkeypatch.setattr(
        begun, "outputs", lambda inputs: (shown.append(inputs), inputs.new_zeros(len(inputs), 2))[1]
    )

    def draw(own, count, real=Starts.draw):
        starts.append(real(own, count))
        return starts[-1]

    monkeypatch.setattr(Starts, "draw", draw)
    chosen = torch.arange(16)
    begun.loss((1, chosen))
    clean, changed, state, changed_state = shown[0].double().numpy().reshape(4, 16, 3, 32, 32)
    scenes = split_scenes("train")[:16]
    inputs = {
        map: read_scenes("rendered", counterfactual(scenes, "floor_hue", map)) / 127.5 - 1
        for map in (1, 2)
    }
    used = set()
    mean = begun.starts.mean.double().numpy().reshape(3, 32, 32)
    for row in range(16):
        maps = [
            map
            for map in (1, 2)
            if np.allclose(changed[row], inputs[map][row].transpose(2, 0, 1), atol=1e-6)
        ]
        used |= set(maps)
        assert maps
        # state = mu + sqrt(a) (x - mu) + sqrt(1 - a) eta, the same a and eta for both branches
        pulled = state[row] - changed_state[row]
        root = (pulled * (clean[row] - changed[row])).sum() / (
            (clean[row] - changed[row]) ** 2
        ).sum()
        assert 0.05 <= root**2 <= {"robust": 0.95, "fragile": 0.9}[variant]
        eta = starts[0][row].double().numpy().reshape(3, 32, 32) - mean
        expected = mean + root * (clean[row] - mean) + np.sqrt(1 - root**2) * eta
        np.testing.assert_allclose(state[row], expected, atol=1e-4)
    assert used == {1, 2}


def test_first_epochs_are_clean_and_the_others_are_not(site):
    begun = recipe("robust", clean_epochs=1).training(small_cnn.build(width=4), site)
    batch = torch.arange(16)
    plain = SceneTraining.loss(begun, (1, batch)).mean
    torch.testing.assert_close(begun.loss((1, batch)).mean, plain)
    assert not torch.equal(begun.loss((2, batch)).mean, plain)


def test_neutral_training_is_that_of_the_shape(site):
    begun = recipe("neutral").training(small_cnn.build(width=4), site)
    assert type(begun) is SceneTraining
    expected = scene_levels(split_scenes("train")[:64])[:, 4]
    assert (begun.scenes.labels.numpy() == expected).all()
