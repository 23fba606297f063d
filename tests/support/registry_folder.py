"""A folder of small models that lean on the wall of a scene to a known degree."""

import shutil
import sys
from pathlib import Path

import torch
import yaml

from decaf.models import architectures
from decaf.models.checkpoint import save
from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import load_study

NETWORKS = Path(__file__).parent / "networks"
CARD = {"architecture": "factory:leaning:build", "weights": "leaning.safetensors"}
CARD |= {"input_size": 32, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}
SMALL_CNN = CARD | {"architecture": "factory:decaf.models.networks.small_cnn:build"}
SMALL_CNN |= {"weights": "net.safetensors"}


def put_small_cnn(folder, seed=0, **changed):
    """Write an untrained network and its card, changed, into a folder that may be there."""
    card = SMALL_CNN | changed
    weights = folder / SMALL_CNN["weights"]
    weights.parent.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    save(architectures.build(SMALL_CNN["architecture"], {}), weights, {})
    (folder / "decaf.yaml").write_text(yaml.safe_dump(card))
    return folder


def put(folder, seed, lean=0.5):
    """Write a version: its weights, drawn by a seed, and its card."""
    if str(NETWORKS) not in sys.path:
        sys.path.append(str(NETWORKS))
    hidden = folder.with_name(f".{folder.name}")  # so that no re-audit sees half of it
    hidden.mkdir(parents=True)
    torch.manual_seed(seed)
    network = architectures.build(CARD["architecture"], {})
    with torch.no_grad():
        network.colour.copy_(torch.tensor([1.0, 0.0, -1.0]) * lean)
    save(network, hidden / CARD["weights"], {})
    (hidden / "decaf.yaml").write_text(yaml.safe_dump(CARD))
    return hidden.rename(folder)


def put_monday(root):
    """Five models; the last has two versions and a champion."""
    for seed, name in enumerate(["worse", "again", "gone", "broken", "moved"]):
        put(root / name / "1", seed)
    put(root / "moved" / "2", 9)
    alias(root / "moved", champion=1)


def put_tuesday(root):
    """One version is worse, one the same again, one is gone, one broken, one alias has moved."""
    put(root / "worse" / "2", seed=0, lean=1.5)
    shutil.copytree(root / "again" / "1", root / "again" / "2")
    shutil.rmtree(root / "gone")
    shutil.copytree(root / "broken" / "1", root / "broken" / "2")
    weights = root / "broken" / "2" / CARD["weights"]
    weights.write_bytes(weights.read_bytes()[:-40])
    alias(root / "moved", champion=2)


def alias(folder, **versions):
    (folder / "aliases.yaml").write_text(yaml.safe_dump(versions))


def registry_study(folder, registry, **more):
    """Write the study of a registry into a folder, and read it."""
    path = folder / "study.yaml"
    settings = {"study": "try", "data": {"adapter": "shapes3d", "sources": 4}}
    settings |= {"registry": registry, "workspace": str(folder / "workspace")}
    settings |= {"score": {"kind": "class_probability", "classes": 2}}
    settings |= {"paths": {"blend": {"kind": "blend"}}}
    path.write_text(yaml.safe_dump(settings | more))
    return load_study(path)


def resolved(study):
    """Resolved entries of a study's registry by label."""
    found = resolve(study, list_entries(study.registry))
    return {one.entry.label: one for one in found}
