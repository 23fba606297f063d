"""Attribution methods: by hand on linear scores, captum as oracle, calls counted by the network."""

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import torch
import yaml
from pydantic import TypeAdapter, ValidationError
from torch import nn

from decaf.errors import ConfigError, DataError, ModelError, ResponseError
from decaf.evaluation.attributions.area import Area
from decaf.evaluation.attributions.base import (
    AttributionMethod,
    Batch,
    MapMethod,
    attribution_inside,
    attribution_of_features,
    passes,
)
from decaf.evaluation.attributions.blur_integrated_gradients import BlurIntegratedGradients
from decaf.evaluation.attributions.deep_lift import DeepLift
from decaf.evaluation.attributions.gradient_shap import GradientShap
from decaf.evaluation.attributions.input_x_gradient import InputXGradient
from decaf.evaluation.attributions.integrated_gradients import IntegratedGradients
from decaf.evaluation.attributions.occlusion import Occlusion
from decaf.evaluation.attributions.rise import Rise
from decaf.evaluation.attributions.smooth_grad import SmoothGrad
from decaf.foundation.plugins import OneOf, members
from decaf.models.networks import small_cnn
from decaf.models.sources.network import NetworkCard, NetworkModel
from decaf.reveal.start import gaussian_blur
from decaf.scoring.image_scores import CountedScore, score_of
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.scores.margin import Margin

METHODS = members(MapMethod)
GRADIENT = [method for method in METHODS if method.access == "backward"]
CALLS = {  # forward, backward
    "input_x_gradient": (1, 1),
    "integrated_gradients": (16, 16),
    "gradient_shap": (16, 16),
    "deep_lift": (2, 1),
    "smooth_grad": (16, 16),
    "blur_integrated_gradients": (12, 12),
    "occlusion": (50, 0),
    "rise": (256, 0),
    "area": (0, 0),
}
PAGE = Path(__file__).parents[3] / "docs" / "attributions.md"
NAMES = ["a", "b", "c"]
GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(3, 3, 14, 16, generator=GENERATOR)
WEIGHTS = torch.randn(3, 14, 16, 2, generator=GENERATOR)


def linear(images):
    return torch.einsum("nchw,chwk->nk", images, WEIGHTS)


def total(images):
    return images.sum(dim=(2, 3))


def curved(images):
    return torch.sin(3 * linear(images)) + linear(images**2)


def maps(method, score=linear, images=IMAGES, columns=(0, 1, 0), names=NAMES, **options):
    return method.maps(CountedScore(score), images, list(columns), names, **options)


def map_of(method, score, image, column=0):
    """The map of one image."""
    return maps(method, score, image, [column], ["a"])


def weights(columns=(0, 1, 0)):
    return WEIGHTS[..., list(columns)].permute(3, 0, 1, 2)


def of_kind(method):
    return method().kind


def test_every_method_is_found_and_documented():
    assert {of_kind(method) for method in METHODS} == set(CALLS)
    page = PAGE.read_text()
    for kind, (forward, backward) in CALLS.items():
        assert re.search(rf"\| `{kind}` \|.*\| {forward} \+ {backward} \|", page), kind


def test_what_the_page_configures_is_taken():
    method = TypeAdapter(Annotated[AttributionMethod, OneOf(AttributionMethod)])
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    shown = [one for block in blocks for one in yaml.safe_load(block)["attributions"].values()]
    assert len(shown) >= 7
    for section in shown:
        method.validate_python(section)


class TestByHand:
    @pytest.mark.parametrize(
        "method", [InputXGradient(), IntegratedGradients(), GradientShap(), DeepLift()]
    )
    def test_a_linear_score_is_weight_times_input(self, method):
        torch.testing.assert_close(maps(method), IMAGES * weights())

    def test_the_way_starts_at_the_baseline(self):
        grey = IntegratedGradients(value=(0.5, 0.25, 0.0))
        way = IMAGES - torch.tensor([0.5, 0.25, 0.0]).view(3, 1, 1)
        torch.testing.assert_close(maps(grey), way * weights())

    def test_steps_are_a_right_riemann_sum(self):
        pixel = torch.full((1, 1, 1, 1), 2.0)
        found = map_of(IntegratedGradients(steps=4), lambda x: x.flatten(1) ** 2, pixel)
        # 2 times the mean of the gradients 2 x at 0.5, 1, 1.5 and 2; the integral would be 4.
        assert found.item() == 2 * np.mean([1, 2, 3, 4])

    def test_the_mean_gradient_of_a_linear_score_is_its_weights(self):
        torch.testing.assert_close(maps(SmoothGrad(samples=3)), weights())

    def test_noisy_copies_are_cut_to_the_range_of_images(self):
        seen = []

        def score(images):
            seen.append(images.detach().clone())
            return images.flatten(1)

        maps(SmoothGrad(samples=40, std=0.15), score, columns=[0, 0, 0], batch_size=3)
        copies = torch.stack(seen)
        assert (copies.min(), copies.max()) == (0, 1)
        inside = (IMAGES > 0.48) & (IMAGES < 0.52)
        noise = (copies - IMAGES)[:, inside]
        assert noise.std() == pytest.approx(0.15, rel=0.1)
        assert noise.mean() == pytest.approx(0, abs=0.02)

    def test_a_gradient_at_the_limit_counts_whole(self):
        white = torch.ones(1, 1, 2, 2)
        found = map_of(SmoothGrad(samples=5), lambda x: x.flatten(1), white, column=3)
        assert found.flatten().tolist() == [0, 0, 0, 1]

    def test_an_image_of_one_colour_has_no_blur_to_undo(self):
        flat = torch.full((1, 3, 14, 16), 0.3)
        found = map_of(BlurIntegratedGradients(), curved, flat)
        assert found.abs().max() < 1e-5

    def test_blur_levels_of_a_linear_score_add_up(self):
        found = maps(BlurIntegratedGradients(sigma=5.0, levels=7))
        way = IMAGES - gaussian_blur(IMAGES, 5.0)
        torch.testing.assert_close(found, weights() * way, atol=1e-5, rtol=1e-4)

    def test_one_blur_level_is_the_gradient_times_what_is_blurred(self):
        method = BlurIntegratedGradients(sigma=2.0, levels=1)
        found = maps(method, lambda x: x.flatten(1) ** 2, columns=[37] * 3)
        expected = 2 * IMAGES * (IMAGES - gaussian_blur(IMAGES, 2.0))
        torch.testing.assert_close(found.flatten(1)[:, 37], expected.flatten(1)[:, 37])
        assert (found != 0).flatten(1).sum(dim=1).tolist() == [1, 1, 1]

    def test_a_score_that_reads_one_cell_drops_there(self):
        def reads(images):
            return images[:, :, 2:4, 4:6].sum(dim=(1, 2, 3))[:, None]

        found = maps(Occlusion(grid=7), reads, images=IMAGES[..., :14], columns=[0, 0, 0])
        assert found.shape == (3, 1, 14, 14)
        expected = torch.zeros(3, 1, 14, 14)
        expected[:, :, 2:4, 4:6] = IMAGES[:, :, 2:4, 4:6].sum(dim=(1, 2, 3)).view(3, 1, 1, 1)
        torch.testing.assert_close(found.float(), expected)

    def test_cells_may_be_uneven_and_covered_with_a_colour(self):
        image = torch.arange(5.0).view(1, 1, 1, 5)
        found = map_of(Occlusion(grid=1, value=(0.5,)), total, image)
        assert found.flatten().tolist() == [7.5] * 5
        found = map_of(Occlusion(grid=2), total, image.expand(1, 1, 2, 5))
        assert found[0, 0].tolist() == [[1, 1, 9, 9, 9]] * 2


CELL = (3, 7, 8)


@pytest.mark.parametrize(
    ("method", "oracle", "options"),
    [
        (SmoothGrad(samples=5, std=1e-12), "Saliency", {"abs": False}),
        (Occlusion(grid=2), "Occlusion", {"sliding_window_shapes": CELL, "strides": CELL}),
    ],
)
def test_captum_says_the_same(method, oracle, options):
    from captum import attr

    score, images = CountedScore(curved), IMAGES.clone().requires_grad_()
    columns = torch.tensor([0, 1, 0])
    expected = getattr(attr, oracle)(score).attribute(
        images, additional_forward_args=(columns,), **options
    )
    found = maps(method, curved)
    torch.testing.assert_close(found, expected[:, : found.shape[1]].to(found))


@pytest.mark.parametrize("method", METHODS, ids=of_kind)
@pytest.mark.parametrize("batch_size", [1, 7, 300])
def test_neither_batches_nor_neighbours_change_a_map(method, batch_size):
    together = maps(method(), curved, batch_size=64)
    assert together.shape[0] == 3
    assert together.shape[2:] == (14, 16)
    assert together.abs().max() > 0
    torch.testing.assert_close(
        maps(method(), curved, batch_size=batch_size), together, atol=1e-4, rtol=1e-4
    )
    alone = maps(method(), curved, IMAGES[1:2], [1], ["b"], batch_size=batch_size)
    torch.testing.assert_close(alone[0], together[1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("method", [SmoothGrad, Rise, GradientShap])
def test_draws_belong_to_a_source_and_a_seed(method):
    twice = IMAGES[:1].expand(2, -1, -1, -1)
    same, other = (
        maps(method(), curved, twice, [0, 0], names) for names in (["a", "a"], NAMES[:2])
    )
    torch.testing.assert_close(same[0], same[1])
    assert not torch.allclose(other[0], other[1], rtol=1e-3)
    reseeded = maps(method(seed=1), curved, twice, [0, 0], ["a", "a"])
    assert not torch.allclose(same, reseeded, rtol=1e-3)
    shared = maps(method(bank="shared"), curved, twice, [0, 0], NAMES[:2])
    torch.testing.assert_close(shared[0], shared[1])
    assert not torch.allclose(same, shared, rtol=1e-3)


class Counter(nn.Module):
    """Counts the rows that go through a real network, in both directions."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.network = small_cnn.build(classes=2)
        self.forward_rows = self.backward_rows = self.largest = 0
        self.modes = set()

    def forward(self, images):
        self.forward_rows += len(images)
        self.largest = max(self.largest, len(images))
        self.modes.add(torch.is_inference_mode_enabled())
        outputs = self.network(images)
        if outputs.requires_grad:
            outputs.register_hook(self.count)
        return outputs

    def count(self, gradient):
        self.backward_rows += len(gradient)


def network():
    card = NetworkCard(
        **{"id": "one", "family": "any", "architecture": "factory:torch.nn:Linear"},
        **{"weights": "one.safetensors", "input_size": None, "mean": [0.5], "std": [0.25]},
    )
    counter = Counter()
    return counter, NetworkModel(counter, card, torch.device("cpu"))


@pytest.mark.parametrize("method", METHODS, ids=of_kind)
def test_a_network_is_asked_as_often_as_declared(method):
    counter, model = network()
    score = score_of(model, ClassProbability(kind="class_probability", classes=2))
    images = torch.rand(3, 3, 32, 32)
    found = method().maps(score, images, [0, 1, 0], NAMES, batch_size=32)
    expected = CALLS[method().kind]
    assert (method().forward_calls, method().backward_calls) == expected
    assert (counter.forward_rows, counter.backward_rows) == (3 * expected[0], 3 * expected[1])
    assert (score.forward_rows, score.backward_rows) == (3 * expected[0], 3 * expected[1])
    assert counter.largest <= 32
    if expected == (0, 0):
        is_without_graph = set()
    else:
        is_without_graph = {True, False} if expected[0] > expected[1] > 0 else {expected[1] == 0}
    assert counter.modes == is_without_graph
    assert torch.isfinite(found).all()
    assert not found.requires_grad
    assert not images.requires_grad
    assert not any(parameter.requires_grad for parameter in counter.parameters())


@pytest.mark.parametrize("method", GRADIENT, ids=of_kind)
def test_gradients_are_those_of_the_score_definition(method):
    """Of a margin: the gradient of one logit minus that of the other, through the preprocessing."""
    counter, model = network()
    images = torch.rand(2, 3, 32, 32)
    margin = score_of(model, Margin(kind="margin", classes=2))
    logits = CountedScore(lambda x: counter.network((x - 0.5) / 0.25))
    found = method().maps(margin, images, [1, 1], NAMES[:2])
    one, other = (method().maps(logits, images, [k, k], NAMES[:2]) for k in (1, 0))
    torch.testing.assert_close(found.float(), (one - other).float(), atol=1e-5, rtol=1e-3)


class BlackBox:
    output = "probabilities"

    def outputs(self, images):
        return torch.stack([images.mean((1, 2, 3)), 1 - images.mean((1, 2, 3))], dim=1)


def test_a_black_box_is_asked_for_values_alone():
    definition = ClassProbability(kind="class_probability", classes=2)
    assert maps(Occlusion(), score_of(BlackBox(), definition)._answer).abs().max() > 0
    for method in GRADIENT:
        with pytest.raises(ModelError, match="occlusion or rise"):
            method().maps(score_of(BlackBox(), definition), IMAGES, [0, 1, 0], NAMES)


def test_a_score_that_cuts_its_gradient_is_refused():
    with pytest.raises(ModelError, match="gradient"):
        maps(InputXGradient(), lambda x: linear(x.detach()))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"images": IMAGES[0]}, ResponseError, r"shape \(3, 14, 16\)"),
        ({"images": IMAGES.to(torch.uint8)}, ResponseError, "dtype torch.uint8"),
        ({"images": IMAGES[:0]}, ResponseError, "at least one"),
        ({"columns": [0, 1]}, DataError, r"columns have shape \(2,\)"),
        ({"columns": [0, 1, -1]}, ResponseError, "whole numbers from 0"),
        ({"columns": [0, 1, 2]}, ModelError, "column 2"),
        ({"names": ["a"]}, DataError, r"source_ids have shape \(1,\)"),
        ({"batch_size": 0}, ResponseError, "batch_size is 0"),
        ({"score": lambda x: x.sum()}, ModelError, r"expected \(3, columns\)"),
    ],
)
def test_what_cannot_be_attributed_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        maps(InputXGradient(), **given)


def test_states_fill_a_batch():
    batch = Batch(IMAGES, None, NAMES, size=7)
    assert list(passes(5, batch)) == [range(0, 2), range(2, 4), range(4, 5)]


def test_attribution_inside_a_region_is_absolute_over_channels():
    found = torch.tensor([[[[1.0, -2.0]], [[-3.0, 4.0]]]] * 3)
    region = torch.tensor([[[True, False]], [[False, False]], [[True, True]]])
    assert attribution_inside(found, region).tolist() == [4, 0, 10]
    with pytest.raises(ResponseError, match=r"\(3, 2\); expected \(3, 1, 2\)"):
        attribution_inside(found, region[:, 0])


def test_the_area_of_a_feature_is_its_number_of_pixels():
    region = torch.zeros(3, 14, 16, dtype=torch.bool)
    region[0, 2:4, 3:8] = region[1, 0, 0] = True
    maps = Area().maps(CountedScore(linear), IMAGES, [0, 1, 0], NAMES)
    assert attribution_of_features(maps, np.arange(3), region).tolist() == [10, 1, 0]


def test_rise_of_a_score_below_zero_falls_with_the_area():
    region = torch.zeros(2, 14, 16, dtype=torch.bool)
    region[0, 4:10, 4:10] = region[1, 5:7, 5:7] = True

    def score(images):
        return linear(images) * 0 - 3

    maps = Rise(masks=200).maps(CountedScore(score), IMAGES[:1], [0], ["a"])
    large, small = attribution_of_features(maps, np.zeros(2, int), region)
    assert large < small < 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 0}, "'steps' is 0"),
        ({"stpes": 16}, "did you mean 'steps'"),
        ({"rule": "left"}, "'rule' is 'left'.*'trapezoid'"),
        ({"own_score": {"kind": "margin", "classes": 1}}, "'own_score.classes' is 1"),
    ],
)
def test_wrong_settings_of_a_method_are_an_error_of_decaf(settings, words):
    with pytest.raises(ConfigError, match=words):
        IntegratedGradients(**settings)
    # In a section of a configuration, pydantic collects the errors of all sections.
    with pytest.raises(ValidationError):
        TypeAdapter(IntegratedGradients).validate_python(settings)
