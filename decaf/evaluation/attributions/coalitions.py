"""Coalition methods: the worth of each feature, from scores of the image with some features hidden.

In the game of an image its features are the players. A coalition ``z`` is a set of them, and
``v(z)`` is q of the image without all other features: the state in which the path `removal` ends,
where a pixel is that of the reference if a feature outside of ``z`` covers it. Pixels without a
feature are always shown. A feature without pixels does not play and is worth 0. Methods with the
same reference and score share one game, which scores each coalition once.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.data.cells import WORD_BITS, feature_words, unpack
from decaf.errors import DataError
from decaf.evaluation.attributions.base import Access, AttributionMethod, check_request
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor, bits_like, places_like
from decaf.foundation.digests import hashed_word
from decaf.reveal.paths.blend import stage_words
from decaf.reveal.paths.removal import FadeWithout
from decaf.scoring.image_scores import CountedScore

FADE, WHOLE = FadeWithout(None), stage_words(np.ones(1))
"""States of the path `removal`, and its last stage."""


class CoalitionMethod(Referred, AttributionMethod):
    """A method that computes the scores of features from the values of coalitions."""

    access: ClassVar[Access] = "sampling"

    @property
    def most_players(self) -> int:
        """Largest number of features of an image that the method supports."""
        return WORD_BITS

    @property
    def is_complete(self) -> bool:
        """True if the scores add up to the value of all features minus the value of no feature."""
        return False

    @property
    def game(self) -> dict[str, Any]:
        """Settings that methods of one game share, as JSON."""
        return self.model_dump(mode="json", include={*Referred.model_fields, "own_score"})

    def check(self, players: int) -> None:
        """Raise DataError for more features of an image than the method supports."""
        if players > self.most_players:
            raise DataError(
                f"an image has {players} features; {self.kind} with these settings supports at "
                f"most {self.most_players}: leave the method out, or use kernel_shap with "
                "'form: layers' and more 'samples'"
            )

    def calls(self, features: int) -> tuple[int, int]:
        """One forward row for each requested coalition, including repeated ones."""
        return (len(self.coalitions(features, "")) if features else 0), 0

    @abstractmethod
    def coalitions(self, players: int, source_id: str) -> NDArray[np.bool_]:
        """(n, players) requested coalitions: True for each player that is shown."""

    @abstractmethod
    def worth(
        self, coalitions: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> NDArray[np.floating]:
        """(players,) scores from the (n,) values of its coalitions; NaN for undefined ones."""


class Features(NamedTuple):
    """Places of the features of images."""

    regions: NDArray[np.unsignedinteger]
    """(n, height, width) words, with bit k - 1 where feature k lies."""
    named: NDArray[np.uint64]
    """(n,) words of the requested features; pixels of other features count as background."""

    def players(self) -> list[NDArray[np.int64]]:
        """Requested features of each image that have a pixel, numbered from 1."""
        present = np.bitwise_or.reduce(self.regions, axis=(1, 2)) & self.named
        return [np.flatnonzero(bits) + 1 for bits in unpack(present[:, None], WORD_BITS)]


class Game(NamedTuple):
    """Coalitions that the methods need of one image."""

    players: NDArray[np.int64]
    coalitions: list[NDArray[np.bool_]]
    """Coalitions of each method."""
    hidden: list[NDArray[np.uint64]]
    """Bits of the hidden features, for each method and each of its coalitions."""
    states: NDArray[np.uint64]
    """Distinct hidden sets, each scored once."""


def game_of(methods: Sequence[CoalitionMethod], players: NDArray[np.int64], source_id: str) -> Game:
    """The game of an image; raises DataError for more players than a method supports."""
    for method in methods:
        method.check(players.size)
    used = methods if players.size else ()
    coalitions = [method.coalitions(players.size, source_id) for method in used]
    hidden = [~members @ feature_words(players) for members in coalitions]
    states = np.unique(np.concatenate([np.zeros(0, np.uint64), *hidden]))
    return Game(players, coalitions, hidden, states)


class Played(NamedTuple):
    """Outcome of the games of images."""

    scores: NDArray[np.float64]
    """(n_methods, n, 64): in column k - 1 the score of feature k, 0 if it does not play."""
    asked_rows: int
    """Number of requested coalitions, without sharing between methods."""


def play(
    methods: Sequence[CoalitionMethod],
    features: Features,
    score: CountedScore,
    images: Tensor,
    columns: ArrayLike,
    source_ids: Sequence[str],
    batch_size: int = 64,
) -> Played:
    """Score the features of images by several methods of one game; a batch can span several images.

    All other arguments, and their errors, are those of :meth:`MapMethod.maps`; raises DataError for
    more features than a method supports.
    """
    import torch

    column_numbers, names = check_request(images, columns, source_ids, batch_size)
    players_and_names = zip(features.players(), names, strict=True)
    games = [game_of(methods, players, name) for players, name in players_and_names]
    image = np.repeat(np.arange(len(games)), [game.states.size for game in games])
    hidden = np.concatenate([game.states for game in games])
    regions = bits_like(images, features.regions)
    with torch.inference_mode():
        scored = torch.empty(hidden.size, dtype=torch.float64, device=images.device)
        reference = methods[0].reference(images, score)
        for start in range(0, hidden.size, batch_size):
            batch = slice(start, start + batch_size)
            batch_images = image[batch]
            at = places_like(images, batch_images)
            clean = images[at]
            content = np.stack([np.repeat(WHOLE, batch_images.size), hidden[batch]], axis=1)
            states: Any = FADE.states(reference[at], clean, content, regions[at])
            whole = places_like(images, np.flatnonzero(hidden[batch] == 0))
            states[whole] = clean[whole]
            scored[batch] = score(states, column_numbers[batch_images])
    values = scored.cpu().numpy()
    scores = np.zeros((len(methods), len(games), WORD_BITS))
    for row, game in enumerate(games):
        image_values = values[image == row]
        for place, coalitions in enumerate(game.coalitions):
            coalition_values = image_values[np.searchsorted(game.states, game.hidden[place])]
            scores[place, row, game.players - 1] = methods[place].worth(
                coalitions, coalition_values
            )
    return Played(scores, sum(hidden_sets.size for game in games for hidden_sets in game.hidden))


def every_coalition(players: int) -> NDArray[np.bool_]:
    """(2^players, players) all coalitions: number z has player k if it has bit k - 1."""
    return (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)


def fit_slopes(
    coalitions: NDArray[np.bool_],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    ridge: float,
) -> NDArray[np.floating]:
    """(players,) slopes of values (n,) over coalitions (n, players), with a free intercept.

    Least squares with weights (n,), and ``ridge`` times the sum of the squared slopes, in float64.
    """
    design = np.column_stack([np.ones(len(coalitions)), coalitions])
    weighted = (design * weights[:, None]).T
    penalty = np.diag([0.0, *np.full(coalitions.shape[1], ridge)])
    return np.linalg.solve(weighted @ design + penalty, weighted @ values)[1:]


def image_draws(member: str, source_id: str) -> np.random.RandomState:
    """Random generator of one image, seeded as in the paper's code.

    The seed is the first eight bytes of the sha256 of ``member`` and ``source_id``, modulo
    2^31 - 1.
    """
    return np.random.RandomState(hashed_word(f"{member}\0{source_id}") % (2**31 - 1))
