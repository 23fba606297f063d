"""One call: a score and paired inputs in, trajectories and profiles out."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from decaf.errors import DataError, ModelError, ResponseError, UnknownName
from decaf.foundation.arrays import Array, one_each, to_numpy
from decaf.library.findings import Audit, Audits
from decaf.library.frames import Frames
from decaf.library.inputs import (
    PairedInputs,
    as_inputs,
    pair_features,
    pair_inputs,
    remark_on_pixels,
)
from decaf.library.scoring import Queries, score_pairs
from decaf.library.targets import Score, asked_for_scores, call_in_order
from decaf.reveal.path import RevealPath, stage_grid
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.context import ContextChannel
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.reveal.refinement import Refinement
from decaf.routing.route import DEFAULT_EPSILON, check_epsilon
from decaf.statistics.bootstrap import checked_weights

BLUR_OF_SIDE = 8 / 224
"""Default blur of the start, as a share of the size: the paper's 8 px of 224."""

FEATURES_A_SIDE = 4
"""Cells a side where the call leaves it open: the 16 patches of the paper, section 7."""

SHOWN_NAMES = 5
ROUNDING = 1e-6
"""Distance from [0, 1] of a probability in float32."""

Inputs = ArrayLike | Array | Any
"""Arrays, tensors, or frames of pandas or polars."""


class Options(TypedDict, total=False):
    """Further options of an audit."""

    stages: int | Sequence[float]
    epsilon: float | None
    target: Any
    classes: Sequence[str] | None
    context: tuple[Inputs, Inputs] | None
    regions: ArrayLike | None
    clusters: ArrayLike | None
    weights: ArrayLike | None
    ids: Sequence[str] | None
    batch_size: int | None
    repeats: int
    progress: bool


class QuarantineWarning(UserWarning):
    """Some pairs have scores that are not finite; they are in no profile."""


class DataWarning(UserWarning):
    """The inputs can be audited, but are probably not what the user meant."""


@overload
def audit(
    score: Score | Any,
    x_plus: Inputs,
    x_minus: Inputs | None = ...,
    *,
    path: RevealPath | str | None = ...,
    **options: Unpack[Options],
) -> Audit: ...
@overload
def audit(
    score: Score | Any,
    x_plus: Inputs,
    x_minus: Inputs | None = ...,
    *,
    path: Mapping[str, RevealPath | str],
    **options: Unpack[Options],
) -> Audits: ...
def audit(
    score: Score | Any,
    x_plus: Inputs,
    x_minus: Inputs | None = None,
    *,
    path: RevealPath | str | Mapping[str, RevealPath | str] | None = None,
    stages: int | Sequence[float] = 9,
    epsilon: float | None = None,
    target: Any = None,
    classes: Sequence[str] | None = None,
    context: tuple[Inputs, Inputs] | None = None,
    regions: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    batch_size: int | None = None,
    repeats: int = 1,
    progress: bool = False,
) -> Audit | Audits:
    """Score both branches of every pair along a reveal path, and route the response.

    Inputs that occur twice, in any pair, stage, branch or path, are scored once.

    Parameters
    ----------
    score
        Any callable: a network in evaluation mode, a method of an estimator, a function that asks
        a server. It gets at most ``batch_size`` inputs: numpy arrays for arrays, tensors on their
        device (under ``torch.inference_mode``) for tensors, frames for frames. It returns ``q``:
        (n,) or (n, 1) real numbers, or (n, classes) with a ``target``. A network of torch gets
        tensors of its precision, on its device, if it takes no arrays. Of an estimator,
        ``predict_proba`` is called if it has that and ``classes_``, else ``predict``.
    x_plus, x_minus
        Factual and counterfactual inputs of the same shape: (n, features), (n, channels, height,
        width) or any (n, …); float32 or float64. 8-bit images become float32 in [0, 1]; whole
        numbers in rows become float64. Frames of pandas or polars have the same columns, in any
        order, of numbers, truth values, text or categories (:mod:`decaf.data.frames` says what is
        on the way between two of them); the score gets the columns, types and categories of
        ``x_plus``, and rows labelled as the factual row that they belong to. Without ``x_minus``
        every input is paired with itself without each of its features.
    path
        A reveal path, its kind (``"blend"``, ``"patches"``, ``"removal"``, ``"context"``), or
        several by names that you choose; they share states. By default: the removal of features
        without ``x_minus``, the context channel with ``context``, else the straight line from the
        midpoint, which for images is blurred by 8 px in 224. The baseline 0 of a removal is the
        typical row of a frame: the means of its numbers and its most frequent categories.
    stages
        Number of evenly spaced stages, or the stages themselves from 0 to 1.
    epsilon
        Gate ``|d| >= epsilon`` in score units, 0.02 by default, which is meant for probabilities.
        ``Audit.at`` changes it without a query.
    target
        Which column of the score is ``q``, by its number or by its name among ``classes``, or, of a
        classifier, which label of ``classes_``: one for all inputs, or (n,) one for each.
    classes
        Names of the columns of a score in order, such as the classes of a network.
    context
        Both inputs under the swapped context, each of the shape or columns of ``x_plus``.
    regions
        For the removal of features: feature number of every pixel or column, 0 for none; (height,
        width) or (features,), or with a leading (n,). For features that overlap, truth values:
        (k, height, width) or (k, features), or with a leading (n,). Without them every column of a
        row is a feature, and an image has the cells of a 4 × 4 grid.
    clusters
        (n,) labels of sources: intervals draw all inputs of a source together, and paths with
        random starts draw once for them. By default, every input is a source, with all its
        features.
    weights
        (n,) how much each input counts in means, with all its features: finite numbers above 0, of
        which only the proportions matter. All count alike by default.
    ids
        (n,) names of the inputs; their numbers by default.
    batch_size
        Inputs of one call of the score at most; halved where the memory does not suffice. By
        default the first call gets 64, and later calls more while a call takes less than 0.25 s:
        up to 16,384 rows of a table, and 64 photos of 224 px (512 on a GPU).
    repeats
        Queries of every input, for a score that draws: ``q`` is their mean, and the audit has the
        ``response_errors`` of the responses.
    progress
        Count forward rows in a line on standard error.

    Returns
    -------
    Audit, or Audits by name where several paths were given
        Pairs with scores that are not finite have NaN profiles and are named in ``quarantined``.

    Raises
    ------
    DataError
        For inputs that cannot be paired, or do not fit the path.
    ModelError
        When the score can neither be called nor predicts, or returns anything but real numbers, one
        row for each input, or no finite trajectory at all.
    ResponseError
        For impossible stages, ``epsilon``, targets, weights or batch sizes.
    ScoringFailed
        When even one input does not fit the memory.
    UnknownName
        For a kind of path that does not exist.

    Warns
    -----
    BatchWarning
        When a batch does not fit the memory, so that later ones are smaller.
    DataWarning
        When a column of a frame has more than 50 categories, as dates and ids have, or a category
        that the estimator's encoder was not fitted on or, without an encoder, ``x_plus`` lacks. For
        8-bit images, and for other numbers that look like pixels. When scores of a ``target`` are
        no probabilities and ``epsilon`` is not given.
    QuarantineWarning
        When some pairs have scores that are not finite.
    UnstableScoreWarning
        When one input has two scores, alone and in batches, and ``repeats`` is 1.

    Examples
    --------
    >>> audited = audit(lambda x: x[:, 0] * x[:, 1], [[1.0, 1.0]], [[-1.0, 1.0]], stages=3)
    >>> audited.response.tolist(), audited.profiles.evidence.tolist()
    ([[[0.0, 1.0, 2.0]]], [1.0])
    """
    if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
        raise ResponseError(
            f"batch_size is {batch_size!r}; expected a whole number from 1, or None"
        )
    if type(repeats) is not int or repeats < 1:
        raise ResponseError(f"repeats is {repeats!r}; expected a whole number from 1")
    gate, grid = check_epsilon(DEFAULT_EPSILON if epsilon is None else epsilon), stage_grid(stages)
    named_inputs = _collect_inputs(x_plus, x_minus, context)
    frames = Frames.of(named_inputs)
    remarks = frames.remark(score, named_inputs) if frames else [remark_on_pixels(x_plus, "x_plus")]
    for remark in filter(None, remarks):
        warnings.warn(remark, DataWarning, stacklevel=2)
    inputs = {
        name: as_inputs(frames.schema.encode(values) if frames else values, name)
        for name, values in named_inputs.items()
    }
    count = len(inputs["x_plus"])
    names = _names(ids, count)
    labels = one_each(range(count) if clusters is None else clusters, count, "clusters")
    weight = checked_weights(weights, count)
    score_call = asked_for_scores(score, target, count, classes)
    paths = _chosen_paths(path, inputs, regions is not None)
    if frames:
        rows = to_numpy(inputs["x_plus"])
        paths = {name: frames.from_typical(audit_path, rows) for name, audit_path in paths.items()}
    pairs = _pairs(inputs, names, regions, paths, frames).with_sources(labels)
    call = call_in_order(score, score_call.call, frames.feature_names if frames else ())
    score_call = score_call._replace(call=call)
    queries = Queries(batch_size, repeats, gate, is_shown=progress)
    scores, errors, grids = score_pairs(pairs, paths, grid, score_call, frames, queries)
    row = pairs.block.source
    audits = Audits(
        {
            name: Audit(
                ids=pairs.block.pair_ids,
                grid=grids[name],
                q_plus=branches[..., 0],
                q_minus=branches[..., 1],
                epsilon=gate,
                clusters=labels[row],
                weights=weight[row],
                row=row,
                feature=pairs.block.feature,
                feature_names=pairs.feature_names,
                path=name,
                score_source=score_call.words,
                forward_rows=scores.forward_rows,
                naive_rows=scores.naive_rows,
                response_errors=errors.get(name),
            )
            for name, branches in scores.branches.items()
        }
    )
    message = _quarantine_message(audits)
    if message:
        warnings.warn(message, QuarantineWarning, stacklevel=2)
    if epsilon is None and target is not None and (remark := _remark_on_units(audits)):
        warnings.warn(remark, DataWarning, stacklevel=2)
    return audits if isinstance(path, Mapping) else next(iter(audits.values()))


def _collect_inputs(x_plus: Inputs, x_minus: Inputs | None, context: Any) -> dict[str, Inputs]:
    """Inputs by the names that errors call them; without those that are not given."""
    inputs = {"x_plus": x_plus}
    if x_minus is not None:
        inputs["x_minus"] = x_minus
    if context is not None:
        if not isinstance(context, tuple | list) or len(context) != 2:
            raise DataError(
                "context must be two arrays or frames: both inputs under the swapped context"
            )
        inputs |= {f"context[{number}]": values for number, values in enumerate(context)}
    return inputs


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
    inputs: dict[str, Array],
    has_regions: bool,
) -> dict[str, RevealPath]:
    shape = inputs["x_plus"].shape
    is_image = len(shape) == 4
    blur = BLUR_OF_SIDE * min(shape[2:]) if is_image else 0.0
    paths_by_kind = {
        Blend.kind: Blend(sigma=blur),
        Patches.kind: Patches(sigma=blur),
        Removal.kind: Removal(side=FEATURES_A_SIDE if is_image and not has_regions else None),
        ContextChannel.kind: ContextChannel(),
    }
    if path is None and "x_minus" not in inputs:
        path = Removal.kind
    elif path is None:
        path = Blend.kind if len(inputs) == 2 else ContextChannel.kind
    if not isinstance(path, Mapping):
        path = {path if isinstance(path, str) else getattr(path, "kind", type(path).__name__): path}
    if not path:
        raise ResponseError("path is an empty mapping; expected at least one reveal path")
    chosen = {}
    for name, entry in path.items():
        if isinstance(entry, str) and entry not in paths_by_kind:
            raise UnknownName.among("reveal path", entry, paths_by_kind)
        chosen[name] = paths_by_kind[entry] if isinstance(entry, str) else entry
        if not isinstance(chosen[name], RevealPath):
            raise ResponseError(
                f"path is {entry!r}; expected a reveal path such as decaf.Blend(sigma=8), or the "
                f"name of a kind: {', '.join(paths_by_kind)}"
            )
        if isinstance(chosen[name].stages, Refinement):
            raise ResponseError(
                f"path {name!r} has a rule for its stages, which only studies refine; give a number"
            )
    return chosen


def _pairs(
    inputs: dict[str, Array],
    names: list[str],
    regions: ArrayLike | None,
    paths: dict[str, RevealPath],
    frames: Frames | None,
) -> PairedInputs:
    sides: set[Any] = {
        path.side if isinstance(path, Removal) else "pair" for path in paths.values()
    }
    if "x_minus" in inputs:
        if sides != {"pair"} or regions is not None:
            raise DataError(
                "x_minus was given together with regions or a path that removes features; such "
                "paths make their own counterfactuals: leave x_minus out, or choose another path"
            )
        return pair_inputs(inputs, names)
    if "pair" in sides or len(sides) > 1 or len(inputs) > 1:
        raise DataError(
            "without x_minus every input is paired with itself without a feature, which "
            "needs paths that remove the same features (one 'side', or none), and no context; "
            "give x_minus, or audit the paths in calls of their own"
        )
    features: tuple[str, ...] = ()
    if frames:
        features = frames.feature_names if regions is None else ()
        regions = frames.regions(regions)
    return pair_features(inputs["x_plus"], names, regions, sides.pop(), features)


def _remark_on_units(audits: Mapping[str, Audit]) -> str:
    """Remark on scores of a class that are no probabilities; empty if all lie from 0 to 1."""
    scores = [branch for audited in audits.values() for branch in (audited.q_plus, audited.q_minus)]
    low = min(float(np.nanmin(branch)) for branch in scores)
    high = max(float(np.nanmax(branch)) for branch in scores)
    if low >= -ROUNDING and high <= 1 + ROUNDING:
        return ""
    return (
        f"scores of the target go from {low:.3g} to {high:.3g}, so they are no probabilities, and "
        f"epsilon is {DEFAULT_EPSILON:g} by default, which is meant for these; give epsilon in "
        "units of the score, or a score that returns probabilities (softmax of logits)"
    )


def _quarantine_message(audits: Mapping[str, Audit]) -> str:
    """Warning about scores that are not finite; None without such scores."""
    for name, audited in audits.items():
        if len(audited.quarantined) == len(audited.ids):
            raise ModelError(
                f"every pair has scores that are not finite on path {name!r}; there is nothing to "
                "profile: check what the score returns for inputs on the way from the start"
            )
    withheld = sorted({pair for audited in audits.values() for pair in audited.quarantined})
    if not withheld:
        return ""
    shown = ", ".join(withheld[:SHOWN_NAMES]) + (", …" if len(withheld) > SHOWN_NAMES else "")
    return (
        f"{len(withheld)} pairs have scores that are not finite and are in no profile: {shown} "
        "(all in 'quarantined')"
    )
