"""ResNet-18 for 32 × 32 images: torchvision's blocks after a stem that keeps the size."""

from collections import OrderedDict

from torch import nn
from torchvision.models.resnet import BasicBlock


def build(classes: int = 2, width: int = 64) -> nn.Module:
    """Build the network, initialised as torchvision does, from torch's global generator.

    Two basic blocks at each of ``width``, twice, four and eight times as many channels, after a
    3 × 3 convolution of stride 1 without pooling; 11 million parameters by default. Tensors are
    named as in ``torchvision.models.resnet18``. The network maps (n, 3, 32, 32) float32,
    normalised, to (n, classes) logits; it takes any larger image as well.
    """
    network = nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(3, width, kernel_size=3, padding=1, bias=False),
            bn1=nn.BatchNorm2d(width),
            relu=nn.ReLU(inplace=True),
            layer1=_stage(width, width, stride=1),
            layer2=_stage(width, 2 * width, stride=2),
            layer3=_stage(2 * width, 4 * width, stride=2),
            layer4=_stage(4 * width, 8 * width, stride=2),
            avgpool=nn.AdaptiveAvgPool2d(1),
            flatten=nn.Flatten(),
            fc=nn.Linear(8 * width, classes),
        )
    )
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return network


def _stage(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Two blocks; if the size changes, so does the skip connection of the first."""
    shortcut = None
    if inputs != outputs:
        convolution = nn.Conv2d(inputs, outputs, kernel_size=1, stride=stride, bias=False)
        shortcut = nn.Sequential(convolution, nn.BatchNorm2d(outputs))
    return nn.Sequential(
        BasicBlock(inputs, outputs, stride, shortcut), BasicBlock(outputs, outputs)
    )
