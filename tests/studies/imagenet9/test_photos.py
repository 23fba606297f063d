"""Real photos and real pretrained networks, against a plain forward pass written by hand."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

from warehouse.query.catalog import connect

CONFIGS = Path(__file__).parents[3] / "configs" / "imagenet9"
AUDITED = {
    "squeezenet1_1.onnxzoo": "squeezenet1_1_onnxzoo",
    "mobilenetv1_025.tflite224": "mobilenetv1_025_224",
}
SOURCES = 3


@pytest.mark.slow
def test_photos_are_scored_as_their_networks_score_them(
    shared_data, workers, write, decaf, prefect_server, tmp_path
):
    models = yaml.safe_load((CONFIGS / "parts" / "photos.yaml").read_text())
    study = yaml.safe_load((CONFIGS / "photos.yaml").read_text().replace("!file ", ""))
    del study["paths"]["patch_random"], study["labels"]
    study |= {
        "models": [model for model in models if model["id"] in AUDITED],
        "cluster": workers,
        "workspace": str(tmp_path / "workspace"),
        "warehouse": str(tmp_path / "warehouse"),
        "report": str(tmp_path / "report.html"),
    }
    study["data"]["sources"] = SOURCES
    done = decaf("run", write(study), **prefect_server)
    assert done.returncode == 0, done.stderr

    with connect(tmp_path / "warehouse") as connection:
        stored = connection.sql(
            "SELECT model_id, image_id, class_id, true_class_score FROM core_predictions"
        ).fetchall()
        rows = connection.sql("SELECT forward_rows, naive_rows FROM out_costs").fetchall()
    assert len(stored) == len(AUDITED) * SOURCES * 3
    for forward_rows, naive_rows in rows:
        assert naive_rows == 108 * SOURCES
        assert 61 * SOURCES <= forward_rows <= 65 * SOURCES
    for model_id, image_id, class_id, score in stored:
        expected = score_by_hand(shared_data, AUDITED[model_id], image_id, class_id)
        assert score == pytest.approx(expected, abs=2e-5), (model_id, image_id)


def score_by_hand(root, name, image_id, class_id):
    """Softmax mass of the superclass, with the data set's own builder of the network."""
    architectures = module_at(root / "weights" / "architectures.py")
    card = architectures.index()[name]
    variant, folder, foreground = image_id.split("/")
    files = (root / "imagenet9_photo" / "bg_challenge" / variant / "val").glob(f"{folder}_*/*")
    (path,) = [file for file in files if file.name.startswith(f"fg_{foreground}_bg_")]
    image = Image.open(path).convert("RGB").resize((256, 256), Image.Resampling.BILINEAR)
    pixels = torch.from_numpy(np.asarray(image)[16:240, 16:240] / 255).permute(2, 0, 1).float()
    mean, std = (torch.tensor(card[key]).view(3, 1, 1) for key in ("mean", "std"))
    with torch.inference_mode():
        shares = architectures.build(name)(((pixels - mean) / std)[None]).softmax(dim=1)[0]
    mapping = json.loads((root / "imagenet9_photo" / "in_to_in9.json").read_text())
    return sum(float(shares[int(k)]) for k, superclass in mapping.items() if superclass == class_id)


def module_at(path):
    """The module of one file, whatever another test has imported by that name."""
    spec = importlib.util.spec_from_file_location("architectures_of_the_data_set", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
