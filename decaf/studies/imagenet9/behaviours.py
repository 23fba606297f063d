"""Behaviours of models of ImageNet-9, derived from class scores alone (paper, appendix F).

Three behaviours of a model on a foreground, from its scores of Mixed-Same, Mixed-Rand and
Mixed-Next. They may overlap, and none of them looks at a trajectory. The predicted class is the
one with the largest score, the first of several.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import DEFAULT_EPSILON, as_scores, is_active

CONSEQUENTIAL_CHANGE = 0.20
"""Change of the true-class probability that counts as a behaviour."""


def shows_evidence(
    same: ArrayLike, rand: ArrayLike, class_id: ArrayLike, change: float = CONSEQUENTIAL_CHANGE
) -> NDArray[np.bool_]:
    """``Y_E``: a random background undoes the evidence of a background of the class.

    Mixed-Same is classified correctly, and before the random background the model predicts another
    class, or the score of the true class is lower by ``change`` or more.

    Parameters
    ----------
    same, rand
        (n, classes) scores of Mixed-Same and Mixed-Rand.
    class_id
        (n,) true class, from 0.
    change
        Score units; equality counts.

    Returns
    -------
    (n,) bool

    Raises
    ------
    ResponseError
        For scores that are not finite, shapes that do not match, a class that has no score, or a
        change that is not above 0.

    Examples
    --------
    >>> shows_evidence([[0.75, 0.25]] * 2, [[0.7, 0.3], [0.5, 0.1]], [0, 0]).tolist()
    [False, True]
    """
    clean, random, truth = _check_scores(same, rand, class_id)
    fall = _of_class(clean, truth) - _of_class(random, truth)
    is_undone = (_predict_class(random) != _predict_class(clean)) | (
        fall >= _checked_change(change)
    )
    return (_predict_class(clean) == truth) & is_undone


def shows_contradiction(
    same: ArrayLike, next_: ArrayLike, class_id: ArrayLike
) -> NDArray[np.bool_]:
    """``Y_C``: the model follows the background to the next class.

    Mixed-Same is classified correctly, and Mixed-Next (``next_``) as the class of its background,
    ``(y + 1) mod classes``. Shapes and errors are those of :func:`shows_evidence`.

    >>> shows_contradiction([[0.1, 0.9]] * 2, [[0.6, 0.4], [0.4, 0.6]], [1, 1]).tolist()
    [True, False]
    """
    clean, next_scores, truth = _check_scores(same, next_, class_id)
    follows = _predict_class(next_scores) == (truth + 1) % clean.shape[1]
    return (_predict_class(clean) == truth) & follows


def needs_corruptions(
    same: ArrayLike, rand: ArrayLike, class_id: ArrayLike, epsilon: float = DEFAULT_EPSILON
) -> NDArray[np.bool_]:
    """Units whose fragility needs corruptions: ``|d| < epsilon``.

    All other units respond at the endpoint, and so are not fragile by definition. ``epsilon`` is
    the endpoint threshold of the audit; at equality a unit is active and needs no corruptions.
    Shapes and errors are those of :func:`shows_evidence`.

    >>> needs_corruptions([[0.9, 0.1]] * 2, [[0.89, 0.11], [0.5, 0.5]], [0, 0]).tolist()
    [True, False]
    """
    clean, random, truth = _check_scores(same, rand, class_id)
    return ~is_active(_of_class(clean, truth) - _of_class(random, truth), epsilon)


def shows_fragility(
    same: ArrayLike,
    corrupted: ArrayLike,
    class_id: ArrayLike,
    needed: ArrayLike,
    change: float = CONSEQUENTIAL_CHANGE,
) -> NDArray[np.bool_]:
    """``Y_F``: nothing changes at the endpoint, but a corruption of the background does.

    A corruption changes the predicted class of Mixed-Same, or moves the score of the true class, up
    or down, by ``change`` or more. A unit that responds at the endpoint is not fragile: it counts
    as negative wherever fragility is judged over all units.

    ``needed`` is (n,) bool from :func:`needs_corruptions`, ``corrupted`` (n_needed, n_corruptions,
    classes) scores of the corrupted Mixed-Same, of the units that need them, in their order. The
    other arguments and the errors are those of :func:`shows_evidence`.

    >>> corrupted = [[[0.9, 0.1], [0.4, 0.6]]]
    >>> shows_fragility([[0.9, 0.1]] * 2, corrupted, [0, 0], [True, False]).tolist()
    [True, False]
    """
    clean, _, truth = _check_scores(same, same, class_id)
    is_null = np.asarray(needed)
    if is_null.dtype != bool or is_null.shape != truth.shape:
        raise ResponseError(
            f"needed has shape {is_null.shape} and dtype {is_null.dtype}; expected one truth value "
            f"for each of {truth.size} units, from needs_corruptions"
        )
    is_fragile = np.zeros(truth.size, dtype=bool)
    if not is_null.any():
        return is_fragile
    states = as_scores(corrupted, "corrupted")
    rows, classes = int(is_null.sum()), clean.shape[1]
    if states.ndim != 3 or (states.shape[0], states.shape[2]) != (rows, classes):
        raise ResponseError(
            f"corrupted has shape {states.shape}; expected ({rows}, corruptions, {classes}), the "
            "units that need corruptions and no others"
        )
    clean, truth = clean[is_null], truth[is_null]
    of_truth = np.take_along_axis(states, truth[:, None, None], axis=2)[:, :, 0]
    moved = np.abs(of_truth - _of_class(clean, truth)[:, None]) >= _checked_change(change)
    switched = _predict_class(states) != _predict_class(clean)[:, None]
    is_fragile[is_null] = (moved | switched).any(axis=1)
    return is_fragile


def _check_scores(
    one: ArrayLike, other: ArrayLike, class_id: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.integer]]:
    first, second = as_scores(one, "same"), as_scores(other, "the other scores")
    truth = np.asarray(class_id)
    if first.ndim != 2 or first.shape != second.shape or truth.shape != first.shape[:1]:
        raise ResponseError(
            f"scores have shapes {first.shape} and {second.shape}, classes {truth.shape}; expected "
            "(n, classes) twice and (n,)"
        )
    if truth.dtype.kind not in "iu" or truth.min() < 0 or truth.max() >= first.shape[1]:
        raise ResponseError(
            f"class_id holds {truth.min()} to {truth.max()} of dtype {truth.dtype}; expected whole "
            f"numbers from 0 to {first.shape[1] - 1}, one for each column of the scores"
        )
    return first, second, truth


def _checked_change(change: float) -> float:
    if not (np.isfinite(change) and change > 0):
        raise ResponseError(f"change is {change!r}; expected a finite number above 0")
    return change


def _predict_class(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    return scores.argmax(axis=-1)


def _of_class(scores: NDArray[np.float64], class_id: NDArray[np.integer]) -> NDArray[np.float64]:
    return scores[np.arange(class_id.size), class_id]
