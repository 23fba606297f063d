"""Which column of what a callable returns is the score ``q`` of each pair."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ModelError, ResponseError
from decaf.foundation.arrays import Array, as_array, as_real, one_each, to_numpy, type_name

Score = Callable[[Array], Array | ArrayLike]
"""A batch of inputs → (n,) or (n, 1) scores, or (n, classes) of which a target is the score."""


def check_score(score: Any) -> None:
    """Refuse what cannot be called, and networks in training mode.

    Raises ModelError with what to do instead.
    """
    if not callable(score):
        raise ModelError(
            f"score is a {type(score).__name__}; expected a callable that maps a batch of inputs "
            "to scores, such as model.predict_proba"
        )
    if getattr(score, "training", None) is True:
        raise ModelError(
            "score is a network in training mode, whose scores depend on the batch; call "
            "score.eval() first"
        )


def target_columns(target: int | ArrayLike | None, count: int) -> NDArray[np.int64] | None:
    """(n_inputs,) column of each input, from one for all or one for each; None stays.

    Raises DataError for another number of targets than inputs, and ResponseError for anything but
    whole numbers from 0.
    """
    if target is None:
        return None
    given = to_numpy(target)
    targets = np.full(count, given) if given.ndim == 0 else one_each(given, count, "target")
    if targets.dtype.kind not in "iu" or targets.min() < 0:
        raise ResponseError(
            f"target is {target!r}; expected column numbers of the score, whole and from 0"
        )
    return targets.astype(np.int64)


class TargetScorer:
    """Makes (n, columns) scores of what the callable returns: only columns that are some ``q``."""

    def __init__(self, score: Score, targets: NDArray[np.int64] | None) -> None:
        self._score = score
        self._wanted = None
        if targets is not None:
            self._wanted, self._columns = np.unique(targets, return_inverse=True)

    def columns(self, pair_count: int) -> NDArray[np.int64]:
        """(n_pairs,) where the score of each pair is among the columns that are kept."""
        return np.zeros(pair_count, np.int64) if self._wanted is None else self._columns

    def __call__(self, inputs: Array) -> Array:
        """(n, …) inputs → (n, columns) scores.

        Raises ModelError for anything but real numbers, one row for each input, with the columns
        that are asked for.
        """
        output = "the output of the score"
        scored = as_real(as_array(self._score(inputs), output, ModelError), output, ModelError)
        if type_name(scored) == "bfloat16":  # numpy does not have it
            scored = scored.float()
        shape = tuple(scored.shape)
        if len(shape) not in (1, 2) or shape[0] != len(inputs):
            raise ModelError(
                f"the score returned shape {shape} for {len(inputs)} inputs; expected "
                f"({len(inputs)},) or ({len(inputs)}, columns)"
            )
        scored = scored.reshape(len(inputs), -1)
        if self._wanted is None:
            if scored.shape[1] != 1:
                raise ModelError(
                    f"the score returned {scored.shape[1]} columns; say which is q with "
                    "'target', one number for all inputs or one for each"
                )
            return scored
        if self._wanted[-1] >= scored.shape[1]:
            raise ModelError(
                f"target {self._wanted[-1]} is no column of the score, which returned "
                f"{scored.shape[1]}; expected 0 to {scored.shape[1] - 1}"
            )
        return scored[:, self._wanted.tolist()]
