"""Some images of a study, and what attribution methods say of their features, as one picture."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from decaf.data.pairs import PairSet
from decaf.errors import BadInput, UnknownName
from decaf.plan.study import Study
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.report.map_sheet import FORMATS, MapRow, Tile, write_map_sheet
from warehouse.storage import Storage

METHODS = 6
"""Methods that are shown where none are named."""


class Ranked(NamedTuple):
    """A method of a study, and how well it does."""

    model_id: str
    protocol: str
    method: str
    stage_count: int | None
    """Of a thinned path; None for methods that reveal nothing."""
    quality: float


def draw_maps(
    store: Storage, study: Study, picture: Path, model: str | None, methods: list[str], count: int
) -> Path:
    """Draw images of a study from the best to the worst for DECAF, with the maps of some methods.

    The first model where none is named, and the finest DECAF beside the best other methods.
    Raises DataError where the data cannot be read, UnknownName for models and methods that the
    study has no complete scores of, BadInput for another suffix, and WriteFailed when the disk
    refuses.
    """
    if picture.suffix.lower() not in FORMATS:
        raise BadInput(f"{picture} is no picture: expected a file name in {', '.join(FORMATS)}")
    with connect_whole(store, study.study) as connection:
        ranked = _ranked(connection, study.study, model)
        shown = _chosen(ranked, methods)
        rows = _rows(connection, study, ranked, shown, count)
    title = f"{study.study}, {ranked[0].model_id}: images from the best to the worst for DECAF"
    return write_map_sheet(picture, title, rows)


def _ranked(connection: duckdb.DuckDBPyConnection, study: str, model: str | None) -> list[Ranked]:
    """Methods of a model, the best one first; of the first model where none is named."""
    found = connection.execute(query("maps/methods"), {"study": study}).fetchall()
    of_models = groupby(map(Ranked._make, found), attrgetter("model_id"))
    by_model = {name: list(rows) for name, rows in of_models}
    if not by_model:
        raise UnknownName(
            f"study {study!r} has no images with complete scores of all its attribution methods; "
            "run it with 'attributions:' on images with features first"
        )
    if model is not None and model not in by_model:
        raise UnknownName.among("model", model, by_model)
    return by_model[model or next(iter(by_model))]


def _chosen(ranked: list[Ranked], methods: Sequence[str]) -> list[str]:
    """The methods that are named; else DECAF on its finest grid and the best of the others."""
    known = [one.method for one in ranked]
    for name in methods:
        if name not in known:
            raise UnknownName.among("method", name, known)
    if methods:
        return list(methods)
    finest = _finest(ranked)
    others = [one.method for one in ranked if one.stage_count in (None, 2)]
    return [finest, *others][:METHODS]


def _finest(ranked: list[Ranked]) -> str:
    return max(ranked, key=lambda one: one.stage_count or 0).method


def _rows(
    connection: duckdb.DuckDBPyConnection,
    study: Study,
    ranked: list[Ranked],
    methods: list[str],
    count: int,
) -> list[MapRow]:
    best = ranked[0]
    asked = {"study": study.study, "model_id": best.model_id, "protocol": best.protocol}
    images = connection.execute(query("maps/images"), asked | {"method": _finest(ranked)})
    ids = [name for (name,) in images.fetchall()]
    places = np.unique(np.linspace(0, len(ids) - 1, count).astype(int))
    chosen = [ids[place] for place in places]
    asked |= {"image_ids": chosen, "methods": methods}
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    quality: dict[tuple[str, str], float] = {}
    for image_id, name, feature, score, spearman in connection.execute(
        query("maps/scores"), asked
    ).fetchall():
        scores[image_id][name][feature] = score
        quality[image_id, name] = spearman
    pairs = study.pair_set()
    return [_row(study, pairs, image_id, scores[image_id], methods, quality) for image_id in chosen]


def _row(
    study: Study,
    pairs: PairSet,
    image_id: str,
    scores: dict[str, dict[int, float]],
    methods: list[str],
    quality: dict[tuple[str, str], float],
) -> MapRow:
    place = pairs.inputs.image_ids.places_of([image_id])[image_id]
    targets = sorted(name for name in scores if name not in methods)
    tiles = [Tile((name, "target"), scores[name]) for name in targets]
    for name in methods:
        rho = quality[image_id, name]
        tiles.append(Tile((name, f"Spearman {rho:.2f}"), scores[name]))
    pixels = study.data.read_input(pairs.inputs[place])
    words = study.data.read_mask(pairs.masks[place])
    class_id = pairs.pairs.class_ids[pairs.pairs.plus == place][0]
    return MapRow((image_id, f"class {class_id}"), pixels, words, tiles)
