"""What it costs to attribute the score of an image to its features, by DECAF and by other methods.

Every method runs through the code of a study, on the same images in batches of the same number of
rows: the planner, states, scores and profiles of DECAF, maps that are summed over features, games
of coalitions. Compute alone: images lie on the device, nothing is decoded or written. Networks are
untrained and images random: neither changes the work. One pass over the images is not timed; of
those that follow the median counts. Rows and passes are counted by hooks of the network.

Peak memory is that of the tensors that are alive at once in that first pass, network and images
among them: by the allocator of a GPU, or on a CPU by following every operation. The resident size
of a process would also hold what malloc keeps of other methods.

Networks that RESULTS.json has of this device are replaced, all others stay; PAGE.md shows them all,
and what coalitions.py counted, where its coalitions.json lies beside RESULTS.json.
Run: python benchmarks/attribution.py RESULTS.json PAGE.md [--device cuda] [--networks NAME …]
     [--methods NAME …] [--images N] [--batch ROWS] [--repeats N]
"""

import argparse
import gc
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from attribution_page import page
from torch import nn

import decaf
from decaf.data.cells import cell_of_pixel, feature_words
from decaf.data.pairs import Input, Pair, PairBlock, PairSet
from decaf.evaluation.attributions.base import MapMethod, attribution_of_features
from decaf.evaluation.attributions.coalitions import CoalitionMethod, Features, play
from decaf.evaluation.attributions.deep_lift import DeepLift
from decaf.evaluation.attributions.gradient_shap import GradientShap
from decaf.evaluation.attributions.input_x_gradient import InputXGradient
from decaf.evaluation.attributions.integrated_gradients import IntegratedGradients
from decaf.evaluation.attributions.kernel_shap import KernelShap
from decaf.evaluation.attributions.rise import Rise
from decaf.evaluation.attributions.smooth_grad import SmoothGrad
from decaf.models import architectures
from decaf.models.precision import exact_float32
from decaf.models.sources.network import NetworkCard, NetworkModel
from decaf.reveal.path import stage_grid
from decaf.reveal.paths.removal import Removal
from decaf.scoring.block import score_block
from decaf.scoring.footprint import Alive
from decaf.scoring.image_scores import score_of
from decaf.scoring.planner import plan_states
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.scores.target_logit import TargetLogit
from decaf.scoring.states import StateBuilder, on_device
from tasks.cluster.fork_server import WORKER_MEMORY
from tasks.cluster.worker import device_name, peak_memory, watch_memory

PIXELS, CLASSES, MEAN, STD = 224, 1000, (0.5,), (0.5,)
SCORE = TargetLogit(kind="target_logit", classes=CLASSES)

GAUSS = {"rule": "gauss_legendre", "baseline": "mean"}
SHARED = {"baseline": "mean", "bank": "shared"}
CHANCE = ClassProbability(kind="class_probability", classes=CLASSES)
ENDPOINT = 2
"""Stages that M needs."""
Method = int | MapMethod | CoalitionMethod
METHODS: dict[str, Method] = {
    **{f"decaf_{stages}": stages for stages in (3, 5, 9)},
    "endpoint_m": ENDPOINT,
    "input_x_gradient": InputXGradient(baseline="mean"),
    "ig_16": IntegratedGradients(steps=16, **GAUSS),
    "ig_32": IntegratedGradients(steps=32, **GAUSS),
    "ig_u_32": IntegratedGradients(steps=32, **GAUSS | {"baseline": "uniform"}),
    "deep_lift": DeepLift(baseline="mean"),
    "gradient_shap": GradientShap(seed=8215, **SHARED),
    "smooth_grad_16": SmoothGrad(space="normalised", bank="shared", seed=8216),
    "rise_512": Rise(
        masks=512, grid=8, probability=0.1, shift=True, seed=8213, own_score=CHANCE, **SHARED
    ),
    "kernel_shap_512": KernelShap(baseline="mean"),
}
"""The paper's on ImageNet: stages of the path `removal`, or a method of docs/attributions.md."""


class Network(NamedTuple):
    """What is attributed, and with how much of it at once."""

    architecture: str
    arguments: dict[str, Any]
    features: int
    """Stripes of an image."""
    images: int = 64
    batch: int = 256
    """Rows that go through the network at once; both on a GPU, ON_CPU has those of a CPU."""


def dinov2(size: str, *more: int) -> Network:
    """DINOv2 under its linear head, of images with three parts, the mean of PartImageNet."""
    factory = "factory:decaf.studies.attribution.dinov2:four_layers"
    return Network(factory, {"backbone": f"vit_{size}_patch14_dinov2"}, 3, *more)


NETWORKS = {
    "dinov2_vitg14": dinov2("giant", 8, 32),
    "dinov2_vitl14": dinov2("large", 16, 64),
    "dinov2_vitb14": dinov2("base"),
    "dinov2_vits14": dinov2("small"),
    "resnet50": Network("torchvision:resnet50", {}, 16),
    "vgg16": Network("torchvision:vgg16", {}, 16),
    "vit_b_16": Network("timm:vit_base_patch16_224", {}, 16),
}
MEASURED = {"cpu": ["resnet50", "dinov2_vits14"], "cuda": list(NETWORKS)}
ON_CPU = (1, 36)
"""Images, and rows at once: those of an image under DECAF-3 fit."""


class Counter:
    """Rows of every pass of a network, in both directions."""

    def __init__(self, network: nn.Module) -> None:
        self.forward: list[int] = []
        self.backward: list[int] = []
        self.handle = network.register_forward_hook(self._count)

    def _count(self, network: nn.Module, given: tuple[Any, ...], outputs: torch.Tensor) -> None:
        self.forward.append(len(outputs))
        if outputs.requires_grad:
            outputs.register_hook(lambda gradient: self.backward.append(len(gradient)))


class Subject(NamedTuple):
    """A network, and what all methods are given."""

    model: NetworkModel
    counter: Counter
    held: int
    """Bytes of the network on the device."""
    block: PairBlock
    levels: np.ndarray
    """(n, 3, height, width) uint8, on the host, as inputs are stored."""
    images: torch.Tensor
    """The same on the device."""
    region: torch.Tensor
    """(n_pairs, height, width) where the feature of each pair lies, on the device."""
    batch: int


def subject_of(name: str, device: torch.device, count: int, batch: int) -> Subject:
    """An untrained network, random images, and pairs of each with itself without each stripe."""
    asked = NETWORKS[name]
    torch.manual_seed(0)
    network = architectures.build(asked.architecture, asked.arguments)
    card = NetworkCard(
        **{"id": name, "family": name, "architecture": asked.architecture, "weights": "untrained"},
        **{"input_size": PIXELS, "mean": MEAN, "std": STD},
    )
    model = NetworkModel(network, card, device)
    shape = (count, PIXELS, PIXELS)
    levels = np.random.default_rng(0).integers(0, 256, (count, 3, *shape[1:]), np.uint8)
    inputs = tuple(Input(str(row), "random", str(row), "") for row in range(count))
    pairs = tuple(
        Pair(f"{row}/{feature}", str(row), "stripe", row % CLASSES, "all", row, row, feature)
        for row in range(count)
        for feature in range(1, asked.features + 1)
    )
    words = feature_words(cell_of_pixel(PIXELS, asked.features) + 1).astype(np.uint16)
    block = PairSet(inputs, pairs, "random").block(tuple(range(len(pairs))))
    block = replace(block, regions=np.broadcast_to(words, shape).copy())
    return Subject(
        model=model,
        counter=Counter(network),
        held=sum(tensor.nbytes for tensor in (*network.parameters(), *network.buffers())),
        block=block,
        levels=levels,
        images=on_device(levels, device),
        region=torch.from_numpy(block.removed()).to(device),
        batch=batch,
    )


def attributed(method: Method, subject: Subject) -> np.ndarray:
    """(n_pairs,) what a method says of the feature of every pair."""
    model, block, images = subject.model, subject.block, subject.images
    if isinstance(method, int):
        return evidence(subject, method)
    names = [str(row) for row in range(len(images))]
    columns = np.arange(len(images)) % CLASSES
    given = (score_of(model, method.own_score or SCORE), images, columns, names, subject.batch)
    if isinstance(method, CoalitionMethod):
        named = np.bitwise_or.reduce(feature_words(np.unique(block.feature)))
        features = Features(block.regions, np.full(len(images), named))
        return play([method], features, *given).scores[0, block.plus, block.feature - 1]
    return attribution_of_features(method.maps(*given), block.plus, subject.region)


def evidence(subject: Subject, stages: int) -> np.ndarray:
    """(n_pairs,) E of the path `removal`, or M, from the planner to profiles."""
    model, block, grid = subject.model, subject.block, stage_grid(stages)
    plan = plan_states(block, subject.levels, {"removal": Removal(value=MEAN)}, grid)
    with torch.inference_mode():
        scored = score_block(
            plan,
            StateBuilder(plan, subject.images),
            lambda states: SCORE.values(model.outputs(states), model.output),
            block.class_id,
            subject.batch,
        )
    plus, minus = scored.branches["removal"][:, 0].transpose(2, 0, 1)
    found = decaf.profile(plus - minus, grid)
    return found.endpoint_magnitude if stages == ENDPOINT else found.evidence


def cost(method: Method, subject: Subject, repeats: int) -> dict[str, Any]:
    """Rows, passes, seconds of every repeat and peak memory of a method."""
    device, counter, seconds = subject.model.device, subject.counter, []
    peak = peak_of(lambda: attributed(method, subject), subject)
    for _ in range(repeats):
        counter.forward.clear()
        counter.backward.clear()
        synchronise(device)
        began = time.perf_counter()
        attributed(method, subject)
        synchronise(device)
        seconds.append(time.perf_counter() - began)
    images = len(subject.images)
    return {
        "forward_rows_per_image": sum(counter.forward) / images,
        "forward_passes": len(counter.forward),
        "backward_rows_per_image": sum(counter.backward) / images,
        "backward_passes": len(counter.backward),
        "seconds": seconds,
        "ms_per_image": 1e3 * statistics.median(seconds) / images,
        "peak_gib": peak / 2**30,
    }


def peak_of(work: Callable[[], object], subject: Subject) -> int:
    """Most bytes of tensors that are alive at once during a piece of work."""
    if subject.model.device.type == "cuda":
        gc.collect()
        watch_memory(subject.model.device)
        work()
        return peak_memory(subject.model.device)
    with Alive() as alive:
        work()
    return subject.held + subject.images.nbytes + subject.region.nbytes + alive.most


def synchronise(device: torch.device) -> None:
    """Wait for what has been launched."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measured(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Cost of every method on a network."""
    images, batch = ON_CPU if given.device == "cpu" else NETWORKS[name][-2:]
    device = torch.device(given.device)
    subject = subject_of(name, device, given.images or images, given.batch or batch)
    costs = {}
    for method in given.methods:
        costs[method] = cost(METHODS[method], subject, given.repeats)
        print(f"{name} {method}: {json.dumps(costs[method])}", flush=True)
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "images": len(subject.images),
        "batch": subject.batch,
        "features": NETWORKS[name].features,
        "weights_gib": subject.held / 2**30,
        "costs": costs,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure, keep the figures beside those of other networks and devices, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--device", choices=list(MEASURED), default="cpu")
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--images", type=int, help="of every network")
    parser.add_argument("--batch", type=int, help="rows that go through a network at once")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    exact_float32()
    found = json.loads(given.results.read_text()) if given.results.exists() else {}
    shared = given.results.with_name("coalitions.json")
    coalitions = json.loads(shared.read_text()) if shared.exists() else None
    runs = found.setdefault(device_name(torch.device(given.device)), {})
    for name in given.networks or MEASURED[given.device]:
        runs[name] = measured(name, given)
        given.results.write_text(f"{json.dumps(found, indent=1)}\n")
        given.page.write_text(page(found, coalitions))


if __name__ == "__main__":
    if not WORKER_MEMORY.items() <= os.environ.items():
        # An allocator reads its settings once, at the start of a process.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WORKER_MEMORY})
    main()
