"""Contracts of attribution methods, tried on a score whose gradient is known."""

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
    """Maps are finite (n, channels or 1, height, width); one score a feature from coalitions."""
    if isinstance(trial.member, CoalitionMethod):
        _scores_each_feature(trial.member)
        return
    refused = {}
    for height, width in SIZES:
        try:
            maps = _compute_maps(trial, _images(height, width))
        except BadInput as error:
            refused[height, width] = str(error)
            continue
        shapes = [(COUNT, channels, height, width) for channels in (CHANNELS, 1)]
        require(
            tuple(maps.shape) in shapes,
            f"maps of {COUNT} images of {height} x {width} px have shape {tuple(maps.shape)}; "
            f"expected {shapes[0]}, or {shapes[1]} if whole pixels are hidden",
        )
        require(
            torch.isfinite(maps).all(),
            f"maps of images of {height} x {width} px are not finite; guard divisions by 0",
        )
    if len(refused) == len(SIZES):
        raise Broken(
            f"the method refuses every size: {refused}; accept images of at least 32 x 32 px"
        )


def _scores_each_feature(method: CoalitionMethod) -> None:
    coalitions = method.coalitions(CELLS, "a")
    actual = f"{coalitions.dtype} {coalitions.shape}"
    require(
        coalitions.dtype == bool and coalitions.shape[1:] == (CELLS,),
        f"coalitions({CELLS}, …) gave {actual}; expected bool (n, {CELLS})",
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
        torch.equal(_compute_maps(trial, images), _compute_maps(trial, images)),
        "maps or scores of the same images differ when they are computed again; a map method "
        "derives from RandomMethod and draws with self.generators(source_ids), a coalition method "
        "draws with image_draws(name, source_id)",
    )


def attributes_an_image_by_itself(trial: Trial) -> None:
    """The map of an image depends neither on the batch size nor on the other images."""
    images = _images(*SIZES[-1])
    together = _compute_maps(trial, images)
    one_by_one = _compute_maps(trial, images, batch_size=1)
    backwards = _compute_maps(trial, images.flip(0), COLUMNS[::-1], NAMES[::-1])
    for maps, manner in ((one_by_one, "one by one"), (backwards.flip(0), "in reverse order")):
        difference = float((maps - together).abs().max())
        scale = float(together.abs().max()) or 1.0
        require(
            difference <= 1e-3 * scale,
            f"maps or scores computed {manner} differ by {difference:.2g} from those of the batch "
            f"(largest value {scale:.2g}); draw by source ids, and normalise each map by itself",
        )


def counts_its_calls(trial: Trial) -> None:
    """A map costs forward_calls and backward_calls rows; features cost one row a coalition."""
    score = _score()
    outcome = _run_method(trial, score, _images(*SIZES[-1]))
    forward = outcome.asked_rows if isinstance(outcome, Played) else score.forward_rows
    actual_calls = (forward / COUNT, score.backward_rows / COUNT)
    declared_calls = trial.member.calls(CELLS)
    require(
        actual_calls == declared_calls,
        f"a map took {actual_calls[0]:g} forward and {actual_calls[1]:g} backward rows; "
        f"calls() declares {declared_calls[0]} and {declared_calls[1]}: correct it, since plans "
        "and costs depend on it",
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


def _run_method(
    trial: Trial,
    score: CountedScore,
    images: torch.Tensor,
    columns: tuple[int, ...] = COLUMNS,
    names: tuple[str, ...] = NAMES,
    batch_size: int = 64,
) -> torch.Tensor | Played:
    """Maps, or scores of the quarters of the images."""
    arguments = (score, images, columns, names, batch_size)
    if not isinstance(trial.member, CoalitionMethod):
        return trial.member.maps(*arguments)
    cells = feature_words(cell_map(images.shape[2:], 2) + 1)
    features = Features(np.stack([cells] * COUNT), np.full(COUNT, 2**CELLS - 1, np.uint64))
    return play([trial.member], features, *arguments)


def _compute_maps(
    trial: Trial, images: torch.Tensor, *arguments: Any, **options: Any
) -> torch.Tensor:
    outcome = _run_method(trial, _score(), images, *arguments, **options)
    return torch.from_numpy(outcome.scores[0]) if isinstance(outcome, Played) else outcome
