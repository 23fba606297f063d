"""A folder with four small sound studies, one of them audited: what the campaign damages."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from covertype_table import made_up, write
from PIL import Image
from registry_folder import put_small_cnn
from small_study import card
from torch import nn

from decaf.models.checkpoint import save

DECAF = Path(sys.executable).parent / "decaf"
SMALL_CNN = "factory:decaf.models.networks.small_cnn:build"
SCORE = {"kind": "class_probability", "classes": 2}
CLASSES = ("00_dog", "01_bird", "02_wheeled vehicle")
PHOTO_CLASSES = 9


def prepare(folder: Path) -> None:
    """Write scenes.yaml, registry.yaml, table.yaml and photos.yaml, and run the first of them."""
    folder.mkdir()
    models = [card(folder, name, seed, SMALL_CNN, input_size=32) for seed, name in enumerate("ab")]
    (folder / "models.yaml").write_text(yaml.safe_dump(models))
    scenes = _study("scenes", {"adapter": "shapes3d", "sources": 4, "seed": 1}, models=[])
    text = yaml.safe_dump(scenes).replace("models: []", "models: !file models.yaml")
    (folder / "scenes.yaml").write_text(text)
    _registry(folder)
    _table(folder)
    _photos(folder)
    subprocess.run([DECAF, "run", "scenes.yaml"], cwd=folder, check=True)


def _study(name: str, data: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {
        "study": name,
        "data": data,
        "score": SCORE,
        "paths": {"blend": {"kind": "blend", "sigma": 1.15}, "patch": {"kind": "patches"}},
        "stages": 5,
        "epsilon": 0.001,
        "sources_per_block": 2,
        "cluster": {"kind": "local", "workers": 1, "threads": 1},
        "workspace": "workspace",
        "warehouse": "warehouse",
        "report": f"{name}.html",
    } | settings


def _write(folder: Path, study: dict[str, Any]) -> None:
    (folder / f"{study['study']}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))


def _registry(folder: Path) -> None:
    sound = put_small_cnn(folder / "zoo" / "sound" / "1")
    for number in range(8):
        shutil.copytree(sound, folder / "zoo" / f"entry{number}" / "1")
    study = _study("registry", {"adapter": "shapes3d", "sources": 4, "seed": 1}, models=[])
    study["registry"] = {"kind": "folder", "root": "zoo"}
    study["gates"] = {"evidence": {"increase": 0.02}, "accuracy": {"at_least": 0.0}}
    study["alerts"] = {"file": "alerts.jsonl"}
    _write(folder, study)


def _table(folder: Path) -> None:
    write(folder / "covtype.data", made_up(40))
    training = {"recipe": "covertype_classifier", "classifier": "logistic_regression", "seed": 1}
    models = [{"id": "c", "family": "linear", "source": "estimator", "training": training}]
    data = {"adapter": "covertype", "table": {"file": "covtype.data", "drawn_per_class": 40}}
    paths = {"context": {"kind": "context"}}
    _write(folder, _study("table", data, models=models, score=SCORE | {"target": 1}, paths=paths))


def _photos(folder: Path) -> None:
    """Three classes of the nine have photos, 60 x 50 px."""
    rng = np.random.default_rng(0)
    for number, name in enumerate(CLASSES):
        for variant in ("mixed_same", "mixed_rand", "mixed_next"):
            target = folder / "photos" / "bg_challenge" / variant / "val" / name
            target.mkdir(parents=True)
            levels = rng.integers(0, 256, (50, 60, 3), dtype=np.uint8)
            file = f"fg_n0000000{number}_00001_bg_n0000000{9 - number}_00002.JPEG"
            Image.fromarray(levels).save(target / file, quality=95)
    torch.manual_seed(0)
    save(nn.Linear(3, PHOTO_CLASSES), folder / "pool.safetensors", {})
    (folder / "map.json").write_text(json.dumps({str(i): i for i in range(PHOTO_CLASSES)}))
    model = {"id": "pool", "family": "pool", "architecture": "factory:torch.nn:Linear"}
    model |= {"arguments": {"in_features": 3, "out_features": PHOTO_CLASSES}, "input_size": 224}
    model |= {"weights": "pool.safetensors", "mean": [0.5] * 3, "std": [0.5] * 3}
    score = {"kind": "superclass_probability", "class_map": "map.json"}
    data = {"adapter": "imagenet9", "root": "photos"}
    _write(folder, _study("photos", data, models=[model], score=score))
