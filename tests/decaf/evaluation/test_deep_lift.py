"""DeepLIFT: by hand, as captum where captum is exact, and complete for networks of many kinds."""

import pytest
import torch
import torchvision
from torch import nn
from torch.nn import functional

from decaf.errors import ModelError
from decaf.evaluation.attributions.deep_lift import DeepLift
from decaf.evaluation.rescale import RULES
from decaf.scoring.image_scores import CountedScore

COLUMNS, NAMES = [0, 1, 0], ["a", "b", "c"]
IMAGES = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def map_of(score, pixels, value=0.0):
    """The map of one row of pixels, as a list."""
    image = torch.tensor(pixels).view(1, 1, 1, -1)
    return DeepLift(value=(value,)).maps(CountedScore(score), image, [0], ["a"]).flatten().tolist()


def test_an_activation_passes_on_its_slope_from_the_reference():
    def score(x):  # 2 relu(x1 + x2 - 1)
        return 2 * functional.relu(x.flatten(1).sum(dim=1, keepdim=True) - 1)

    # From -1 to 2 the activation goes from 0 to 2, at a slope of 2/3; the gradient is 1.
    assert map_of(score, [1.0, 2.0]) == pytest.approx([2 * 2 / 3, 2 * 2 * 2 / 3])
    # Where the sum stays, the gradient counts: 0.
    assert map_of(score, [0.5, -0.5]) == [0, 0]
    assert map_of(score, [1.0, 1.0], value=1.0) == [0, 0]


def test_a_maximum_is_shared_by_its_place_in_both():
    def score(x):  # max(x1, x2)
        return functional.max_pool2d(x, (1, 2)).flatten(1)

    def raised(x):  # max(x1, x2 + 3)
        return functional.max_pool2d(x + torch.tensor([0.0, 3.0]), (1, 2)).flatten(1)

    assert map_of(score, [1.0, 2.0]) == [0, 2]
    # 5 in the image at the first pixel, 3 in the reference at the second.
    assert map_of(raised, [5.0, 1.0]) == pytest.approx([5 - 3, 0])
    # 4 in the image at the first pixel, where the reference has 5 at the second.
    assert map_of(raised, [4.0, -5.0], value=2.0) == pytest.approx([0, 4 - 5])


def test_a_pixel_counts_in_every_window_that_it_is_largest_in():
    def score(x):
        return functional.max_pool2d(x, (1, 3), stride=(1, 2)).sum(dim=3).flatten(1)

    assert map_of(score, [1.0, 2.0, 8.0, 4.0, 5.0]) == [0, 0, 16, 0, 0]


def test_linear_scores_are_weight_times_difference():
    assert map_of(lambda x: (x * torch.tensor([1.0, -2.0])).sum(dim=3)[:, 0], [3.0, 5.0], 1.0) == [
        2.0,
        -8.0,
    ]


def plain():
    """A network as captum needs it: modules once, not one after the other, windows side by side."""
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 3), nn.MaxPool2d(2)),
        *(nn.Conv2d(4, 4, 3), nn.ELU(), nn.Flatten(), nn.Linear(576, 8), nn.Sigmoid()),
        *(nn.Linear(8, 8), nn.LeakyReLU(), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 8)),
        *(nn.Tanh(), nn.Linear(8, 2)),
    ).eval()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_captum_says_the_same_of_one_image():
    from captum import attr

    network, images = plain().double(), IMAGES.double()
    expected = torch.cat(
        [
            attr.DeepLift(network).attribute(image[None], 0.4, target=column)
            for image, column in zip(images, COLUMNS, strict=True)
        ]
    ).detach()
    found = DeepLift(value=(0.4,)).maps(CountedScore(network), images, COLUMNS, NAMES)
    torch.testing.assert_close(found, expected, atol=1e-15, rtol=1e-9)


class Residual(nn.Module):
    """One module of an activation, in place and used twice, beside functions of torch."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.bypass, self.head = nn.Conv2d(3, 4, 1), nn.Linear(4, 2)
        self.active = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.second(self.active(self.first(x)))
        out += self.bypass(x)
        out = functional.max_pool2d(self.active(out), 3, stride=2, padding=1, ceil_mode=True)
        return self.head(functional.relu6(functional.elu(out).mean(dim=(2, 3)), inplace=True))


@pytest.mark.parametrize(
    "network",
    [
        plain,
        Residual,
        lambda: torchvision.models.resnet18(num_classes=2),
        lambda: torchvision.models.squeezenet1_1(num_classes=2),
    ],
    ids=["plain", "residual", "resnet", "squeezenet"],
)
def test_maps_add_up_to_the_difference_of_scores(network):
    torch.manual_seed(0)
    network = network().eval().double()
    images = IMAGES.double()
    found = DeepLift(baseline="blur", sigma=3.0, radius=6)
    with torch.no_grad():
        whole = network(images) - network(found.reference(images, None))
    maps = found.maps(CountedScore(network), images, COLUMNS, NAMES)
    torch.testing.assert_close(maps.sum(dim=(1, 2, 3)), whole[range(3), COLUMNS])
    assert whole.abs().max() > 1e-5


def test_the_network_is_left_as_it_was():
    network = Residual().eval()
    before = network(IMAGES)
    DeepLift().maps(CountedScore(network), IMAGES, COLUMNS, NAMES)
    assert network.active.inplace
    assert not network.active._forward_hooks
    torch.testing.assert_close(network(IMAGES), before, atol=0, rtol=0)


def test_other_functions_have_their_gradient():
    assert functional.gelu not in RULES
    image = torch.tensor([[[[1.5, -0.5]]]])
    leaves = image.clone().requires_grad_()
    functional.gelu(leaves).sum().backward()
    found = map_of(lambda x: functional.gelu(x).sum(dim=3)[:, 0], [1.5, -0.5])
    assert found == (image * leaves.grad).flatten().tolist()


def test_another_way_for_the_reference_is_refused():
    def score(x):
        if x.mean() > 0.2:
            x = functional.relu(x)
        return x.sum(dim=(2, 3))

    with pytest.raises(ModelError):
        DeepLift().maps(CountedScore(score), IMAGES, COLUMNS, NAMES)
