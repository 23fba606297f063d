"""Robust and fragile training: losses of pairs of partially revealed scenes (appendix D).

A pair differs in the floor's hue. Both branches share the state that they emerge from, which is
drawn from a Gaussian with the moments of the training scenes.
"""

from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.arrays import Device, Module, Tensor
from decaf.models.recipes.base import TrainingSite
from decaf.models.training.epochs import Loss, classification_loss
from decaf.reveal.paths.gaussian import emerge
from decaf.studies.scenes.factors import FACTOR_COLUMN, counterfactual, scene_levels
from decaf.studies.scenes.images import SceneImages
from decaf.studies.scenes.settings import SceneSettings
from decaf.studies.scenes.training import (
    LabelledScenes,
    Material,
    SceneTraining,
    network_inputs,
    scenes_on,
)

Variant = Literal["robust", "neutral", "fragile"]

FLOOR_MAPS = (1, 2)
SMALLEST_ALPHA = 0.05
LARGEST_ALPHA = {"robust": 0.95, "fragile": 0.9}
CLEAN_WEIGHT, STATE_WEIGHT = 4.0, 5.0
"""Weights of the loss on clean scenes, and of the squared difference of two states."""


class Pairs(NamedTuple):
    """Logits, (n, 2) each, of scenes and of the same with another floor."""

    clean: Tensor
    changed: Tensor
    state: Tensor
    """States of the scene, partially revealed."""
    changed_state: Tensor


def paired_loss(variant: Variant, pairs: Pairs, labels: Tensor, floors: Tensor) -> Tensor:
    """Loss of robust or fragile training, a mean over pairs (our choice of losses).

    Both train for the label of both clean scenes, and for log-odds that do not depend on the floor:
    probabilities near 0 and 1 would have no gradient. Robust training also makes the probabilities
    of the states independent of the floor. Fragile training makes their label the bin of the
    floor's hue: (n, 2), of the scene and of the changed scene.
    """
    from torch.nn.functional import cross_entropy, mse_loss

    clean = cross_entropy(pairs.clean, labels) + cross_entropy(pairs.changed, labels)
    apart = mse_loss(pairs.clean.diff(), pairs.changed.diff())
    loss = CLEAN_WEIGHT * (clean + apart)
    if variant == "robust":
        states = (pairs.state.softmax(1)[:, 1], pairs.changed_state.softmax(1)[:, 1])
        return loss + STATE_WEIGHT * mse_loss(*states)
    on_floors = cross_entropy(pairs.state, floors[:, 0])
    return loss + on_floors + cross_entropy(pairs.changed_state, floors[:, 1])


class Pairing(NamedTuple):
    """Changed scenes that the scenes of a training are paired with."""

    variant: Variant
    clean_epochs: int
    """First epochs without pairs."""
    floors: Tensor
    """(n,) bins of the floor's hue."""
    changed: tuple[LabelledScenes, ...]
    """For every map, the same scenes with another floor, labelled by its bin."""

    @classmethod
    def of(
        cls,
        device: Device,
        images: SceneImages,
        numbers: NDArray[np.int64],
        variant: Variant,
        clean_epochs: int,
    ) -> "Pairing":
        """Read the scenes with other floors."""
        import torch

        floors = torch.from_numpy(_floor_bins(numbers)).to(device)
        changed_levels = [counterfactual(numbers, "floor_hue", map) for map in FLOOR_MAPS]
        changed = tuple(
            scenes_on(device, images, each, _floor_bins(each)) for each in changed_levels
        )
        return cls(variant, clean_epochs, floors, changed)

    def draw_partners(self, chosen: Tensor) -> LabelledScenes:
        """The chosen scenes with another floor, by a map that is drawn for each."""
        import torch

        rows = torch.arange(len(chosen), device=chosen.device)
        map = torch.randint(len(self.changed), (len(chosen),), device=chosen.device)
        images = torch.stack([scenes.images[chosen] for scenes in self.changed])[map, rows]
        labels = torch.stack([scenes.labels[chosen] for scenes in self.changed])[map, rows]
        return LabelledScenes(images, labels)


class VariantTraining(SceneTraining):
    """Robust or fragile training of a network on scenes."""

    def __init__(
        self,
        recipe: SceneSettings,
        network: Module,
        site: TrainingSite,
        material: Material,
        pairing: Pairing,
    ) -> None:
        super().__init__(recipe, network, site, material)
        self.starts = Starts.of(network_inputs(self.scenes.images))
        self._pairing = pairing

    def loss(self, batch: tuple[int, Tensor]) -> Loss:
        """Cross-entropy in the first epochs, then that of pairs, in one pass of the network."""
        epoch, chosen = batch
        if epoch <= self._pairing.clean_epochs:
            return super().loss(batch)
        import torch

        rows, variant = len(chosen), self._pairing.variant
        partners = self._pairing.draw_partners(chosen)
        clean, changed = network_inputs(self.scenes.images[chosen]), network_inputs(partners.images)
        reach = LARGEST_ALPHA[variant] - SMALLEST_ALPHA
        alpha = SMALLEST_ALPHA + reach * torch.rand(rows, 1, 1, 1, device=self._device)
        start = self.starts.draw(rows).reshape(clean.shape)
        mean = self.starts.mean.reshape(1, *clean.shape[1:])
        states = [emerge(start, branch, mean, alpha) for branch in (clean, changed)]
        shown = cast("list[Tensor]", [clean, changed, *states])  # of tensors come tensors
        # One pass, so that batch normalisation has the moments of all that is audited.
        pairs = Pairs(*self.outputs(torch.cat(shown)).split(rows))
        labels = self.scenes.labels[chosen]
        floors = torch.stack([self._pairing.floors[chosen], partners.labels], dim=1)
        return classification_loss(pairs.clean, labels)._replace(
            mean=paired_loss(variant, pairs, labels, floors)
        )


class Starts(NamedTuple):
    """The Gaussian with the sample mean and covariance (``n - 1``) of (n, D) inputs."""

    mean: Tensor
    """(D,)."""
    root: Tensor
    """(min(n, D), D), whose transpose times itself is the covariance."""

    @classmethod
    def of(cls, inputs: Tensor) -> "Starts":
        """Starts of (n, …) inputs, at least two."""
        import torch

        rows = inputs.flatten(1)
        mean = rows.mean(0)
        centred = (rows - mean) / (len(rows) - 1) ** 0.5
        return cls(mean, torch.linalg.qr(centred, mode="r").R)

    def draw(self, count: int) -> Tensor:
        """(count, D) states ``mu + eta``, from torch's generator of the device."""
        import torch

        normals = torch.randn(count, len(self.root), device=self.mean.device)
        return self.mean + normals @ self.root


def _floor_bins(scenes: NDArray[np.int64]) -> NDArray[np.int64]:
    return (scene_levels(scenes)[:, FACTOR_COLUMN["floor_hue"]] >= 5).astype(np.int64)
