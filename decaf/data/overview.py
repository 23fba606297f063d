"""Overview of a data set before its audit: counts, and a few of its pairs."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import feature_words
from decaf.data.frame_libraries import LIBRARIES, Library
from decaf.data.input_store import check_kind
from decaf.data.mask_coverage import Words, rows_without_feature
from decaf.data.pair_columns import NOWHERE
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.number_text import percent_text

SHOWN_VALUES = 4
"""Most numbers of an input without a file that a line of text shows."""


class Cell(NamedTuple):
    """One column of both rows of a pair."""

    column: str
    plus: str
    minus: str
    differs: bool


class ShownPair(NamedTuple):
    """A pair with its clean inputs."""

    pair: Pair
    factual: Input
    counterfactual: Input
    plus: NDArray[Any]
    """(…) as the data set reads it: (height, width, 3) uint8, or floats of any shape."""
    minus: NDArray[Any]
    cells: list[Cell]
    """Columns of inputs that are rows: by name, with values as models get them, if they have names;
    else by number."""
    has_names: bool
    removed: NDArray[np.bool_] | None
    """(height, width) or (features,) where the removed feature lies; None if none is removed."""


def some_pairs(
    pairs: PairSet,
    read: Callable[[Input], NDArray[Any]],
    read_mask: Callable[[Input], NDArray[Any]],
    count: int = 10,
) -> list[ShownPair]:
    """Read ``count`` pairs, evenly spread over the set, or all if there are fewer.

    Raises DataError when an input cannot be read or is neither image nor floats, or inputs of a
    pair differ in shape or type.
    """
    spread = np.linspace(0, len(pairs.pairs) - 1, count).astype(int)
    shown = []
    for row in np.unique(spread):
        pair = pairs.pairs[row]
        both = pairs.inputs[pair.plus], pairs.inputs[pair.minus]
        plus, minus = read_both(pairs, pair, read)
        removed = _removed_cells(pairs, pair, read_mask)
        cells = _cells(pairs, plus, minus, removed) if plus.ndim == 1 else []
        has_names = pairs.columns is not None
        shown.append(ShownPair(pair, *both, plus, minus, cells, has_names, removed))
    return shown


def read_both(
    pairs: PairSet, pair: Pair, read: Callable[[Input], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Clean inputs of a pair: factual, counterfactual; errors as for :func:`some_pairs`."""
    factual = pairs.inputs[pair.plus]
    plus = read(factual)
    check_kind(factual, plus)
    minus = plus if pair.plus == pair.minus else read(pairs.inputs[pair.minus])
    if (plus.shape, plus.dtype) != (minus.shape, minus.dtype):
        raise DataError(
            f"pair {pair.pair_id}: its inputs are {size_of(plus)} and {size_of(minus)}; "
            "expected one size and type"
        )
    return plus, minus


def _removed_cells(
    pairs: PairSet, pair: Pair, read_mask: Callable[[Input], NDArray[Any]]
) -> NDArray[np.bool_] | None:
    if pair.plus != pair.minus:
        return None
    if pairs.columns is not None and pair.feature:
        return pairs.columns.regions == pair.feature
    if not (pair.feature and pairs.masks):
        return None
    return (read_mask(pairs.masks[pair.plus]) & feature_words(np.array(pair.feature))) > 0


def _cells(
    pairs: PairSet,
    plus: NDArray[Any],
    minus: NDArray[Any],
    removed: NDArray[np.bool_] | None,
) -> list[Cell]:
    is_gone = np.zeros(plus.shape, bool) if removed is None else removed
    if pairs.columns is None:
        texts = [
            (str(n), f"{a:.6g}", f"{b:.6g}")
            for n, (a, b) in enumerate(zip(plus, minus, strict=True), 1)
        ]
        regions = np.arange(1, plus.size + 1)
    else:
        frame = pairs.columns.decode(np.stack([plus, minus]))
        library = LIBRARIES[pairs.columns.library]
        texts = [(name, *_in_words(library, frame[name])) for name in frame.columns]
        regions = pairs.columns.regions
    gone, differs = (
        np.bincount(regions - 1, cell_weights) > 0 for cell_weights in (is_gone, plus != minus)
    )
    return [
        Cell(name, a, "removed" if is_removed else b, bool(is_removed or is_other))
        for (name, a, b), is_removed, is_other in zip(texts, gone, differs, strict=True)
    ]


def _in_words(library: Library, column: Any) -> list[str]:
    rows = zip(column, library.missing(column), strict=True)
    return ["missing" if is_missing else str(value) for value, is_missing in rows]


def change_of(pairs: PairSet, pair: Pair, read: Callable[[Input], NDArray[Any]]) -> str:
    """Change of a pair in a line: columns, a feature, or the files or kinds of both inputs.

    Reads inputs that are rows with names. Raises DataError when one cannot be read.
    """
    plus, minus = pairs.inputs[pair.plus], pairs.inputs[pair.minus]
    if pair.plus == pair.minus:
        return f"{pair.pair_type.removeprefix('without ')} removed"
    if pairs.columns is not None:
        changed = [cell for cell in _cells(pairs, read(plus), read(minus), None) if cell.differs]
        more = ["…"] if len(changed) > SHOWN_VALUES else []
        changes = [f"{cell.column} {cell.plus} → {cell.minus}" for cell in changed[:SHOWN_VALUES]]
        return ", ".join(changes + more)
    if plus.file and minus.file:
        return f"{plus.file} → {minus.file}"
    return f"{plus.variant} → {minus.variant}".replace("_", " ")


def counts(pairs: PairSet, words: Words) -> dict[str, Any]:
    """Pairs, sources, pair types, splits, classes and inputs in numbers, as JSON has them.

    ``weight`` is the sum of the weights, ``shared`` the number of inputs that several pairs use,
    ``contents`` that of inputs from different sources, ``shapes`` that of their shapes.
    ``empty_masks`` counts the pairs by type whose feature lies nowhere in their input, by the words
    of every mask.
    """
    rows = pairs.pairs
    classes = zip(*(counted.tolist() for counted in np.unique_counts(rows.class_ids)), strict=True)
    empty = rows.pair_types.take(rows_without_feature(pairs, words))
    return {
        "pairs": len(rows),
        "sources": len(rows.sources.values),
        "pair_types": _sorted_counts(rows.pair_types.counts()),
        "weight": math.fsum(rows.weights),
        "splits": _sorted_counts(rows.splits.counts()),
        "classes": _sorted_counts(dict(classes)),
        "inputs": len(pairs.inputs),
        "contents": pairs.inputs.digests.count_distinct(),
        "shapes": len(pairs.input_set.shapes) or 1,
        "shared": _count_shared(rows.positions(), len(pairs.inputs)),
        "empty_masks": _sorted_counts(empty.counts()),
    }


def _count_shared(positions: NDArray[np.int64], input_count: int) -> int:
    """Number of inputs that several pairs use, by the (n_pairs, 2 or 4) positions of all pairs."""
    uses = np.zeros(input_count, np.int64)
    for number, column in enumerate(positions.T):
        # An input counts once for each pair.
        is_counted = column != NOWHERE
        for earlier in positions.T[:number]:
            is_counted &= column != earlier
        uses += np.bincount(column[is_counted], minlength=input_count)
    return int(np.count_nonzero(uses > 1))


def describe_pair(shown: ShownPair) -> dict[str, Any]:
    """One pair in words and numbers, as JSON has them."""
    pair, factual, counterfactual = shown.pair, *_in_lines(shown)
    return {
        "pair_id": pair.pair_id,
        "pair_type": pair.pair_type,
        "source_id": pair.source_id,
        "split": pair.split,
        "class_id": pair.class_id,
        "factual": factual,
        "counterfactual": counterfactual,
        "size": size_of(shown.plus),
    }


def share_of(removed: NDArray[np.bool_]) -> str:
    """Words for the share of an input that a feature covers."""
    return f"{percent_text(float(removed.mean()))} of it" if removed.any() else "nowhere in it"


def _in_lines(shown: ShownPair) -> tuple[str, str]:
    """One line for each input; for rows with named columns, only the columns that differ."""
    if shown.has_names:
        changed = [cell for cell in shown.cells if cell.differs]
        more = ", …" if len(changed) > SHOWN_VALUES else ""
        shown_cells = changed[:SHOWN_VALUES]
        plus = ", ".join(f"{cell.column} {cell.plus}" for cell in shown_cells)
        return plus + more, ", ".join(f"{cell.column} {cell.minus}" for cell in shown_cells) + more
    plus = in_a_line(shown.factual, shown.plus)
    if shown.removed is not None:
        return plus, f"without {shown.pair.pair_type}: {share_of(shown.removed)}"
    return plus, in_a_line(shown.counterfactual, shown.minus)


def in_a_line(image: Input, read: NDArray[Any]) -> str:
    """File of an input, else its first numbers, else its name."""
    if image.file is not None or read.dtype == np.uint8:
        return image.file or image.image_id
    more = ", …" if read.size > SHOWN_VALUES else ""
    return ", ".join(f"{value:.4g}" for value in read.flat[:SHOWN_VALUES]) + more


def size_of(read: NDArray[Any]) -> str:
    """Size of an image, or shape and type of other inputs."""
    if read.dtype == np.uint8:
        return f"{read.shape[1]} x {read.shape[0]} px"
    return f"{' x '.join(map(str, read.shape))} {read.dtype}"


def _sorted_counts(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(counts.items())}
