"""Remarks on the pairs and the scores of an audit."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError, number_of
from decaf.foundation.arrays import Array, is_network, is_tensor, type_name
from decaf.routing.route import DEFAULT_EPSILON, SHARE_ADVICE

SHOWN_NAMES = 5
EMBEDDINGS = ("Embedding", "EmbeddingBag")
"""Layers of torch that take ids."""
ROUNDING = 1e-6
"""Distance from [0, 1] of a probability in float32."""
FEWEST_LABELS = 20
"""Fewest pairs whose clean scores suggest labels."""
LEAST_PARTS = 3
"""Fewest regions that get a remark for counting from 0."""
NO_RESPONSE = 1e-9
"""Largest |d| that rounding in batches may cause, score units."""


class DataWarning(UserWarning):
    """The inputs can be audited, but the user probably meant others."""


class Trajectories(Protocol):
    """Part of an :class:`decaf.Audit` that remarks are about."""

    @property
    def ids(self) -> Sequence[str]:
        """(n_pairs,) names."""

    @property
    def is_finite(self) -> NDArray[np.bool_]:
        """(n_pairs,) true for pairs with finite scores."""

    @property
    def q_plus(self) -> NDArray[Any]:
        """(n_pairs, n_repetitions, n_stages) scores of the factual branch."""

    @property
    def q_minus(self) -> NDArray[Any]:
        """Scores of the counterfactual branch."""

    @property
    def response(self) -> NDArray[Any]:
        """Differences of the scores."""


def remark_on_equal_pairs(x_plus: Array, x_minus: Array) -> str:
    """Remark that counts the pairs whose two inputs, (n, …) each, are equal; empty without any."""
    count, is_equal = len(x_plus), cast("Array", x_plus == x_minus)
    equal_count = int(is_equal.reshape(count, -1).all(1).sum())
    if not equal_count:
        return ""
    if equal_count == count:
        return (
            f"x_minus equals x_plus in all {number_of(count, 'pair')}, so every response is 0; if "
            "both are one array, make x_minus from x_plus.copy() before you change it"
        )
    return (
        f"in {equal_count} of {count} pairs x_minus equals x_plus: their responses are 0 and "
        "reduce every mean; leave these rows out"
    )


def remark_on_scores(
    audits: Mapping[str, Trajectories], epsilon: float | None, *, has_classes: bool
) -> str:
    """Remark on labels as scores, or on an epsilon that does not fit; empty if the scores fit.

    ``epsilon`` is the threshold of the call, None for the default, which fits only probabilities;
    ``has_classes`` is True for scores of a class, a network or an estimator.
    """
    if labels := _remark_on_labels(audits):
        return labels
    if epsilon is None and has_classes:
        return _remark_on_units(audits)
    return remark_on_epsilon(audits, epsilon)


def _remark_on_labels(audits: Mapping[str, Trajectories]) -> str:
    """Remark on clean scores of many pairs that are one of two whole numbers; else empty."""
    audited = next(iter(audits.values()))
    branches = [branch[audited.is_finite, ..., -1] for branch in (audited.q_plus, audited.q_minus)]
    values = np.unique(np.concatenate(branches))
    if len(branches[0]) < FEWEST_LABELS or len(values) != 2 or (values != np.round(values)).any():
        return ""
    return (
        f"the score of each clean input is {values[0]:g} or {values[1]:g}, like a label of a "
        "class, which does not show how far a change moves the model; give a score that returns "
        "probabilities, such as predict_proba"
    )


def _remark_on_units(audits: Mapping[str, Trajectories]) -> str:
    """Remark on scores outside [0, 1], for the default epsilon."""
    low, high = _score_range(audits)
    if _are_shares(low, high):
        return ""
    return (
        f"scores go from {low:.3g} to {high:.3g}, so they are not probabilities, but "
        f"the default epsilon {DEFAULT_EPSILON:g} is meant for probabilities; give epsilon in "
        "units of the score, or a score that returns probabilities (softmax of logits)"
    )


def remark_on_epsilon(audits: Mapping[str, Trajectories], epsilon: float | None) -> str:
    """Remark on an epsilon, None for the default, that no pair reaches; empty if d is rounding."""
    threshold = DEFAULT_EPSILON if epsilon is None else epsilon
    responses = [audited.response[audited.is_finite] for audited in audits.values()]
    largest = max(float(np.abs(response[..., -1]).max()) for response in responses)
    if not NO_RESPONSE < largest < threshold:
        return ""
    is_stated_share = epsilon is not None and _are_shares(*_score_range(audits))
    remedy = SHARE_ADVICE if is_stated_share else "give epsilon in units of the score"
    digits = 3 if float(f"{largest:.3g}") < threshold else 17  # tell it from epsilon
    return (
        f"no pair reaches epsilon {threshold:g}, so all response is fragility: the largest |d| is "
        f"{largest:.{digits}g}; {remedy}"
    )


def remark_on_regions(regions: object) -> str:
    """Remark on feature numbers that probably count from 0, which means no feature; else empty.

    Numbers from 0 to K - 1 that begin with 0, at least three, each of the same number of pixels or
    columns, suggest this. A mask of one feature has two numbers.
    """
    numbers = np.asarray(regions) if isinstance(regions, list | tuple | np.ndarray) else None
    if numbers is None or numbers.dtype.kind not in "iu" or not numbers.size:
        return ""
    features, sizes = np.unique(numbers, return_counts=True)
    count = len(features)
    is_from_zero = numbers.flat[0] == features[0] == 0 and features[-1] == count - 1
    if count < LEAST_PARTS or not is_from_zero or len({*sizes.tolist()}) > 1:
        return ""
    return (
        f"regions number {count} parts of equal size from 0 to {count - 1}, and 0 means no "
        "feature, so the part 0 is never removed; if it is a feature, add 1 to all numbers"
    )


def remark_on_ids(score: object, x_plus: object) -> str:
    """Remark on rows of whole numbers that may be ids; empty for amounts, as far as decaf can tell.

    A tensor of whole numbers, or a network with an embedding layer, suggests ids. Whole numbers of
    a numpy array may be columns of a table.
    """
    if not isinstance(x_plus, np.ndarray) and not is_tensor(x_plus):
        return ""
    kind = type_name(x_plus)
    embeds = is_network(score) and any(
        type(part).__name__ in EMBEDDINGS for part in score.modules()
    )
    if not kind.startswith("int") or x_plus.ndim not in (2, 3) or not (is_tensor(x_plus) or embeds):
        return ""
    return (
        f"x_plus has type {kind}, and states between two inputs mix their numbers; if they are ids "
        "of tokens or categories, a mixture means nothing: give embeddings and a score that begins "
        "after the embedding layer, or a frame with columns of categories; if they are amounts, "
        "give floats"
    )


def remark_on_quarantine(audits: Mapping[str, Trajectories]) -> str:
    """Remark on scores that are not finite; empty without any.

    Raises ModelError if no pair has only finite scores.
    """
    for name, audited in audits.items():
        if not audited.is_finite.any():
            raise ModelError(
                f"every pair has scores that are not finite on path {name!r}; expected finite "
                "scores: check the score of inputs between the start and the clean input"
            )
    quarantined_ids = sorted(
        {
            audited.ids[pair]
            for audited in audits.values()
            for pair in np.flatnonzero(~audited.is_finite).tolist()
        }
    )
    if not quarantined_ids:
        return ""
    shown = ", ".join(quarantined_ids[:SHOWN_NAMES]) + (
        ", …" if len(quarantined_ids) > SHOWN_NAMES else ""
    )
    return (
        f"{number_of(len(quarantined_ids), 'pair')} with scores that are not finite; profiles "
        f"exclude them: {shown} ('quarantined' lists all)"
    )


def _are_shares(low: float, high: float) -> bool:
    return low >= -ROUNDING and high <= 1 + ROUNDING


def _score_range(audits: Mapping[str, Trajectories]) -> tuple[float, float]:
    """Smallest and largest score of all branches, score units."""
    scores = [branch for audited in audits.values() for branch in (audited.q_plus, audited.q_minus)]
    low = min(float(np.nanmin(branch)) for branch in scores)
    high = max(float(np.nanmax(branch)) for branch in scores)
    return low, high
