"""Paths of a study next to its attribution methods: their references, and the path that counts."""

from typing import Any

import numpy as np

from decaf.data.pair_columns import PairColumns
from decaf.evaluation.attributions.reference import Referred
from decaf.plan.study import Study
from decaf.reveal.paths.removal import Removal


def remark_references(study: Study) -> list[str]:
    """Remark on attribution methods whose reference is that of no path ``removal`` of the study.

    Empty without such a path. The reference ``uniform`` does not count, because no path has it.
    """
    paths = {name: path for name, path in study.paths.items() if isinstance(path, Removal)}
    references = [_list_keys(path) for path in paths.values()]
    names = [
        name
        for name, method in study.attributions.items()
        if isinstance(method, Referred)
        and method.baseline != "uniform"
        and _list_keys(method) not in references
    ]
    if not paths or not names:
        return []
    return [
        f"attributions {', '.join(names)} start from another reference than the path "
        f"{' or '.join(paths)} ({' or '.join(map(_describe, references))}), so a comparison "
        "of their scores also compares references; give them the keys of the path"
    ]


def remark_compared_path(study: Study, pairs: PairColumns) -> list[str]:
    """Remark that names the path of the attribution tables, if several paths reveal features.

    The tables take the first such path (view ``core_attribution_pairs``), because the effect of a
    deletion depends on the path's baseline.
    """
    codes = np.unique(pairs.pair_types.codes[pairs.features > 0])
    pair_types = {pairs.pair_types.values[code] for code in codes.tolist()}
    paths = [
        name
        for name, path in study.paths.items()
        if pair_types.intersection(path.pair_types or pair_types)
    ]
    if not study.attributions or len(paths) < 2:
        return []
    return [
        f"DECAF in the attribution tables is E of the path {paths[0]}, the first that reveals "
        f"features, without {', '.join(paths[1:])}: E of every path is in the view "
        "out_feature_evidence; to compare another path with the methods, list it first"
    ]


def _list_keys(settings: Removal | Referred) -> dict[str, Any]:
    """Keys of a reference that count for its kind; equal channels are one number."""
    keys: dict[str, Any] = {"baseline": settings.baseline}
    if settings.baseline == "constant":
        is_grey = len(set(settings.value)) == 1
        keys["value"] = [*(settings.value[:1] if is_grey else settings.value)]
    if settings.baseline == "blur":
        keys |= {"sigma": settings.sigma, "radius": settings.radius}
    return keys


def _describe(reference: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in reference.items())
