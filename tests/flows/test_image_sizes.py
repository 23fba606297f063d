"""Photos of three sizes in one study, from the command line: as three studies of one size each."""

import csv

import in_process
import numpy as np
import pytest
from ended_commands import refused, succeeded
from PIL import Image
from small_studies import untrained
from warehouse_answers import failed_checks, fetched

from decaf.plan.study import Study

SIZES = [(32, 32), (40, 24), (24, 48)]
"""Widths and heights, in turn."""
COUNT = 12
HAS_TAIL = ((32, 32), (40, 24))
ROWS = {
    "core_trajectories": "model_id, path, pair_id, q_plus, q_minus",
    "core_predictions": "model_id, image_id, class_scores",
    "core_attributions": "model_id, method, pair_id, region_score, region_pixels",
}


def photos(folder):
    """Twelve photos of three sizes, the masks of a head and of some tails, and tables of both."""
    random, rows = np.random.default_rng(0), {size: [] for size in SIZES}
    for number in range(COUNT):
        width, height = size = SIZES[number % 3]
        name = f"{number % 2}/photo-{number:02d}.png"
        parts = {"head": np.s_[2:12, 4:16], "tail": np.s_[8:20, 10:22]}
        pictures = {f"photos/{name}": random.integers(0, 256, (height, width, 3), dtype=np.uint8)}
        for part in ("head", "tail") if size in HAS_TAIL else ("head",):
            mask = np.zeros((height, width), np.uint8)
            mask[parts[part]] = 1 + number
            pictures[f"masks/{part}/{number}.png"] = mask
            rows[size].append([name, part, f"masks/{part}/{number}.png"])
        for file, pixels in pictures.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(folder / file)
    return rows


def data(folder, name, rows):
    with (folder / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("image", "feature", "mask"), *sorted(rows)])
    features = {"kind": "masks", "table": str(folder / f"{name}.csv")}
    return {"adapter": "image_features", "images": str(folder / "photos"), "features": features}


@pytest.fixture
def sizes(study, tmp_path):
    """Settings of the study of all photos, and of those of one size each."""
    rows = photos(tmp_path)
    cut = {"input_size": 32, "shorter_side": 36, "interpolation": "nearest"}
    uniform = {"baseline": "uniform", "shift": True, "masks": 4, "grid": 4, "bank": "shared"}
    given = study | {
        "models": [untrained(tmp_path, "square"), untrained(tmp_path, "cut", **cut)],
        "paths": {"blur": {"kind": "removal", "baseline": "blur", "sigma": 3.0, "radius": 5}},
        "attributions": {
            "gradient": {"kind": "input_x_gradient"},
            "rise": {"kind": "rise"} | uniform,
            "occlusion": {"kind": "part_occlusion", "baseline": "blur"},
        },
        "stages": 3,
    }
    every = [row for own in rows.values() for row in own]
    whole = given | {"data": data(tmp_path, "all", every), "sources_per_block": 6}
    return whole, {
        size: given
        | {
            "data": data(tmp_path, f"{size[0]}", own),
            "sources_per_block": 2,
            "workspace": str(tmp_path / f"workspace {size[0]}"),
            "warehouse": str(tmp_path / f"warehouse {size[0]}"),
        }
        for size, own in rows.items()
    }


def with_tails(settings):
    """The same with a path that is for tails alone, which photos of one size have not."""
    tails = {"kind": "removal", "baseline": "constant", "pair_types": ["tail"]}
    return settings | {"paths": settings["paths"] | {"tails": tails}}


@pytest.mark.slow
def test_photos_of_three_sizes_are_as_three_studies(sizes, write, decaf, prefect_server, tmp_path):
    whole, alone = sizes
    config = write(whole)
    looked_at = succeeded(decaf("data", config, "--html", tmp_path / "sheet.html"))
    assert "24 x 48 px" in looked_at
    assert "shapes of inputs: 3\n" in looked_at
    ran = decaf("run", config, **prefect_server)
    succeeded(ran)
    assert "40 x 24 px to 24 x 48 px" in ran.stderr
    in_process.compute(Study(**with_tails(whole)))  # what is stored is found, size by size
    for size, settings in alone.items():
        in_process.compute(Study(**settings))
        if size in HAS_TAIL:
            in_process.compute(Study(**with_tails(settings)))
    for view, columns in ROWS.items():
        query = f"SELECT {columns} FROM {view}"
        expected = [row for one in alone.values() for row in fetched(one["warehouse"], query)]
        assert sorted(fetched(whole["warehouse"], query)) == sorted(expected)
    assert failed_checks(whole["warehouse"]) == []
    # Two blocks of six photos: one commit for what is scanned, and for each method or game.
    commits = "SELECT count(*), sum(forward_rows) FROM stg_costs WHERE block IS NOT NULL"
    ((count, rows),) = fetched(whole["warehouse"], commits)
    assert count == 2 * 2 * (1 + 1 + 3)
    assert rows == sum(fetched(one["warehouse"], commits)[0][1] for one in alone.values())
    assert len(list((tmp_path / "workspace" / "inputs").iterdir())) == 2, "images, and masks"


def test_a_network_of_one_size_is_named_by_the_plan(sizes, write, decaf, tmp_path):
    vit = {"architecture": "factory:decaf.models.networks.small_vit:build", "input_size": None}
    models = [untrained(tmp_path, "fixed", **vit), *sizes[0]["models"]]
    done = decaf("plan", write(sizes[0] | {"models": models}))
    said = refused(done, "fixed: an input of shape (3, 24, 40): ", code=3)
    assert "cut" not in said
