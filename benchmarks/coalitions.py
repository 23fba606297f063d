"""Rows that methods of coalitions score together, and one by one: counted at the network.

Made-up images with features are attributed by the code of a study (its plan, orders, commits), on a
tiny untrained network: what is counted depends on neither. Exact Shapley, KernelSHAP (`repeats`),
LIME and Part Occlusion play one game, so a study that has them all scores each coalition of an
image once. The table `costs` of the warehouse has to agree with the hooks of the network.
Run: python benchmarks/coalitions.py RESULTS.json ATTRIBUTION.json PAGE.md
"""

import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from attribution import Counter
from attribution_page import page
from PIL import Image
from small_study import card

from decaf.data.cells import cell_of_pixel
from decaf.plan.study import Study
from tasks.cluster.worker import loaded_model
from tasks.inputs import store_pairs
from tasks.order import order_of
from tasks.plan import plan_audit
from tasks.units.orders import run_order
from warehouse.commits.writer import open_root
from warehouse.query.catalog import connect

FEATURES, IMAGES, SIDE = (3, 5, 8), 16, 32
METHODS = {
    "exact_shapley": {"kind": "exact_shapley"},
    "kernel_shap_512": {"kind": "kernel_shap", "form": "repeats"},
    "part_lime_1000": {"kind": "part_lime"},
    "part_occlusion": {"kind": "part_occlusion"},
}
COSTS = "SELECT sum(forward_rows), sum(naive_rows) FROM stg_costs WHERE study = $study"


def images(folder: Path, features: int) -> dict[str, Any]:
    """Random images with so many stripes, each a feature; the data set of a study."""
    levels = np.random.default_rng(0).integers(0, 256, (IMAGES, SIDE, SIDE, 3), dtype=np.uint8)
    stripes = np.tile(cell_of_pixel(SIDE, features) + 1, (SIDE, 1)).astype(np.uint8)
    for name in ("images", "masks"):
        (folder / name).mkdir()
    for number, one in enumerate(levels):
        Image.fromarray(one).save(folder / "images" / f"{number:02}.png")
        Image.fromarray(stripes).save(folder / "masks" / f"{number:02}.png")
    names = [f"stripe-{number}" for number in range(1, features + 1)]
    masks = {"kind": "label_maps", "files": f"{folder}/masks/{{image}}.png", "names": names}
    return {"adapter": "image_features", "images": str(folder / "images"), "features": masks}


def counted(folder: Path, data: dict[str, Any], methods: dict[str, Any]) -> dict[str, float]:
    """Rows an image that methods ask for, and that the network is given for them, in one study."""
    model = card(folder, "tiny", 0, "factory:decaf.models.networks.small_cnn:build", input_size=32)
    study = Study(
        study="-".join(methods),
        data=data,
        models=[model | {"weights": f"{folder}/{model['weights']}"}],
        score={"kind": "target_logit", "classes": 2},
        paths={"decaf": {"kind": "removal"}},
        attributions=methods,
        device="cpu",
        workspace=folder / "workspace",
        warehouse=str(folder / "warehouse"),
        report=False,
    )
    open_root(study.warehouse)
    plan = plan_audit(study, study.pair_set())
    inputs, rows = store_pairs(plan), 0
    for group in (group for groups in plan.by_model.values() for group in groups):
        if group[0].kind == "attribute":
            order = order_of(plan, group, inputs, None)
            counter = Counter(loaded_model(order.model).model._network)
            run_order(order)
            rows += sum(counter.forward)
            counter.handle.remove()
    with connect(study.warehouse) as connection:
        ((noted, asked),) = connection.sql(COSTS, params={"study": study.study}).fetchall()
    if noted != rows:
        sys.exit(f"{study.study}: the network was given {rows} rows, and costs say {noted}")
    return {"asked": int(asked) / IMAGES, "scored": rows / IMAGES}


def measured(features: int) -> dict[str, dict[str, float]]:
    """Rows an image of each method alone, and of all in one study."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = images(folder, features)
        alone = {name: counted(folder, data, {name: one}) for name, one in METHODS.items()}
        return alone | {"together": counted(folder, data, METHODS)}


def main(arguments: list[str]) -> None:
    """Count, keep the figures, and write the page with them."""
    if len(arguments) != 3:
        sys.exit(__doc__)
    results, attribution, target = map(Path, arguments)
    found = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "images": IMAGES,
        "features": {str(features): measured(features) for features in FEATURES},
    }
    results.write_text(f"{json.dumps(found, indent=1)}\n")
    target.write_text(page(json.loads(attribution.read_text()), found))


if __name__ == "__main__":
    main(sys.argv[1:])
