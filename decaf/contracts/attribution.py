"""What an attribution method has to keep, on a score whose gradient is known."""

import torch

from decaf.contracts.base import Broken, Trial, require
from decaf.errors import BadInput
from decaf.scoring.image_scores import CountedScore

SIZES = ((4, 4), (8, 8), (16, 12), (32, 32))
"""Heights and widths in px."""
COUNT, CHANNELS = 3, 3
NAMES = ("a", "b", "c")
COLUMNS = (0, 1, 0)


def maps_are_finite_and_of_the_images_size(trial: Trial) -> None:
    """Maps are finite numbers, (n, channels or 1, height, width), for images of some size."""
    refused = {}
    for height, width in SIZES:
        try:
            maps = _maps(trial, _images(height, width))
        except BadInput as error:
            refused[height, width] = str(error)
            continue
        shapes = [(COUNT, channels, height, width) for channels in (CHANNELS, 1)]
        require(
            tuple(maps.shape) in shapes,
            f"maps of {COUNT} images of {height} x {width} px have shape {tuple(maps.shape)}; "
            f"expected {shapes[0]}, or {shapes[1]} where pixels are hidden whole",
        )
        require(
            torch.isfinite(maps).all(),
            f"maps of images of {height} x {width} px are not finite; guard divisions by 0",
        )
    if len(refused) == len(SIZES):
        raise Broken(f"every size is refused: {refused}; take images of 32 x 32 px at least")


def makes_the_same_maps_twice(trial: Trial) -> None:
    """Maps are the same each time; draws have a seed that is a setting."""
    images = _images(*SIZES[-1])
    require(
        torch.equal(_maps(trial, images), _maps(trial, images)),
        "maps of the same images differ when they are made again; derive the method from "
        "RandomMethod and draw with self.generators(source_ids)",
    )


def maps_an_image_by_itself(trial: Trial) -> None:
    """The map of an image depends neither on the batch size nor on the other images."""
    images = _images(*SIZES[-1])
    together = _maps(trial, images)
    one_by_one = _maps(trial, images, batch_size=1)
    backwards = trial.member.maps(_score(), images.flip(0), COLUMNS[::-1], NAMES[::-1])
    for maps, what in ((one_by_one, "one by one"), (backwards.flip(0), "in another order")):
        difference = float((maps - together).abs().max())
        scale = float(together.abs().max()) or 1.0
        require(
            difference <= 1e-3 * scale,
            f"maps made {what} differ by {difference:.2g} of {scale:.2g}; draw by source ids, and "
            "normalise each map by itself",
        )


def counts_its_calls(trial: Trial) -> None:
    """forward_calls and backward_calls are what a map costs."""
    score = _score()
    trial.member.maps(score, _images(*SIZES[-1]), COLUMNS, NAMES)
    made = (score.forward_rows / COUNT, score.backward_rows / COUNT)
    said = (trial.member.forward_calls, trial.member.backward_calls)
    require(
        made == said,
        f"a map took {made[0]:g} forward and {made[1]:g} backward rows; forward_calls and "
        f"backward_calls say {said[0]} and {said[1]}: plans and costs are made from these",
    )


def _images(height: int, width: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(0)
    return torch.rand(COUNT, CHANNELS, height, width, generator=random)


def _score() -> CountedScore:
    """A curved score of two columns."""

    def answer(images: torch.Tensor) -> torch.Tensor:
        random = torch.Generator().manual_seed(1)
        weights = torch.randn(*images.shape[1:], 2, generator=random)
        linear = torch.einsum("nchw,chwk->nk", images, weights) / images[0].numel() ** 0.5
        return torch.sin(linear) + linear**2

    return CountedScore(answer)


def _maps(trial: Trial, images: torch.Tensor, batch_size: int = 64) -> torch.Tensor:
    return trial.member.maps(_score(), images, COLUMNS, NAMES, batch_size)
