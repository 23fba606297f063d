"""Changes of a few pairs that a trial shows to a model, and remarks on those it cannot show."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import channels_first
from decaf.data.pairs import ColumnProxies, PairSet
from decaf.foundation.arrays import Device
from decaf.models.card import Model, ModelCard
from decaf.models.preprocessing import Preprocessing
from decaf.models.sources.network import NetworkCard
from decaf.scoring.states import on_device

ROWS = 32
"""Rows of a table that show which columns a model uses."""
PAIRS = 4
"""Pairs of images of each type that show whether a change reaches a network."""
Read = Callable[[], NDArray[Any]]
"""Function that reads one clean input, (1, …)."""


class TriedChanges(NamedTuple):
    """Changes of pairs by pair type, and functions that read some of their inputs."""

    columns: Mapping[str, Sequence[str]]
    """Columns of a table that differ in any pair."""
    proxies: ColumnProxies
    """Proxies of the changed columns of a table."""
    rows: Sequence[Read]
    """Factual rows of a table, if it has proxies."""
    images: Mapping[str, Sequence[tuple[Read, Read]]]
    """Both images of some pairs."""


def select_changes(pairs: PairSet, read: Callable[[Sequence[int]], Sequence[Read]]) -> TriedChanges:
    """Select pairs for a trial; ``read`` gives the functions that read inputs by position.

    Pairs of one input, of which a path removes a feature, are left out.
    """
    factual = pairs.pairs.plus if pairs.column_proxies else np.empty(0, int)
    rows = read(np.unique(factual[:: len(factual) // ROWS + 1]).tolist())
    images: dict[str, Sequence[tuple[Read, Read]]] = {}
    if pairs.columns is None:
        plus, minus, types = pairs.pairs.plus, pairs.pairs.minus, pairs.pairs.pair_types
        for number, name in enumerate(types.values):
            places = np.flatnonzero((types.codes == number) & (plus != minus))
            chosen = places[:: len(places) // PAIRS + 1]
            images[name] = [
                *zip(read(plus[chosen].tolist()), read(minus[chosen].tolist()), strict=True)
            ]
    return TriedChanges(pairs.changed_columns, pairs.column_proxies, rows, images)


def remark_on_changes(model: Model, card: ModelCard, changes: TriedChanges) -> Iterator[str]:
    """Remark on changes that cannot show how the model uses the changed columns or pixels.

    A request to a remote model may cost money, so it is asked for no row.
    """
    if hasattr(model, "remark_changes"):
        is_asked = changes.rows and not card.is_remote
        rows = np.concatenate([read() for read in changes.rows]) if is_asked else None
        yield from model.remark_changes(changes.columns, changes.proxies, rows)
    prepare = card.preprocessing(model.device) if isinstance(card, NetworkCard) else None
    for pair_type, pairs in changes.images.items():
        yield from _remark_on_images(prepare, model.device, pair_type, pairs)


def _remark_on_images(
    prepare: Preprocessing | None,
    device: Device,
    pair_type: str,
    pairs: Sequence[tuple[Read, Read]],
) -> Iterator[str]:
    """Remark if none of the tried pairs has images that differ visibly for the model.

    ``prepare`` is the preprocessing of a network's card; None for other models.
    """
    has_levels, levels, differences = False, 0, 0.0
    for pair in pairs:
        plus, minus = (channels_first(read()) for read in pair)
        if plus.ndim != 4 or plus.shape != minus.shape:
            return
        has_levels = plus.dtype == minus.dtype == np.uint8
        if has_levels:
            levels = max(levels, int(np.abs(plus.astype(np.int16) - minus).max()))
        both = on_device(np.concatenate([plus, minus]), device)
        first, second = both if prepare is None else prepare(both)
        differences = max(differences, float((first - second).abs().max()))
    subject = f"pair type {pair_type!r} changes"
    if pairs and differences == 0:
        yield (
            f"{subject} nothing that the model sees: after crop and resize, both images of each "
            "tried pair are equal; correct 'crop:' or 'input_size:', or the pairs"
        )
    elif has_levels and levels <= 1:
        yield (
            f"{subject} pixels by 1 of 255 levels at most in each tried pair; correct the pairs: "
            "a mask of 0 and 1 instead of 0 and 255 makes such changes"
        )
