"""Methods that go from a reference to the image: rules, references, spaces, banks."""

import hashlib

import numpy as np
import pytest
import torch
from torch import nn

from decaf.errors import ModelError
from decaf.evaluation.attributions.gradient_shap import GradientShap
from decaf.evaluation.attributions.input_x_gradient import InputXGradient
from decaf.evaluation.attributions.integrated_gradients import IntegratedGradients
from decaf.evaluation.attributions.reference import uniform_noise
from decaf.evaluation.attributions.smooth_grad import SmoothGrad
from decaf.models.sources.network import NetworkCard, NetworkModel
from decaf.scoring.image_scores import CountedScore, score_of
from decaf.scoring.scores.target_logit import TargetLogit

RULES = ("riemann_right", "gauss_legendre", "trapezoid")
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.5)
EACH = (1, 3, 1, 1)
IMAGES = torch.rand(3, 3, 6, 7, generator=torch.Generator().manual_seed(0))
SEEN = (IMAGES - torch.tensor(MEAN).view(EACH)) / torch.tensor(STD).view(EACH)
COLUMNS, NAMES = [0, 1, 0], ["a", "b", "c"]


class Curved(nn.Module):
    """A small network without kinks, in float32."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 4 * 5, 2)
        )

    def forward(self, images):
        return self.layers(images)


NETWORK = Curved().eval()


def normalised_score():
    """The network behind a card that normalises."""
    card = NetworkCard(
        **{"id": "one", "family": "any", "architecture": "factory:torch.nn:Linear"},
        **{"weights": "one.safetensors", "input_size": None, "mean": MEAN, "std": STD},
    )
    model = NetworkModel(Curved(), card, torch.device("cpu"))
    return score_of(model, TargetLogit(kind="target_logit", classes=2))


def maps(method, score=None, images=IMAGES, **options):
    return method.maps(score or CountedScore(NETWORK), images, COLUMNS, NAMES, **options)


def gradients(images):
    """Of each image's own column, with respect to what the network sees."""
    leaves = images.clone().requires_grad_()
    NETWORK(leaves)[range(3), COLUMNS].sum().backward()
    return leaves.grad


def test_four_nodes_of_gauss_and_legendre():
    nodes, weights = IntegratedGradients(steps=4, rule="gauss_legendre").nodes()
    half = [0.1739274226, 0.3260725774]
    assert nodes == pytest.approx([0.0694318442, 0.3300094782, 0.6699905218, 0.9305681558])
    assert weights == pytest.approx(half + half[::-1])


def test_nodes_by_hand():
    nodes, weights = IntegratedGradients(steps=4).nodes()
    assert (nodes.tolist(), weights.tolist()) == ([0.25, 0.5, 0.75, 1], [0.25] * 4)
    nodes, weights = IntegratedGradients(steps=5, rule="trapezoid").nodes()
    assert nodes.tolist() == [0, 0.25, 0.5, 0.75, 1], "both ends"
    assert weights.tolist() == [0.125, 0.25, 0.25, 0.25, 0.125]


@pytest.mark.parametrize("steps", [2, 3, 16])
@pytest.mark.parametrize("rule", RULES[1:])
def test_the_integral_of_a_square_is_exact(rule, steps):
    def square(images):
        return (images**2).sum(dim=(2, 3))

    method = IntegratedGradients(rule=rule, steps=steps, value=(0.2,))
    found = maps(method, CountedScore(square), IMAGES.double()).sum(dim=(1, 2, 3))
    whole = square(IMAGES.double()) - square(torch.full_like(IMAGES, 0.2).double())
    torch.testing.assert_close(found, whole[range(3), COLUMNS])


@pytest.mark.parametrize("rule", RULES)
def test_maps_add_up_to_the_difference_of_scores(rule):
    method = IntegratedGradients(rule=rule, steps=200, baseline="mean")
    found = maps(method, normalised_score()).sum(dim=(1, 2, 3))
    with torch.no_grad():
        whole = NETWORK(SEEN) - NETWORK(torch.zeros_like(SEEN))
    atol = 1e-2 if rule == "riemann_right" else 1e-4
    torch.testing.assert_close(found, whole[range(3), COLUMNS], atol=atol, rtol=0)


@pytest.mark.parametrize(
    ("rule", "captums"), [("riemann_right", "riemann_right"), ("gauss_legendre", "gausslegendre")]
)
def test_captum_integrates_the_same(rule, captums):
    from captum import attr

    score, columns = CountedScore(NETWORK), torch.tensor(COLUMNS)
    expected = attr.IntegratedGradients(score).attribute(
        IMAGES, 0.3, additional_forward_args=(columns,), method=captums, n_steps=5
    )
    found = maps(IntegratedGradients(rule=rule, steps=5, value=(0.3,)))
    torch.testing.assert_close(found, expected)


def test_the_mean_makes_it_the_input_of_the_network_times_its_gradient():
    found = maps(InputXGradient(baseline="mean"), normalised_score())
    torch.testing.assert_close(found, SEEN * gradients(SEEN), atol=1e-6, rtol=1e-4)


def test_uniform_noise_is_that_of_the_paper():
    digest = "35479dd012ae0c7f94e299db810bb22a196655375d5e43ee807316f835643ff6"
    assert hashlib.sha256(uniform_noise((3, 9, 11), 8212).tobytes()).hexdigest() == digest


def test_the_uniform_reference_is_one_noise_as_the_network_sees_it():
    reference = InputXGradient(baseline="uniform").reference(IMAGES, normalised_score())
    seen = (reference - torch.tensor(MEAN).view(EACH)) / torch.tensor(STD).view(EACH)
    noise = torch.from_numpy(uniform_noise((3, 6, 7), 8212))
    torch.testing.assert_close(seen, noise.expand_as(IMAGES), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    "method",
    [
        InputXGradient(baseline="mean"),
        IntegratedGradients(baseline="uniform"),
        SmoothGrad(space="normalised"),
    ],
)
def test_a_function_does_not_say_its_mean(method):
    with pytest.raises(ModelError, match="'value:'"):
        maps(method)


@pytest.mark.parametrize("batch_size", [3, 64])
def test_a_shared_bank_of_places_is_that_of_numpy(batch_size):
    places = np.random.RandomState(8215).uniform(size=16)
    method = GradientShap(baseline="mean", bank="shared", seed=8215)
    found = maps(method, normalised_score(), batch_size=batch_size)
    mean = sum(gradients(float(a) * SEEN) for a in places) / 16
    torch.testing.assert_close(found, SEEN * mean, atol=1e-6, rtol=1e-4)


def test_places_of_a_source_are_uniform():
    method = GradientShap(samples=4000)
    found = maps(method, CountedScore(lambda x: (x**2).sum(dim=(2, 3))))
    # The gradient at a x is 2 a x; a is 1/2 in the mean.
    shares = (found / IMAGES**2)[range(3), COLUMNS].flatten(1)
    assert shares.mean(dim=1).tolist() == pytest.approx([1, 1, 1], abs=0.03)
    assert shares.std(dim=1).max() < 1e-4
    assert len(set(shares[:, 0].tolist())) == 3


@pytest.mark.parametrize("batch_size", [3, 7, 64])
def test_noise_may_be_that_of_the_networks_input(batch_size):
    method = SmoothGrad(space="normalised", bank="shared", seed=8216)
    noise = np.random.RandomState(8216).standard_normal((16, 1, *IMAGES.shape[1:]))
    copies = SEEN + 0.15 * torch.from_numpy(noise).float()
    expected = torch.stack([gradients(copy) for copy in copies]).mean(dim=0)
    found = maps(method, normalised_score(), batch_size=batch_size)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def test_a_shared_bank_of_noise_is_cut_at_pixels():
    noise = np.random.RandomState(8216).standard_normal((5, 1, *IMAGES.shape[1:]))
    copies = (IMAGES + 0.15 * torch.from_numpy(noise).float()).clamp(0, 1)
    expected = torch.stack([gradients(copy) for copy in copies]).mean(dim=0)
    found = maps(SmoothGrad(samples=5, bank="shared", seed=8216))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)
