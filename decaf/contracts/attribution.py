"""What an attribution method has to keep, on a score whose gradient is known."""

from typing import Any

import numpy as np
import torch

from decaf.contracts.base import Broken, Trial, require
from decaf.data.cells import cell_map, feature_words
from decaf.errors import BadInput
from decaf.evaluation.attributions.coalitions import CoalitionMethod, Features, Played, play
from decaf.scoring.image_scores import CountedScore

SIZES = ((4, 4), (8, 8), (16, 12), (32, 32))
"""Heights and widths in px."""
COUNT, CHANNELS = 3, 3
NAMES = ("a", "b", "c")
COLUMNS = (0, 1, 0)
CELLS = 4
"""Features of an image: its quarters."""


def gives_numbers_of_the_expected_shape(trial: Trial) -> None:
    """Maps are finite (n, channels or 1, height, width); scores of coalitions one a feature."""
    if isinstance(trial.member, CoalitionMethod):
        _scores_each_feature(trial.member)
        return
    refused = {}
    for height, width in SIZES:
        try:
            maps = _attributed(trial, _images(height, width))
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


def _scores_each_feature(method: CoalitionMethod) -> None:
    coalitions = method.coalitions(CELLS, "a")
    found = f"{coalitions.dtype} {coalitions.shape}"
    require(
        coalitions.dtype == bool and coalitions.shape[1:] == (CELLS,),
        f"coalitions({CELLS}, …) gave {found}; expected bool (n, {CELLS})",
    )
    values = np.random.default_rng(0).normal(size=2**CELLS)
    scores = method.worth(coalitions, values[coalitions @ (1 << np.arange(CELLS))])
    require(
        np.shape(scores) == (CELLS,),
        f"worth() gave shape {np.shape(scores)} for {CELLS} features; expected ({CELLS},)",
    )
    total = values[-1] - values[0]
    require(
        not method.is_complete or np.isclose(scores.sum(), total),
        f"scores add up to {scores.sum():.6g}, and all features are worth {total:.6g} more than "
        "none; correct worth(), or is_complete",
    )


def attributes_the_same_twice(trial: Trial) -> None:
    """Maps and scores are the same each time; draws have a seed that is a setting."""
    images = _images(*SIZES[-1])
    require(
        torch.equal(_attributed(trial, images), _attributed(trial, images)),
        "maps or scores of the same images differ when they are made again; derive a method of "
        "maps from RandomMethod and draw with self.generators(source_ids), one of coalitions with "
        "image_draws(name, source_id)",
    )


def attributes_an_image_by_itself(trial: Trial) -> None:
    """What an image is given depends neither on the batch size nor on the other images."""
    images = _images(*SIZES[-1])
    together = _attributed(trial, images)
    one_by_one = _attributed(trial, images, batch_size=1)
    backwards = _attributed(trial, images.flip(0), COLUMNS[::-1], NAMES[::-1])
    for found, what in ((one_by_one, "one by one"), (backwards.flip(0), "in another order")):
        difference = float((found - together).abs().max())
        scale = float(together.abs().max()) or 1.0
        require(
            difference <= 1e-3 * scale,
            f"what is made {what} differs by {difference:.2g} of {scale:.2g}; draw by source ids, "
            "and normalise each map by itself",
        )


def counts_its_calls(trial: Trial) -> None:
    """forward_calls and backward_calls are what a map costs, coalitions what features cost."""
    score = _score()
    found = _found(trial, score, _images(*SIZES[-1]))
    forward = found.asked_rows if isinstance(found, Played) else score.forward_rows
    made = (forward / COUNT, score.backward_rows / COUNT)
    said = trial.member.calls(CELLS)
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


def _found(
    trial: Trial,
    score: CountedScore,
    images: torch.Tensor,
    columns: tuple[int, ...] = COLUMNS,
    names: tuple[str, ...] = NAMES,
    batch_size: int = 64,
) -> torch.Tensor | Played:
    """Maps, or scores of the quarters of the images."""
    given = (score, images, columns, names, batch_size)
    if not isinstance(trial.member, CoalitionMethod):
        return trial.member.maps(*given)
    cells = feature_words(cell_map(images.shape[2:], 2) + 1)
    features = Features(np.stack([cells] * COUNT), np.full(COUNT, 2**CELLS - 1, np.uint64))
    return play([trial.member], features, *given)


def _attributed(trial: Trial, images: torch.Tensor, *given: Any, **options: Any) -> torch.Tensor:
    found = _found(trial, _score(), images, *given, **options)
    return torch.from_numpy(found.scores[0]) if isinstance(found, Played) else found
