"""One call: a score and paired inputs in, trajectories and profiles out."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, overload

from numpy.typing import ArrayLike

from decaf.errors import DataError, ModelError, ResponseError, UnknownName
from decaf.foundation.arrays import Array, is_tensor, namespace, one_each
from decaf.library.findings import Audit
from decaf.library.inputs import PairedInputs, as_inputs, pair_features, pair_inputs
from decaf.library.targets import Score, TargetScorer, check_score, target_columns
from decaf.reveal.path import RevealPath, stage_grid
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.context import ContextChannel
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.routing.route import DEFAULT_EPSILON, check_epsilon
from decaf.scoring.block import score_block
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder

BLUR_OF_SIDE = 8 / 224
"""Blur of the start where the call leaves it open: the paper's 8 px of 224, whatever the size."""

FEATURES_A_SIDE = 4
"""Cells a side where the call leaves it open: the 16 patches of the paper, section 7."""

SHOWN_NAMES = 5

_ONLY = "path"
"""Name of a path that came without one."""


class QuarantineWarning(UserWarning):
    """Some pairs have scores that are not finite; they are in no profile."""


@overload
def audit(
    score: Score,
    x_plus: ArrayLike | Array,
    x_minus: ArrayLike | Array | None = ...,
    *,
    path: RevealPath | str | None = ...,
    **options: Any,
) -> Audit: ...
@overload
def audit(
    score: Score,
    x_plus: ArrayLike | Array,
    x_minus: ArrayLike | Array | None = ...,
    *,
    path: Mapping[str, RevealPath | str],
    **options: Any,
) -> dict[str, Audit]: ...
def audit(
    score: Score,
    x_plus: ArrayLike | Array,
    x_minus: ArrayLike | Array | None = None,
    *,
    path: RevealPath | str | Mapping[str, RevealPath | str] | None = None,
    stages: int | Sequence[float] = 9,
    epsilon: float = DEFAULT_EPSILON,
    target: int | ArrayLike | None = None,
    context: tuple[ArrayLike | Array, ArrayLike | Array] | None = None,
    regions: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    batch_size: int = 64,
) -> Audit | dict[str, Audit]:
    """Score both branches of every pair along a reveal path, and route the response.

    Inputs that occur twice, in any pair, stage, branch or path, are scored once.

    Parameters
    ----------
    score
        Any callable: a network in evaluation mode, a method of an estimator, a function that asks
        a server. It gets at most ``batch_size`` inputs, numpy arrays where arrays were given and
        tensors on their device (under ``torch.inference_mode``) where tensors were given, and
        returns ``q``: (n,) or (n, 1) real numbers, or (n, classes) with a ``target``.
    x_plus, x_minus
        Factual and counterfactual inputs of the same shape: (n, features), (n, channels, height,
        width) or any (n, …); float32 or float64. 8-bit images become float32 in [0, 1]; whole
        numbers in rows become float64. Without ``x_minus`` every input is paired with itself
        without each of its features.
    path
        A reveal path, its kind (``"blend"``, ``"patches"``, ``"removal"``, ``"context"``), or
        several by a name of your own; these share states. By default: the removal of features
        without ``x_minus``, the context channel with ``context``, else the straight line from the
        midpoint, which for images is blurred by 8 px in 224.
    stages
        Number of evenly spaced stages, or the stages themselves from 0 to 1.
    epsilon
        Gate ``|d| >= epsilon`` in score units. ``Audit.at`` changes it without a query.
    target
        Which column of the score is ``q``: one for all inputs, or (n,) one for each.
    context
        Both inputs under the swapped context, each of the shape of ``x_plus``.
    regions
        For the removal of features: feature number of every pixel or column, 0 for none; (height,
        width) or (features,), or with a leading (n,). Without them every column of a row is a
        feature, and an image has the cells of a 4 × 4 grid.
    clusters
        (n,) labels of inputs that are resampled together in intervals; every input is its own
        cluster by default, with all its features.
    ids
        (n,) names of the inputs; their numbers by default.
    batch_size
        Inputs of one call of the score at most; halved where the memory does not suffice.

    Returns
    -------
    Audit, or one by name where several paths were given
        Pairs with scores that are not finite have NaN profiles and are named in ``quarantined``.

    Raises
    ------
    DataError
        For inputs that cannot be paired, or do not fit the path.
    ModelError
        When the score is no callable, or returns anything but real numbers, one row for each
        input, or no finite trajectory at all.
    ResponseError
        For impossible stages, ``epsilon``, targets or batch sizes.
    ScoringFailed
        When even one input does not fit the memory.
    UnknownName
        For a kind of path that does not exist.

    Warns
    -----
    QuarantineWarning
        When some pairs have scores that are not finite.

    Examples
    --------
    >>> audited = audit(lambda x: x[:, 0] * x[:, 1], [[1.0, 1.0]], [[-1.0, 1.0]], stages=3)
    >>> audited.response.tolist(), audited.profiles.evidence.tolist()
    ([[[0.0, 1.0, 2.0]]], [1.0])
    """
    check_score(score)
    if type(batch_size) is not int or batch_size < 1:
        raise ResponseError(f"batch_size is {batch_size!r}; expected a whole number from 1")
    epsilon, grid = check_epsilon(epsilon), stage_grid(stages)
    factual = as_inputs(x_plus, "x_plus")
    count = len(factual)
    names = _names(ids, count)
    labels = one_each(range(count) if clusters is None else clusters, count, "clusters")
    targets = target_columns(target, count)

    paths = _chosen_paths(path, factual, x_minus is None, context is not None, regions is not None)
    pairs = _pairs(factual, x_minus, context, regions, names, paths)
    row = pairs.block.source
    scorer = TargetScorer(score, None if targets is None else targets[row])
    plan = plan_states(pairs.block, pairs.given, paths, grid)
    builder = StateBuilder(plan, pairs.clean)
    torch = namespace(pairs.clean) if is_tensor(pairs.clean) else None
    with torch.inference_mode() if torch else nullcontext():
        scores = score_block(plan, builder, scorer, scorer.columns(row.size), batch_size)

    audits = {
        name: Audit(
            ids=pairs.block.pair_ids,
            grid=plan.grids[name],
            q_plus=branches[..., 0],
            q_minus=branches[..., 1],
            epsilon=epsilon,
            clusters=labels[row],
            row=row,
            feature=pairs.block.feature,
            forward_rows=scores.forward_rows,
            naive_rows=scores.naive_rows,
        )
        for name, branches in scores.branches.items()
    }
    message = _quarantine_message(audits)
    if message:
        warnings.warn(message, QuarantineWarning, stacklevel=2)
    return audits if isinstance(path, Mapping) else audits[_ONLY]


def _names(ids: Sequence[str] | None, count: int) -> list[str]:
    names = list(map(str, range(count) if ids is None else ids))
    if len(names) != count or len(set(names)) != count:
        raise DataError(
            f"ids are {len(names)} names, {len(set(names))} of them distinct; expected {count}, "
            "all distinct, one for each input"
        )
    return names


def _chosen_paths(
    path: RevealPath | str | Mapping[str, RevealPath | str] | None,
    inputs: Array,
    removes: bool,
    has_context: bool,
    has_regions: bool,
) -> dict[str, RevealPath]:
    is_image = inputs.ndim == 4
    blur = BLUR_OF_SIDE * min(inputs.shape[2:]) if is_image else 0.0
    known = {
        Blend.kind: Blend(sigma=blur),
        Patches.kind: Patches(sigma=blur),
        Removal.kind: Removal(side=FEATURES_A_SIDE if is_image and not has_regions else None),
        ContextChannel.kind: ContextChannel(),
    }
    if path is None:
        path = Removal.kind if removes else ContextChannel.kind if has_context else Blend.kind
    given = path if isinstance(path, Mapping) else {_ONLY: path}
    if not given:
        raise ResponseError("path is an empty mapping; expected at least one reveal path")
    chosen = {}
    for name, one in given.items():
        if isinstance(one, str) and one not in known:
            raise UnknownName.among("reveal path", one, known)
        chosen[name] = known[one] if isinstance(one, str) else one
        if not isinstance(chosen[name], RevealPath):
            raise ResponseError(
                f"path is {one!r}; expected a reveal path such as decaf.Blend(sigma=8), or the "
                f"name of a kind: {', '.join(known)}"
            )
    return chosen


def _pairs(
    factual: Array,
    x_minus: ArrayLike | Array | None,
    context: tuple[ArrayLike | Array, ArrayLike | Array] | None,
    regions: ArrayLike | None,
    names: list[str],
    paths: Mapping[str, RevealPath],
) -> PairedInputs:
    sides = {path.side if isinstance(path, Removal) else "pair" for path in paths.values()}
    if x_minus is None:
        if "pair" in sides or len(sides) > 1 or context is not None:
            raise DataError(
                "without x_minus every input is paired with itself without a feature, which "
                "needs paths that remove the same features (one 'side', or none), and no context; "
                "give x_minus, or audit the paths in calls of their own"
            )
        return pair_features(factual, names, regions, sides.pop())
    if sides != {"pair"} or regions is not None:
        raise DataError(
            "x_minus was given together with regions or a path that removes features; such paths "
            "make their own counterfactuals: leave x_minus out, or choose another path"
        )
    inputs = {"x_plus": factual, "x_minus": as_inputs(x_minus, "x_minus")}
    if context is not None:
        if not isinstance(context, tuple | list) or len(context) != 2:
            raise DataError("context must be two arrays: both inputs under the swapped context")
        for number, values in enumerate(context):
            inputs[f"context[{number}]"] = as_inputs(values, f"context[{number}]")
    return pair_inputs(inputs, names)


def _quarantine_message(audits: Mapping[str, Audit]) -> str:
    """What is to be said about scores that are not finite, if anything."""
    for name, audited in audits.items():
        if len(audited.quarantined) == len(audited.ids):
            where = "" if name == _ONLY else f" on path {name!r}"
            raise ModelError(
                f"every pair has scores that are not finite{where}; there is nothing to profile: "
                "check what the score returns for inputs on the way from the start"
            )
    withheld = sorted({pair for audited in audits.values() for pair in audited.quarantined})
    if not withheld:
        return ""
    shown = ", ".join(withheld[:SHOWN_NAMES]) + (", …" if len(withheld) > SHOWN_NAMES else "")
    return (
        f"{len(withheld)} pairs have scores that are not finite and are in no profile: {shown} "
        "(all in 'quarantined')"
    )
