"""Settings of studies that are computed in a moment: of scenes, and of a made-up table."""

import numpy as np
import torch
from covertype_table import made_up, write
from registry_folder import NETWORKS

from decaf.foundation.callables import import_from
from decaf.models import architectures
from decaf.models.checkpoint import save
from decaf.reveal.gaussian.reference import GaussianReference
from decaf.reveal.gaussian.storage import save_reference

SMALL_CNN = {"architecture": "factory:decaf.models.networks.small_cnn:build"}
LINEAR = {"architecture": "factory:torch.nn:Linear"}
LINEAR |= {"arguments": {"in_features": 2, "out_features": 2}}


def of_scenes(folder, models=(), sources=2, seed=0, **changed):
    """Settings of a study of scenes on one path, whose results lie in the folder."""
    return {
        "study": "try",
        "data": {"adapter": "shapes3d", "sources": sources, "seed": seed},
        "models": list(models),
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {"blend": {"kind": "blend"}},
        "sources_per_block": 32,
        "device": "cpu",
        "workspace": str(folder / "workspace"),
        "warehouse": str(folder / "warehouse"),
        "report": False,
    } | changed


def network_card(name, **changed):
    """Settings of a small network of two classes without its weights."""
    card = {"id": name, "family": "any", "input_size": 32, "mean": [0.5], "std": [0.5]}
    return card | SMALL_CNN | changed


def untrained(folder, name, seed=0, **changed):
    """The same with weights that are drawn by a seed, in a file of the folder."""
    card = network_card(name, weights=str(folder / f"{name}.safetensors"), **changed)
    torch.manual_seed(seed)
    drawn = architectures.build(card["architecture"], card.get("arguments", {}))
    save(drawn, folder / f"{name}.safetensors", {})
    return card


def slow_network(folder):
    """Settings of an untrained network that is slow where ``SLOW_SECONDS`` says so."""
    import_from((NETWORKS,))
    return untrained(folder, "slow", architecture="factory:slow:Slow")


def of_table(folder, models, rows_per_class, **changed):
    """Settings of a study of classifiers of a made-up table, which lies in the folder."""
    file = write(folder / "covtype.data", made_up(rows_per_class))
    table = {"file": str(file), "drawn_per_class": rows_per_class}
    of_rows = {
        "data": {"adapter": "covertype", "table": table},
        "score": {"kind": "class_probability", "classes": 2, "target": 1},
        "paths": {"context": {"kind": "context"}},
    }
    return of_scenes(folder, models) | of_rows | changed


def classifier(name, kind="logistic_regression", **recipe):
    """Settings of a classifier of the table that is to be trained."""
    training = {"recipe": "covertype_classifier", "classifier": kind, "seed": 7701}
    return {"id": name, "family": name, "source": "estimator", "training": training | recipe}


def weighted(folder):
    """A function whose score is a weighted sum of pixels: 1 in the upper half, -2 in the lower."""
    (folder / "weighted_pixels.py").write_text(
        "def total(x):\n"
        "    half = x.shape[2] // 2\n"
        "    return x[:, :, :half].sum((1, 2, 3)) - 2 * x[:, :, half:].sum((1, 2, 3))\n"
    )
    card = {"id": "sum", "family": "sum", "source": "function", "output": "value"}
    return {
        "python_path": [str(folder)],
        "models": [card | {"function": "weighted_pixels:total"}],
        "score": {"kind": "regression_value"},
    }


def white_reference(folder):
    """File of a Gaussian reference of scenes; to factorise a covariance takes seconds."""
    size, file = 3 * 32 * 32, folder / "white.safetensors"
    variances = np.full(size, 0.01)
    reference = GaussianReference(
        mean=np.full(size, 0.5),
        eigenvalues=variances,
        eigenvectors=np.eye(size),
        variances=variances,
        shape=(3, 32, 32),
    )
    save_reference(reference, file)
    return file
