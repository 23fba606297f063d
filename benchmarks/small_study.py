"""Studies of untrained networks on rendered scenes, as files in a folder of their own."""

from pathlib import Path
from typing import Any

import torch
import yaml

from decaf.foundation.callables import import_from
from decaf.models import architectures
from decaf.models.checkpoint import save

NETWORKS = Path(__file__).parent / "networks"


def card(folder: Path, name: str, seed: int, architecture: str, **settings: Any) -> dict[str, Any]:
    """Card of a network with random weights, which are written next to it."""
    import_from((NETWORKS,))
    torch.manual_seed(seed)
    weights = folder / f"{name}.safetensors"
    save(architectures.build(architecture, settings.get("arguments", {})), weights, {})
    return {
        "id": name,
        "family": "untrained",
        "architecture": architecture,
        "weights": weights.name,
        "mean": [0.5] * 3,
        "std": [0.5] * 3,
    } | settings


def write_study(folder: Path, cards: list[dict[str, Any]], **settings: Any) -> None:
    """Write ``study.yaml``; all paths in it are relative, so equal studies have equal keys."""
    study = {
        "study": "small",
        "models": cards,
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {"blend": {"kind": "blend", "sigma": 1.15}},
        "epsilon": 0.001,
        "workspace": "workspace",
        "warehouse": "warehouse",
        "report": "report.html",
        "python_path": [str(NETWORKS)],
    } | settings
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
