"""Contracts of data sets."""

from itertools import islice

import numpy as np

from decaf.contracts.base import Trial, require, require_type, same_twice
from decaf.data.input_store import check_kind, check_mask
from decaf.data.pairs import Input, PairSet
from decaf.errors import abridge

MOST_IMAGES = 200
"""Inputs that are read at most, evenly spread over the data set."""


def names_the_same_pairs_twice(trial: Trial) -> None:
    """pair_set() gives the same pairs and digests each time."""
    pair_set = trial.member.pair_set
    require_type(pair_set(), PairSet, "pair_set()", "a decaf.data.pairs.PairSet")
    same_twice(
        pair_set,
        "pair_set() gave other pairs, or other digests, when it was called again; draw from a seed "
        "that is a setting, and sort what a folder lists",
    )


def points_at_its_images(trial: Trial) -> None:
    """Each pair's positions are those of images, its class is counted from 0."""
    pairs = trial.member.pair_set()
    count = len(pairs.inputs)
    astray = [
        pair.pair_id
        for pair in pairs.pairs
        if not all(0 <= position < count for position in pair.positions) or pair.class_id < 0
    ]
    require(
        not astray,
        f"pairs with a position outside of 0 to {count - 1}, or a class below 0: {abridge(astray)}",
    )
    removes_nothing = [
        pair.pair_id for pair in pairs.pairs if pair.plus == pair.minus and not pair.feature
    ]
    require(
        not removes_nothing,
        f"pairs of an image with itself: {abridge(removes_nothing)}; give 'feature' from 1 where a "
        "feature is removed, else two images",
    )


def has_digests(trial: Trial) -> None:
    """Each image has a digest of its sources, and images of equal digests are equal."""
    pairs = trial.member.pair_set()
    bare = [image.image_id for image in pairs.inputs if not image.digest]
    require(not bare, f"images without a digest: {abridge(bare)}; use file_sha256 or json_sha256")
    require(
        pairs.construction,
        "'construction' is empty; say how inputs are made, as in 'resized to 64'",
    )
    by_digest: dict[str, Input] = {}
    for image in _some(pairs):
        twin = by_digest.setdefault(image.digest, image)
        if twin is not image:
            same = np.array_equal(trial.member.read_input(image), trial.member.read_input(twin))
            require(
                same,
                f"{image.image_id} and {twin.image_id} have one digest and other content; make "
                "the digest from all that the content depends on",
            )


def describes_its_pairs(trial: Trial) -> None:
    """describe() puts the change of a pair into words, the same each time."""
    pairs = trial.member.pair_set()
    pair = pairs.pairs[0]
    words = trial.member.describe(pairs, pair)
    require_type(words, str, f"describe() of {pair.pair_id}", "a str")
    same = words == trial.member.describe(pairs, pair)
    require(same, f"describe() of {pair.pair_id} said something else the second time")


def passes_its_own_check(trial: Trial) -> None:
    """verify() accepts the pairs."""
    trial.member.verify(trial.member.pair_set())


def reads_every_input(trial: Trial) -> None:
    """Every input is read, the same each time, all of one type and of their declared shapes."""
    first = None
    for image in _some(trial.member.pair_set()):
        read = trial.member.read_input(image)
        require_type(read, np.ndarray, f"read_input({image.image_id})", "an array")
        check_kind(image, read)
        first = read if first is None else first
        expected = image.shape or first.shape
        require(
            (read.shape, read.dtype) == (expected, first.dtype),
            f"{image.image_id} is {read.dtype} {read.shape}; expected {first.dtype} {expected}, "
            f"{'its shape' if image.shape else 'as the first input'}: bring all to one size, or "
            "say the 'shape' of every Input",
        )
        require(
            np.array_equal(read, trial.member.read_input(image)),
            f"{image.image_id} was read twice and differs; inputs must not depend on chance",
        )


def reads_every_mask(trial: Trial) -> None:
    """Masks have the size of their image, are read the same twice, and have no unknown feature."""
    pairs = trial.member.pair_set()
    feature_count = int(pairs.pairs.features.max())
    for image, mask in islice(zip(pairs.inputs, pairs.masks, strict=False), MOST_IMAGES):
        read, size = trial.member.read_mask(mask), trial.member.read_input(image).shape[:2]
        require_type(read, np.ndarray, f"read_mask({mask.image_id})", "an array")
        check_mask(mask, read)
        require(
            read.shape == size,
            f"the mask {mask.image_id} is {read.shape}, its image {size}; bring both to one size",
        )
        require(
            np.array_equal(read, trial.member.read_mask(mask)),
            f"the mask {mask.image_id} was read twice and differs; it must not depend on chance",
        )
        last = int(read.max()).bit_length()
        require(
            last <= feature_count,
            f"the mask {mask.image_id} has bit {last - 1}, that of feature {last}; the pairs name "
            f"features up to {feature_count}",
        )


def has_its_results(trial: Trial) -> None:
    """A results folder has queries, each below a header and of ``$study``."""
    folder = trial.member.results_folder
    if folder is None:
        return
    queries = sorted(folder.glob("*.sql"))
    require(queries, f"'results_folder' {folder} has no .sql file; add the queries, or remove it")
    for query in queries:
        text = query.read_text(encoding="utf-8")
        lacking = [words for words in ("-- purpose: ", "-- grain: ", "$study") if words not in text]
        require(not lacking, f"{query} lacks {abridge(lacking)}")


def _some(pairs: PairSet) -> list[Input]:
    last = len(pairs.inputs) - 1
    return [pairs.inputs[n] for n in np.unique(np.linspace(0, last, MOST_IMAGES).astype(int))]
