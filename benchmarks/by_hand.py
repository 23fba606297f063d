"""The audits of `tables.py` as a user would write them by hand, without decaf.

``python by_hand.py table``: pipeline.skops, rows.csv and three changes of the folder.
``python by_hand.py photos``: weights.pt of a SqueezeNet, and pairs.csv, whose images it reads.
"""

import sys
from pathlib import Path

import numpy as np

STAGES, EPSILON = np.linspace(0, 1, 9), 0.02


def route(q):
    """Mean evidence, contradiction and fragility of (2, stages, pairs) scores."""
    response = q[0] - q[1]
    final = response[-1]
    is_active = np.abs(final) >= EPSILON
    turned = np.where(is_active, np.sign(final), 0) * response
    parts = np.maximum(turned, 0), np.maximum(-turned, 0), np.where(is_active, 0, np.abs(response))
    return [np.trapezoid(part, STAGES, axis=0).mean() for part in parts]


def audit_rows(predict, plus, minus):
    """Numbers move from the midpoint, whole ones are rounded, categories flip at once."""
    numbers = [name for name in plus if plus[name].dtype.kind in "if"]
    whole = [name for name in numbers if plus[name].dtype.kind == "i"]
    start = (plus[numbers] + minus[numbers]) / 2
    q = np.empty((2, len(STAGES), len(plus)))
    for stage, t in enumerate(STAGES):
        for branch, clean in enumerate((plus, minus)):
            frame = (clean if t else plus).copy()
            frame[numbers] = start + t * (clean[numbers] - start)
            frame[whole] = frame[whole].round().astype(np.int64)
            q[branch, stage] = predict(frame)[:, 1]
    return route(q)


def audit_photos(network, plus, minus):
    """Photos (3, height, width) come out of a blur of their midpoint, pair by pair."""
    import torch
    from torchvision.transforms.functional import gaussian_blur, normalize

    mean, std = [0.5] * 3, [0.5] * 3
    stages = torch.tensor(STAGES, dtype=torch.float32)[:, None, None, None]
    q = np.empty((2, len(STAGES), len(plus)))
    for pair, (factual, counterfactual) in enumerate(zip(plus, minus, strict=True)):
        start = gaussian_blur((factual + counterfactual) / 2, 65, 8.0)
        for branch, clean in enumerate((factual, counterfactual)):
            with torch.inference_mode():
                outputs = network(normalize(start + stages * (clean - start), mean, std))
            q[branch, :, pair] = outputs.softmax(dim=1)[:, 0].numpy()
    return route(q)


def table():
    """Audit the pipeline of the folder with three changes."""
    import pandas as pd
    import skops.io

    pipeline, rows = skops.io.load("pipeline.skops"), pd.read_csv("rows.csv").drop(columns="row")
    for changed in (
        rows.assign(x0=rows.x0 + 1),
        rows.assign(age=rows.age + 10),
        rows.assign(t0="level_2"),
    ):
        print(audit_rows(pipeline.predict_proba, rows, changed))


def photos():
    """Audit the SqueezeNet of the folder."""
    import csv

    import torch
    import torchvision
    from PIL import Image

    def read(name):
        levels = torch.from_numpy(np.array(Image.open(name).convert("RGB")))
        return levels.permute(2, 0, 1) / 255

    network = torchvision.models.squeezenet1_1(num_classes=2)
    network.load_state_dict(torch.load("weights.pt"))
    network.eval()
    pairs = list(csv.DictReader(Path("pairs.csv").read_text().splitlines()))
    images = ([read(pair[side]) for pair in pairs] for side in ("factual", "counterfactual"))
    print(audit_photos(network, *images))


if __name__ == "__main__":
    {"table": table, "photos": photos}[sys.argv[1]]()
