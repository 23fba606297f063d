"""Audit a score on paired inputs in one call."""

# With this import, help() shows names of types instead of the unions behind them.
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from decaf.errors import DataError, ResponseError, UnknownName
from decaf.foundation.arrays import Array, is_network, one_each, to_numpy
from decaf.library.audits import Audit
from decaf.library.by_path import Audits
from decaf.library.frames import Frames
from decaf.library.inputs import (
    PairedInputs,
    as_inputs,
    pair_features,
    pair_inputs,
    remark_on_numbers,
)
from decaf.library.remarks import (
    DataWarning,
    remark_on_equal_pairs,
    remark_on_ids,
    remark_on_quarantine,
    remark_on_regions,
    remark_on_scores,
)
from decaf.library.scoring import Queries, score_pairs
from decaf.library.targets import Score, call_in_order, find_score_call
from decaf.reveal.path import RevealPath, stage_grid
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.context import ContextChannel
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.reveal.refinement import Refinement
from decaf.routing.route import DEFAULT_EPSILON, check_epsilon, check_probability_epsilon
from decaf.statistics.bootstrap import checked_clusters, checked_weights

CELLS_PER_SIDE = 4
"""Default cells per side of a grid: the 16 patches of the paper, section 7."""


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
    """Some pairs have scores that are not finite; profiles exclude these pairs."""


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
        Any callable: a network in evaluation mode, a method of an estimator, a function that calls
        a server. It gets at most ``batch_size`` inputs: numpy arrays for arrays, tensors on their
        device (under ``torch.inference_mode``) for tensors, frames for frames. It returns ``q``:
        (n,) or (n, 1) real numbers, or (n, classes) with a ``target``. A torch network gets
        tensors of its precision, on its device. For an estimator, decaf calls ``predict_proba`` if
        it has that and ``classes_``, else ``predict``.
    x_plus, x_minus
        Factual and counterfactual inputs of the same shape: (n, features), (n, channels, height,
        width) or any (n, …); float32 or float64. 8-bit images become float32 in [0, 1]; whole
        numbers in rows become float64. Frames of pandas or polars have the same columns, in any
        order, of numbers, truth values, text or categories (for the states
        between two of them, see :mod:`decaf.data.frames`); the score gets the columns, types and
        categories of ``x_plus``, and rows with the label of their factual row. Without
        ``x_minus``, decaf compares every input with itself without each of its features.
    path
        A reveal path, its kind (``"blend"``, ``"patches"``, ``"removal"``, ``"context"``), or
        several by names that you choose; they share states. The default is ``"removal"`` without
        ``x_minus``, ``"context"`` with ``context``, else ``"blend"``: the straight line from the
        midpoint, which for images is blurred by 8 px in 224. For frames, a removed feature gets its
        typical value: the mean of numbers, the most frequent category.
    stages
        Number of evenly spaced stages, or the stages themselves from 0 to 1.
    epsilon
        Threshold of ``|d|`` in score units; the default 0.02 is meant for probabilities.
        ``Audit.at`` changes it without scoring.
    target
        Column of the score that is ``q``: its number or its name in ``classes``, or, for a
        classifier, a label of ``classes_``; one for all inputs, or (n,) one for each.
    classes
        Names of the columns of a score in order, such as the classes of a network.
    context
        Both inputs under the swapped context, each of the shape or columns of ``x_plus``.
    regions
        Features to remove: the feature number of every pixel or column, 0 for none; (height,
        width) or (features,), or with a leading (n,). For features that overlap, truth values:
        (k, height, width) or (k, features), or with a leading (n,). By default, features are the
        columns of a row, or the cells of a 4 × 4 grid of an image.
    clusters
        (n,) labels of sources: intervals draw all inputs of a source together, and paths with
        random starts draw once for them. By default, every input is a source, with all its
        features.
    weights
        (n,) weight of each input and its features in means: finite numbers above 0; only
        proportions matter. Weights are equal by default.
    ids
        (n,) names of the inputs; their numbers by default.
    batch_size
        Largest number of inputs in one call of the score; decaf halves it if memory does not
        suffice. By default the first call gets 64, and later calls get more while a call takes less
        than 0.25 s: up to 16,384 rows of a table, and 64 photos of 224 px (512 on a GPU).
    repeats
        Number of queries of every input, for a score that draws: ``q`` is their mean, and
        ``response_errors`` has the standard errors of the responses.
    progress
        Count forward rows in a line on standard error.

    Returns
    -------
    Audit, or Audits by name where several paths were given
        Pairs with scores that are not finite have NaN profiles and are named in ``quarantined``.

    Raises
    ------
    DataError
        For inputs that cannot be paired or do not fit the path, and for impossible ids.
    ModelError
        When the score is neither callable nor an estimator, returns anything but real numbers, one
        row for each input, or gives no finite trajectory at all.
    ResponseError
        For impossible settings, such as stages, ``epsilon``, targets, clusters or weights.
    ScoringFailed
        When a single input does not fit into memory.
    UnknownName
        For a kind of path that does not exist.

    Warns
    -----
    BatchWarning
        When a batch does not fit into memory, so that later batches are smaller.
    DataWarning
        When a column of a frame has more than 50 categories, as dates and ids have, or a category
        that the estimator's encoder was not fitted on or, without an encoder, ``x_plus`` lacks.
        When the rows of two frames seem to be in different orders, or most changed numbers of a
        column lie outside of the values of ``x_plus``, as with another unit.
        When inputs are 8-bit images, or other numbers that look like pixels.
        When the ranges of factual and counterfactual inputs suggest two scales, or an image lacks a
        batch axis.
        When whole numbers may be ids of tokens, or regions probably count from 0.
        When inputs of a pair are equal.
        When ``epsilon`` is not given and scores of a ``target``, a network or an estimator are
        not probabilities; otherwise when no pair reaches it although a ``|d|`` exceeds 1e-9.
    QuarantineWarning
        When some pairs have scores that are not finite.
    UnstableScoreWarning
        When one input has two scores, alone and in batches, and ``repeats`` is 1, or a function
        uses a network in training mode.

    Examples
    --------
    >>> audited = audit(lambda x: x[:, 0] * x[:, 1], [[1.0, 1.0]], [[-1.0, 1.0]], stages=3)
    >>> audited.response.tolist(), audited.profiles.evidence.tolist()
    ([[[0.0, 1.0, 2.0]]], [1.0])
    """
    _check_counts(batch_size, repeats)
    threshold = check_epsilon(DEFAULT_EPSILON if epsilon is None else epsilon)
    grid = stage_grid(stages)
    named_inputs = _collect_inputs(x_plus, x_minus, context)
    frames = Frames.of(named_inputs)
    packed = frames.pack(named_inputs) if frames else {}
    remarks = (
        frames.remark(score, named_inputs, packed) if frames else remark_on_numbers(named_inputs)
    )
    if frames:
        frames.refuse_reordered({"clusters": clusters, "weights": weights, "target": target})
    for remark in filter(None, remarks):
        warnings.warn(remark, DataWarning, stacklevel=2)
    inputs = {
        name: as_inputs(frames.schema.spread(packed[name]) if frames else values, name)
        for name, values in named_inputs.items()
    }
    count = len(inputs["x_plus"])
    names = _names(ids, count)
    sources = checked_clusters(range(count) if clusters is None else clusters)
    labels = one_each(sources, count, "clusters")
    weight = checked_weights(weights, count)
    score_call = find_score_call(score, target, count, classes)
    if score_call.has_probabilities:
        check_probability_epsilon(threshold)
    paths = _chosen_paths(path, inputs, regions is not None)
    mixes_inputs = any(not isinstance(chosen, ContextChannel) for chosen in paths.values())
    if mixes_inputs and (remark := remark_on_ids(score, x_plus)):
        warnings.warn(remark, DataWarning, stacklevel=2)
    if frames:
        rows = to_numpy(inputs["x_plus"])
        paths = {name: frames.from_typical(audit_path, rows) for name, audit_path in paths.items()}
    pairs = _pairs(inputs, names, regions, paths, frames).with_sources(labels)
    if remark := remark_on_regions(regions):
        warnings.warn(remark, DataWarning, stacklevel=2)
    if "x_minus" in inputs and (
        remark := remark_on_equal_pairs(inputs["x_plus"], inputs["x_minus"])
    ):
        warnings.warn(remark, DataWarning, stacklevel=2)
    call = call_in_order(score, score_call.call, frames.feature_names if frames else ())
    score_call = score_call._replace(call=call)
    queries = Queries(batch_size, repeats, threshold, is_shown=progress)
    scores, errors, grids = score_pairs(pairs, paths, grid, score_call, frames, queries)
    row = pairs.block.source
    audits = Audits(
        {
            name: Audit(
                ids=pairs.block.pair_ids,
                grid=grids[name],
                q_plus=branches[..., 0],
                q_minus=branches[..., 1],
                epsilon=threshold,
                clusters=labels[row],
                weights=weight[row],
                row=row,
                feature=pairs.block.feature,
                feature_names=pairs.feature_names,
                path=name,
                score_source=score_call.description,
                has_probabilities=score_call.has_probabilities,
                forward_rows=scores.forward_rows,
                naive_rows=scores.naive_rows,
                response_errors=errors.get(name),
            )
            for name, branches in scores.branches.items()
        }
    )
    if message := remark_on_quarantine(audits):
        warnings.warn(message, QuarantineWarning, stacklevel=2)
    has_classes = target is not None or is_network(score) or hasattr(score, "predict")
    if remark := remark_on_scores(audits, epsilon, has_classes=has_classes):
        warnings.warn(remark, DataWarning, stacklevel=2)
    return audits if isinstance(path, Mapping) else next(iter(audits.values()))


def _check_counts(batch_size: int | None, repeats: int) -> None:
    if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
        raise ResponseError(
            f"batch_size is {batch_size!r}; expected a whole number from 1, or None"
        )
    if type(repeats) is not int or repeats < 1:
        raise ResponseError(f"repeats is {repeats!r}; expected a whole number from 1")


def _collect_inputs(x_plus: Inputs, x_minus: Inputs | None, context: Any) -> dict[str, Inputs]:
    """Inputs of the call by their names in messages."""
    inputs = {"x_plus": x_plus}
    if x_minus is not None:
        inputs["x_minus"] = x_minus
    if context is not None:
        if not isinstance(context, tuple | list) or len(context) != 2:
            raise DataError(
                f"context is a {type(context).__name__}; expected two arrays or frames, both "
                "inputs under the swapped context"
            )
        inputs |= {f"context[{number}]": values for number, values in enumerate(context)}
    return inputs


def _names(ids: Sequence[str] | None, count: int) -> list[str]:
    names = list(map(str, range(count) if ids is None else ids))
    if len(names) != count or len(set(names)) != count:
        raise DataError(
            f"ids has {len(names)} names, {len(set(names))} of them distinct; expected {count} "
            "distinct names, one for each input"
        )
    return names


def _chosen_paths(
    path: RevealPath | str | Mapping[str, RevealPath | str] | None,
    inputs: dict[str, Array],
    has_regions: bool,
) -> dict[str, RevealPath]:
    shape = inputs["x_plus"].shape
    is_image = len(shape) == 4
    paths_by_kind = {
        Blend.kind: Blend(),
        Patches.kind: Patches(),
        Removal.kind: Removal(side=CELLS_PER_SIDE if is_image and not has_regions else None),
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
        if entry == GaussianReveal.kind:
            raise ResponseError(
                f"path {name!r} is {entry!r}, which needs the moments of the data; give "
                "decaf.GaussianReveal(reference=fit_reference([x_plus, x_minus])), with "
                "fit_reference of decaf.reveal.gaussian.reference"
            )
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
                f"path {name!r} has a rule for its stages, but there is no study; give a number"
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
                "found x_minus together with regions or a path that removes features, which makes "
                "its own counterfactuals: remove x_minus, or remove regions and choose another path"
            )
        return pair_inputs(inputs, names)
    if "pair" in sides or len(sides) > 1 or len(inputs) > 1:
        raise DataError(
            "without x_minus, decaf removes features from each input; expected no context, and "
            "only paths that remove the same features (all with one 'side', or all without): "
            "give x_minus, or audit the paths in separate calls"
        )
    features: tuple[str, ...] = ()
    if frames:
        features = frames.feature_names if regions is None else ()
        regions = frames.regions(regions)
    return pair_features(inputs["x_plus"], names, regions, sides.pop(), features)
