"""Replicates of the attribution study, whose images are drawn as the benchmark's authors draw."""

import numpy as np
import pytest
from random_audit import near

from decaf.statistics.draws import named_draws

IMAGES = ("image-10", "image-2", "image-1", "image-3")
RANKS = {"a": (0.5, -0.25, 1.0, 0.125), "b": (None, 0.75, 0.0, -1.0)}
"""Rank correlation of every image by model; None is of a constant row, which counts 0 elsewhere."""


def replicates(ask, protocol, method="decaf_5"):
    """Mean of every replicate by model, the sample's first."""
    rows = [
        (model, image, rank, rank or 0.0, protocol == "native" or image != "image-3")
        for model, ranks in RANKS.items()
        for image, rank in zip(IMAGES, ranks, strict=True)
    ]
    names = ("model_id", "image_id", "rank_correlation", "spearman", "is_supported")
    quality = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    quality |= {"study": ["s"] * 8, "protocol": [protocol] * 8, "method": [method] * 8}
    studies = {"study": ["s"], "protocol": [protocol], "dataset": ["funnybirds"]}
    found = ask(
        "attribution_replicates",
        "SELECT model_id, image_count, list(value ORDER BY replicate NULLS FIRST) AS means "
        "FROM attribution_replicates(50, 8218) GROUP BY ALL ORDER BY model_id",
        core_attribution_quality=quality,
        core_attribution_studies=studies,
    )
    return {row["model_id"]: (row["image_count"], row["means"]) for row in found}


@pytest.mark.parametrize(
    ("protocol", "places"), [("held_out", [2, 0, 1]), ("native", [2, 0, 1, 3])]
)
def test_images_are_drawn_by_dataset_and_model(ask, protocol, places):
    """Sorted by id: image-1, image-10, image-2, image-3; the comparison leaves the last one out."""
    means = replicates(ask, protocol)
    for model, ranks in RANKS.items():
        values = np.array([ranks[place] for place in places], float)
        values = values if protocol == "native" else np.nan_to_num(values)
        draws = named_draws(f"funnybirds\0{model}", len(places), range(50), seed=8218)
        expected = [np.nanmean(values), *np.nanmean(values[draws], axis=1)]
        assert means[model] == (np.isfinite(values).sum(), near(expected))


def test_all_methods_of_a_model_share_their_draws(ask):
    assert replicates(ask, "held_out", "decaf_9") == replicates(ask, "held_out", "endpoint_m")
