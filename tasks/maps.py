"""Draw images of a study with the attribution maps of several methods as one picture."""

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
"""Number of methods that are shown by default."""
ENDPOINT = "endpoint_m"
"""Endpoint M, which a map of DECAF has to beat; M needs only the clean scores."""


class RankedMethod(NamedTuple):
    """A method of a study with its quality."""

    model_id: str
    protocol: str
    method: str
    stage_count: int | None
    """Stages of a thinned path; None for methods without a reveal path."""
    quality: float


def draw_maps(
    store: Storage, study: Study, picture: Path, model: str | None, methods: list[str], count: int
) -> Path:
    """Draw images of a study from the best to the worst for DECAF, with maps of some methods.

    By default: the first model, DECAF on its finest grid, Endpoint M and the best other methods.
    Raises DataError if the data cannot be read, UnknownName for a model or method without complete
    scores, BadInput for another suffix, and WriteFailed if the picture cannot be written.
    """
    if picture.suffix.lower() not in FORMATS:
        raise BadInput(f"{picture}: expected a name that ends in {', '.join(FORMATS)}")
    with connect_whole(store, study.study) as connection:
        ranked = _rank_methods(connection, study.study, model)
        shown = _choose_methods(ranked, methods)
        rows = _rows(connection, study, ranked, shown, count)
    title = f"{study.study}, {ranked[0].model_id}: images from the best to the worst for DECAF"
    return write_map_sheet(picture, title, rows)


def _rank_methods(
    connection: duckdb.DuckDBPyConnection, study: str, model: str | None
) -> list[RankedMethod]:
    """Methods of a model, or of the first model by default; the best method first."""
    method_rows = connection.execute(query("maps/methods"), {"study": study}).fetchall()
    of_models = groupby(map(RankedMethod._make, method_rows), attrgetter("model_id"))
    by_model = {name: list(method_rows) for name, method_rows in of_models}
    if not by_model:
        raise UnknownName(
            f"study {study!r} has no images with complete scores of all its attribution methods; "
            "run it with 'attributions:' on images with features first"
        )
    if model is not None and model not in by_model:
        raise UnknownName.among("model", model, by_model)
    return by_model[model or next(iter(by_model))]


def _choose_methods(ranked: list[RankedMethod], methods: Sequence[str]) -> list[str]:
    """Named methods; by default DECAF on its finest grid, Endpoint M and the best of the others."""
    names = [method.method for method in ranked]
    for name in methods:
        if name not in names:
            raise UnknownName.among("method", name, names)
    if methods:
        return list(methods)
    best_others = [method.method for method in ranked if method.stage_count is None]
    return [*dict.fromkeys((_finest(ranked), ENDPOINT, *best_others))][:METHODS]


def _finest(ranked: list[RankedMethod]) -> str:
    return max(ranked, key=lambda method: method.stage_count or 0).method


def _rows(
    connection: duckdb.DuckDBPyConnection,
    study: Study,
    ranked: list[RankedMethod],
    methods: list[str],
    count: int,
) -> list[MapRow]:
    best = ranked[0]
    values = {"study": study.study, "model_id": best.model_id, "protocol": best.protocol}
    images = connection.execute(query("maps/images"), values | {"method": _finest(ranked)})
    ids = [name for (name,) in images.fetchall()]
    places = np.unique(np.linspace(0, len(ids) - 1, count).astype(int))
    chosen = [ids[place] for place in places]
    values |= {"image_ids": chosen, "methods": methods}
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    quality: dict[tuple[str, str], float] = {}
    for image_id, name, feature, score, spearman in connection.execute(
        query("maps/scores"), values
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
