"""Make the data and models of ``configs/init/``, which ``decaf init`` copies.

    python docs/make_examples.py

The texts beside them are written by hand. Pictures and networks are those of the demo's scenes,
smaller; the signals are made up. Write the version of scikit-learn that saves the pipeline into
``FITTED_WITH`` of ``flows/commands/init.py``.
"""

import csv
import runpy
import shutil
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from PIL import Image

from decaf.models import architectures
from decaf.models.checkpoint import save
from decaf.models.recipes.base import TrainingSite
from decaf.studies.scenes.adapters import Shapes3D
from decaf.studies.scenes.recipes import SceneShortcut

FOLDER = Path(__file__).parents[1] / "configs" / "init"
CLASSES = ("cube", "cylinder")
NETWORK = "factory:decaf.models.networks.small_cnn:build"


def main() -> None:
    """Make all of it; a file that would be the same is written all the same."""
    pictures = FOLDER / "image_pairs"
    _write_pairs(pictures)
    shutil.copy(pictures / "pairs.csv", FOLDER / "registry" / "pairs.csv")
    shutil.copytree(pictures / "images", FOLDER / "registry" / "images", dirs_exist_ok=True)
    _write_labelled(FOLDER / "image_features" / "images")
    with chdir(FOLDER / "table_pairs"):
        runpy.run_path("fit.py")
    versions = FOLDER / "registry" / "models" / "small_cnn"
    _train(0.5, versions / "1" / "model.safetensors")
    _train(0.99, versions / "2" / "model.safetensors")
    shutil.copy(versions / "1" / "model.safetensors", FOLDER / "image_features")
    shutil.copy(versions / "2" / "model.safetensors", FOLDER / "image_pairs")
    _write_signals(FOLDER / "arrays")


def _write_pairs(folder: Path) -> None:
    """Five scenes, each with another wall and with another shape, and the table of these pairs."""
    data = Shapes3D(adapter="shapes3d", sources=5, seed=4)
    pairs = data.pair_set()
    with (folder / "pairs.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["factual", "counterfactual", "label", "pair_type"])
        for number, pair in enumerate(pairs.pairs, 2):
            name = f"images/{number // 2}"
            files = f"{name}.png", f"{name}-{pair.pair_type}.png"
            for file, place in zip(files, (pair.plus, pair.minus), strict=True):
                _save(folder / file, data.read_input(pairs.inputs[place]))
            table.writerow([*files, CLASSES[pair.class_id], pair.pair_type])


def _write_labelled(folder: Path) -> None:
    """Ten scenes in the folders of their classes."""
    data = Shapes3D(adapter="shapes3d", sources=10, seed=5, changes={"shape": 1})
    pairs = data.pair_set()
    for number, pair in enumerate(pairs.pairs, 1):
        _save(
            folder / CLASSES[pair.class_id] / f"{number}.png",
            data.read_input(pairs.inputs[pair.plus]),
        )


def _save(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, optimize=True)


def _train(shortcut: float, target: Path) -> None:
    """Train a network of 1,600 weights on scenes whose wall gives the label away to a degree."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = architectures.build(NETWORK, {"width": 4})
    recipe = SceneShortcut(recipe="scene_shortcut", shortcut=shortcut, seed=1, epochs=8)
    with TemporaryDirectory() as scratch:
        cpu = torch.device("cpu")
        recipe.train(network, TrainingSite(NETWORK, cpu, torch.nn.Identity(), Path(scratch), None))
    target.parent.mkdir(parents=True, exist_ok=True)
    save(network, target, {})


def _write_signals(folder: Path) -> None:
    """Ten signals of one channel (10, 1, 64) with four beats, and the same with one too early."""
    x = np.arange(64)
    for name, third in (("regular", 40), ("early_beat", 28)):
        beats = sum(np.exp(-0.5 * ((x - place) / 1.5) ** 2) for place in (8, 24, third, 56))
        heights = np.linspace(0.8, 1.2, 10)[:, None, None]
        np.save(folder / f"{name}.npy", (heights * beats).astype(np.float32))


if __name__ == "__main__":
    main()
