"""What does an image classifier look at? Change one thing in the image and see how it reacts.

    python examples/images.py FOLDER

A small network learns to tell cubes from cylinders in rendered rooms, where the colour of the wall
gives the answer away 19 times out of 20. Then the same room is shown with another wall, and with
the other shape. A model that looked at shapes would react to the second change alone.

The last part asks the same question of one image without any second image: which cells of it does
the prediction rest on?
"""

import sys
from pathlib import Path

import numpy as np
import torch

import decaf
from decaf.models.networks.small_cnn import build
from decaf.studies.scenes.factors import counterfactual, scene_index
from decaf.studies.scenes.render import render

WALL, SHAPE = 1, 4
"""Columns of a scene's levels: floor, wall and object hue, size, shape, orientation."""


def rooms(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scene numbers and labels; the wall's hue is below 5 for cubes, 19 times out of 20."""
    rng = np.random.default_rng(seed)
    levels = np.column_stack([rng.integers(0, top, count) for top in (10, 5, 10, 8, 2, 15)])
    levels[:, 3] = 7  # the largest size
    says_so = rng.random(count) < 0.95
    levels[:, WALL] += 5 * np.where(says_so, levels[:, SHAPE], 1 - levels[:, SHAPE])
    return scene_index(levels), levels[:, SHAPE]


def images_of(scenes: np.ndarray) -> torch.Tensor:
    """(n, 3, 32, 32) uint8: decaf turns 8-bit images into float32 in [0, 1]."""
    return torch.from_numpy(render(scenes)).permute(0, 3, 1, 2).contiguous()


def train(network: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> None:
    """Four passes of plain gradient descent."""
    weights = list(network.parameters())
    for _ in range(4):
        for batch in torch.randperm(len(images)).split(32):
            logits = network(images[batch] / 127.5 - 1)
            loss = torch.nn.functional.cross_entropy(logits, labels[batch])
            for weight, slope in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                weight.data -= 0.1 * slope
    network.eval()  # decaf refuses networks in training mode: their scores depend on the batch


def main(folder: Path) -> None:
    """Train, audit two changes, attribute one prediction, write the charts."""
    torch.manual_seed(0)
    network = build(width=8)
    scenes, labels = rooms(1000, seed=0)
    train(network, images_of(scenes), torch.from_numpy(labels).long())

    def probability(images: torch.Tensor) -> torch.Tensor:
        """The score q: (n, 3, 32, 32) in [0, 1] → (n, 2) probabilities."""
        return network(images * 2 - 1).softmax(dim=1)

    tested, labels = rooms(60, seed=1)
    for change in ("wall_hue", "shape"):
        audited = decaf.audit(
            probability,
            images_of(tested),
            images_of(counterfactual(tested, change)),
            target=labels,  # q is the probability of the true shape, one column for each image
        )
        print(f"\n{change} changed:\n{audited.summary()}")
        # A page that needs no network; in a notebook the chart is shown as it is.
        audited.plot_mean().save(folder / f"images-{change}.html", inline=True)
    print(f"\n{audited.forward_rows} forward rows; stage by stage it would be {audited.naive_rows}")

    # Without a second image, every image is compared with itself without each cell of a 4 x 4
    # grid. Three, five and nine stages share the states that they have in common.
    paths = {f"DECAF-{n}": decaf.Removal(side=4, value=(0.5,), stages=n) for n in (3, 5, 9)}
    attributed = decaf.audit(probability, images_of(tested), path=paths, target=labels)
    for name, audited in attributed.items():
        cells = audited.attributions().mean(axis=0).reshape(4, 4)
        print(f"\n{name}, mean evidence of each cell:\n{cells.round(3)}")
    audited.plot(int(audited.profiles.evidence.argmax())).save(
        folder / "images-cell.html", inline=True
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
