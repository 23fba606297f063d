"""Check and pair the inputs of :func:`decaf.audit`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.data.cells import WORD_BITS, feature_words
from decaf.data.change_remarks import describe_reordered_rows, spread_places
from decaf.data.pair_block import PairBlock
from decaf.data.pixel_ranges import CHANNELS, ValueRange, pixel_scale, remark_on_ranges
from decaf.errors import DataError, number_of
from decaf.foundation.arrays import (
    Array,
    as_array,
    as_real,
    as_taken,
    is_tensor,
    namespace,
    to_numpy,
    type_name,
)
from decaf.reveal.paths.removal import features_of

MOST_CHANNELS = 4
"""Most channels of an 8-bit image: a longer second axis means that channels come last."""

GREY_AXES = 3
"""Axes of grey images without a channel axis, (n, height, width)."""
LEAST_SIDE = 16
"""Shortest side of what may be one image without a batch axis, px."""
NUMBERS = ("uint8", "int16", "uint16", "int32", "int64", "float32", "float64")
"""Types of numbers that may be pixels."""


class PairedInputs(NamedTuple):
    """Pairs over one array of clean inputs."""

    block: PairBlock
    host_inputs: NDArray[Any]
    """(n_inputs, …) the inputs of the call on the host; 8-bit images stay whole numbers."""
    clean: Array
    """(n_inputs, …) inputs for the score, on the device of the call."""
    feature_names: tuple[str, ...] = ()
    """Names of removed features, from the first."""

    def with_sources(self, labels: NDArray[Any]) -> "PairedInputs":
        """Name the source of each factual input: paths draw one start for each name."""
        names = tuple(map(str, labels.tolist()))
        return self._replace(block=replace(self.block, source_ids=names))


def as_inputs(values: ArrayLike | Array, name: str) -> Array:
    """Real and finite inputs, (n, features), (n, channels, height, width) or any (n, …).

    float32, float64 and 8-bit images stay as they are; whole numbers in rows become float64.
    Tensors stay tensors on their device, detached; everything else becomes a numpy array. Raises
    DataError for other types, inputs of different shapes, masked entries, values that are not
    finite, whole numbers from 2^53 on, nothing at all, and 8-bit images with the channels last.
    """
    array = as_array(values, name, DataError)
    if array.ndim < 2:
        raise DataError(
            f"{name} has shape {tuple(array.shape)}; expected one row for each input, (n, "
            "features) or (n, channels, height, width): a single input x is x[None]"
        )
    array = _as_real(array, name)
    if 0 in array.shape:
        raise DataError(f"{name} has shape {tuple(array.shape)}; expected at least one input")
    finite = namespace(array).isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~to_numpy(finite))[0])
        frame = (
            ", or, if NaN is a missing value of a row, give pandas.DataFrame(x), and a score that "
            "calls the model with frame.to_numpy()"
        )
        raise DataError(
            f"{name} has values that are not finite, the first at {where}; fill in or drop such "
            f"inputs first{frame if array.ndim == 2 else ''}"
        )
    return array


def remark_on_numbers(inputs: Mapping[str, ArrayLike | Array]) -> list[str]:
    """Remarks on the numbers of the inputs of a call, by name, of which the first are factual.

    Inputs on different scales get one remark; otherwise :func:`remark_on_pixels` looks at the
    factual inputs. Counterfactual rows in another order, and one image without a batch axis, get a
    remark, too. Raises DataError for values that are not arrays.
    """
    arrays = {name: as_array(values, name, DataError) for name, values in inputs.items()}
    factual_name, factual = next(iter(arrays.items()))
    ranges = {
        f"values of {name}": _range(array)
        for name, array in arrays.items()
        if array.ndim >= 2 and 0 not in array.shape and type_name(array) in NUMBERS
    }
    shape = tuple(factual.shape)
    remarks = [remark_on_ranges(shape[1:], ranges) or remark_on_pixels(factual, factual_name)]
    if len(shape) == GREY_AXES and shape[0] in CHANNELS and min(shape[1:]) >= LEAST_SIDE:
        remarks.append(
            f"{factual_name} has shape {shape}: the score gets {number_of(shape[0], 'input')} of "
            f"shape {shape[1:]}; if they are the channels of one image, give {factual_name}[None]"
        )
    pairs = [arrays[name] for name in ("x_plus", "x_minus") if f"values of {name}" in ranges]
    if len(pairs) > 1 and pairs[0].shape == pairs[1].shape:
        remarks.append(_remark_on_order(*pairs))
    return [remark for remark in remarks if remark]


def _remark_on_order(x_plus: Array, x_minus: Array) -> str:
    """Remark on counterfactual inputs, (n, …), that seem to belong to other pairs."""
    places = spread_places(math.prod(x_plus.shape[1:]))
    before, after = (
        to_numpy(inputs.reshape(len(inputs), -1)[:, places]).T for inputs in (x_plus, x_minus)
    )
    noun = "columns" if x_plus.ndim == 2 else "positions"
    reason = describe_reordered_rows([*before], [*after], noun)
    return f"x_minus: {reason} than in x_plus; are the rows in the same order?" if reason else ""


def remark_on_pixels(values: ArrayLike | Array, name: str) -> str:
    """Remark on pixels whose range, or images whose channels, may not be as the score expects.

    8-bit images are scaled to [0, 1], other numbers are not. Empty without a remark. Raises
    DataError for values that are not an array.
    """
    array = as_array(values, name, DataError)
    kind = type_name(array)
    if array.ndim < 2 or 0 in array.shape or kind not in NUMBERS or _is_refused(array):
        return ""
    start = f"{name} has shape {tuple(array.shape)} and type {kind}: the score gets"
    if kind == "uint8" and array.ndim == 4:
        return (
            f"{start} float32 from 0 to 1, the 8-bit numbers divided by 255; if that is right, "
            f"give {name} / np.float32(255), else give floats in the range of the score"
        )
    value_range = _range(array)
    scale = pixel_scale(tuple(array.shape[1:]), np.dtype(kind), value_range)
    if scale is None:
        return _remark_on_channels(array, name)
    grey = f" ({name}[:, None], for grey images)" if array.ndim == GREY_AXES else ""
    return (
        f"{start} the numbers as they are, from {value_range.low:g} to "
        f"{value_range.high:g}, and they look like pixels; if it expects [0, 1], give {name} / "
        f"np.float32({scale}){grey}, else ignore this remark"
    )


def _remark_on_channels(array: Array, name: str) -> str:
    """Remark on images that seem to have their channels last; else empty."""
    if array.ndim != 4 or not _has_channels_last(array) or array.shape[3] not in CHANNELS:
        return ""
    _, channels, height, width = array.shape
    return (
        f"{name} has shape {tuple(array.shape)}: paths and score get images of {channels} "
        f"channels and {height} x {width} pixels; if the channels are last, give "
        f"{name}.transpose(0, 3, 1, 2), or {name}.permute(0, 3, 1, 2) of a tensor"
    )


def _range(array: Array) -> ValueRange:
    numbers = to_numpy(array) if type_name(array) == "uint16" else array  # torch finds no minimum
    return ValueRange(float(numbers.min()), float(numbers.max()))


def _is_refused(array: Array) -> bool:
    """True for images that :func:`as_inputs` refuses for their type or layout."""
    kind = type_name(array)
    return array.ndim == 4 and (
        kind.startswith(("int", "uint")) if kind != "uint8" else _has_channels_last(array)
    )


def _has_channels_last(images: Array) -> bool:
    return bool(images.shape[1] > MOST_CHANNELS >= images.shape[3])


def _as_real(array: Array, name: str) -> Array:
    kind, is_image = type_name(array), array.ndim == 4
    if kind in ("float32", "float64"):
        return array
    if kind == "uint8" and is_image:
        if _has_channels_last(array):
            raise DataError(
                f"{name} has shape {tuple(array.shape)}, channels last; expected (n, channels, "
                "height, width): x.transpose(0, 3, 1, 2), or x.permute(0, 3, 1, 2) of a tensor"
            )
        return array
    if kind.startswith(("int", "uint")) and not is_image:
        return as_real(array, name, DataError)
    is_number = kind in NUMBERS and 0 not in array.shape
    scale = is_number and pixel_scale(tuple(array.shape[1:]), np.dtype(kind), _range(array))
    remedy = f"; for pixels from 0 to 1, give {name} / np.float32({scale})" if scale else ""
    raise DataError(
        f"{name} has type {kind}; expected float32 or float64, whole numbers in rows, or uint8 "
        f"in images{remedy}"
    )


def pair_inputs(inputs: dict[str, Array], ids: Sequence[str]) -> PairedInputs:
    """Pair the first two arrays row by row; two more have the inputs of the swapped context.

    ``inputs`` has two or four arrays of :func:`as_inputs` by their names in messages; ``ids`` has
    the (n_pairs,) names of the pairs. Raises DataError when the arrays differ in library, device,
    type or shape.
    """
    (first_name, first), *further_inputs = inputs.items()
    for name, further in further_inputs:
        _check_alike(first_name, first, name, further)
    count, xp = len(first), namespace(first)
    join = xp.cat if is_tensor(first) else xp.concatenate
    joined = join(list(inputs.values()))
    rows = np.arange(count)
    context = (
        np.stack([rows + 2 * count, rows + 3 * count], axis=1) if len(further_inputs) > 1 else None
    )
    block = _block(ids, rows, rows + count, len(joined), context=context)
    return PairedInputs(block, to_numpy(joined), as_taken(joined))


def pair_features(
    inputs: Array,
    ids: Sequence[str],
    regions: ArrayLike | None,
    side: int | None,
    feature_names: tuple[str, ...] = (),
) -> PairedInputs:
    """Pair every input with itself without each of its features (paper, section 7).

    Inputs are (n_inputs, …) of :func:`as_inputs`; the pair of feature k has the name ``id/k``, or
    ``id/name`` if features have names.
    Features are the cells of a grid with ``side`` cells per side, or ``regions``: the feature
    number of every pixel, (height, width), or column, (features,), 0 for none; or (n_inputs, …) if
    inputs have different features. Features that overlap are truth values, (n_features, …) or
    (n_inputs, n_features, …). Without ``side`` and regions every column of a row is a
    feature. Raises DataError when features and inputs do not fit, or an input has none.
    """
    words = None
    if side is None:
        words, count = _region_words(inputs, regions)
        feature_bits = feature_words(np.arange(1, count + 1))
        has_feature = np.stack(
            [(words & k).reshape(len(inputs), -1).any(axis=1) for k in feature_bits], axis=1
        )
    else:
        if regions is not None:
            raise DataError("a path with 'side' makes its own features; remove 'regions'")
        features_of(tuple(inputs.shape), side, None)  # the inputs have room for the grid
        has_feature = np.ones((len(inputs), side**2), bool)
    empty = np.flatnonzero(~has_feature.any(axis=1))
    if empty.size:
        raise DataError(f"input {ids[empty[0]]!r} has no feature: its regions are 0 everywhere")
    rows, features = np.nonzero(has_feature)
    feature_labels = feature_names or tuple(str(k + 1) for k in range(has_feature.shape[1]))
    places = zip(rows.tolist(), features.tolist(), strict=True)
    names = [f"{ids[row]}/{feature_labels[k]}" for row, k in places]
    block = _block(names, rows, rows, len(inputs), feature=features + 1, regions=words)
    return PairedInputs(block, to_numpy(inputs), as_taken(inputs), feature_labels)


def _region_words(inputs: Array, regions: ArrayLike | None) -> tuple[NDArray[np.uint64], int]:
    """Features of every pixel or column of the inputs, bit k - 1 for feature k, and how many."""
    shape = tuple(inputs.shape)
    if regions is None:
        if len(shape) != 2:
            raise DataError(
                f"inputs have shape {shape} and no features; give regions, or a path with 'side' "
                "for the cells of a grid"
            )
        regions = np.arange(1, shape[1] + 1)
    numbers = to_numpy(regions)
    full = (shape[0], *shape[2:]) if len(shape) == 4 else shape  # if features differ by input
    if numbers.dtype == bool:
        return _words_of_overlapping(numbers, full)
    if numbers.dtype.kind not in "iu" or numbers.shape not in (full, full[1:]):
        raise DataError(
            f"regions have type {numbers.dtype} and shape {numbers.shape}; expected whole numbers "
            f"of shape {full[1:]}, or {full} if inputs have different features; for features that "
            f"overlap, truth values (features, *{full[1:]})"
        )
    if numbers.min() < 0 or not 0 < numbers.max() <= WORD_BITS:
        raise DataError(
            f"regions go from {numbers.min()} to {numbers.max()}; expected feature numbers from 1 "
            f"to at most {WORD_BITS}, and 0 for no feature"
        )
    return feature_words(np.broadcast_to(numbers, full)), int(numbers.max())


def _words_of_overlapping(
    masks: NDArray[np.bool_], full: tuple[int, ...]
) -> tuple[NDArray[np.uint64], int]:
    axis = masks.ndim - len(full)
    is_alike = axis in (0, 1) and masks.shape[:axis] in ((), full[:1])
    fits = is_alike and masks.shape[axis + 1 :] == full[1:]
    if not fits or not 1 <= masks.shape[axis] <= WORD_BITS:
        raise DataError(
            f"regions have type bool and shape {masks.shape}; expected (features, *{full[1:]}), or "
            f"({full[0]}, features, *{full[1:]}), with 1 to {WORD_BITS} features"
        )
    count = masks.shape[axis]
    words = np.zeros((*masks.shape[:axis], *full[1:]), np.uint64)
    for number in range(count):
        words |= np.where(masks.take(number, axis), np.uint64(1 << number), np.uint64(0))
    return np.broadcast_to(words, full), count


def _check_alike(first_name: str, first: Array, name: str, other: Array) -> None:
    for key, actual, expected in (
        ("library", namespace(other).__name__, namespace(first).__name__),
        ("device", str(getattr(other, "device", "")), str(getattr(first, "device", ""))),
        ("shape", tuple(other.shape), tuple(first.shape)),
        ("type", type_name(other), type_name(first)),
    ):
        if actual != expected:
            raise DataError(f"{name} has {key} {actual}; expected {expected}, as for {first_name}")


def _block(
    ids: Sequence[str],
    plus: NDArray[np.int64],
    minus: NDArray[np.int64],
    input_count: int,
    feature: NDArray[np.int64] | None = None,
    context: NDArray[np.int64] | None = None,
    regions: NDArray[np.uint64] | None = None,
) -> PairBlock:
    """Block of pairs in which all pairs of one factual input are one source."""
    return PairBlock(
        pair_ids=tuple(ids),
        source_ids=tuple(map(str, range(int(plus.max()) + 1))),
        image_ids=tuple(map(str, range(input_count))),
        input_positions=np.arange(input_count),
        plus=plus,
        minus=minus,
        source=plus,
        class_id=np.zeros(plus.size, np.int64),
        feature=np.zeros(plus.size, np.int64) if feature is None else feature,
        context=context,
        regions=regions,
    )
