"""Small pair sets and brute-force states that the tests of planner, paths and scoring share."""

import hashlib

import numpy as np
from scipy.ndimage import gaussian_filter

from decaf.data.pairs import Input, Pair, PairSet
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches

GRID = np.linspace(0, 1, 9)
PATHS = {
    "blend": Blend(sigma=1.15),
    "patch_a": Patches(sigma=1.15, order="A"),
    "patch_b": Patches(sigma=1.15, order="B"),
}
CONTROL = {**PATHS, "random": Patches(sigma=1.15, ranking="random")}


def foregrounds(count):
    """Every foreground has one factual image and two counterfactuals, as in ImageNet-9."""
    variants = ("same", "rand", "next")
    images = tuple(
        Input(f"{variant}/{source}", variant, f"{variant}{source}", "")
        for source in range(count)
        for variant in variants
    )
    pairs = tuple(
        Pair(f"{source}__{kind}", str(source), kind, source % 2, "all", 3 * source, 3 * source + k)
        for source in range(count)
        for k, kind in ((1, "same_rand"), (2, "same_next"))
    )
    return PairSet(images, pairs, "test")


def features(image_count, feature_count):
    """Every image is paired with itself without one of its features."""
    images = tuple(Input(str(i), "clean", str(i), "") for i in range(image_count))
    pairs = tuple(
        Pair(f"{i}/{k}", str(i), "removal", 0, "all", i, i, feature=k)
        for i in range(image_count)
        for k in range(1, feature_count + 1)
    )
    return PairSet(images, pairs, "test")


def pixels(count, side=32, seed=0):
    """(count, 3, side, side) uint8, without ties."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (count, 3, side, side), dtype=np.uint8)


def whole(pair_set):
    return pair_set.block(tuple(range(len(pair_set.pairs))))


def with_contexts(count):
    """Every pair has the same change under a second context."""
    images = tuple(Input(str(i), "any", str(i), "") for i in range(4 * count))
    pairs = tuple(
        Pair(str(i), str(i), "swap", 0, "all", 4 * i, 4 * i + 1, context=(4 * i + 2, 4 * i + 3))
        for i in range(count)
    )
    return PairSet(images, pairs, "test")


def tie_keys(seed, label, pair_id):
    """Sort keys of tied patches: eight bytes of a hash for each of the 64."""
    prefix = f"decaf-imagenet9|patch|{seed}|{label}|{pair_id}|"
    return [hashlib.sha256(f"{prefix}{patch}".encode()).digest()[:8] for patch in range(64)]


def brute_force(path, block, inputs, row):
    """States of one pair of a block of 8-bit images."""
    levels = inputs[[block.plus[row], block.minus[row]]].astype(int)
    ties = tie_keys(getattr(path, "seed", 0), getattr(path, "order", ""), block.pair_ids[row])
    return states_of_pair(path, levels / 255, levels, ties)


def states_of_pair(path, clean, levels, ties):
    """(stages, 2, channels, height, width) of one pair, with numpy and scipy alone.

    Parameters
    ----------
    clean, levels
        (2, channels, height, width) both inputs as they are shown and as patches compare them.
    ties
        What orders patches that differ alike.
    """
    sigma = 8 * min(clean.shape[2:]) / 224 if path.sigma is None else path.sigma
    start = gaussian_filter(clean.mean(axis=0), (0, sigma, sigma), mode="mirror")
    if isinstance(path, Blend):
        return np.stack([start + t * (clean - start) for t in GRID])
    side, cell = path.side, clean.shape[-1] // path.side
    energy = ((levels[0] - levels[1]) ** 2).sum(axis=0).reshape(side, cell, side, cell)
    energy = energy.sum(axis=(1, 3)).ravel() * (path.ranking == "energy")
    order = sorted(range(side**2), key=lambda patch: (-energy[patch], ties[patch], patch))
    states = []
    for t in GRID:
        mask = np.zeros(side**2, bool)
        mask[order[: int(side**2 * t)]] = True
        mask = mask.reshape(side, side).repeat(cell, axis=0).repeat(cell, axis=1)
        states.append(np.where(mask, clean, start))
    return np.stack(states)
