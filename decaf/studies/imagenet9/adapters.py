"""ImageNet-9 Backgrounds Challenge: one foreground before different backgrounds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input, InputSet, Pair, PairSet
from decaf.data.photo_files import (
    CROP,
    RESIZE_SHORTER,
    central_crop,
    read_header,
    read_photo,
    turn_in_words,
)
from decaf.errors import DataError
from decaf.foundation.digests import file_sha256, hashed_share, hashed_word
from decaf.foundation.files import convert_os_errors
from decaf.studies.imagenet9.challenge_files import (
    CLASSES,
    Variant,
    VariantFiles,
    absent_classes,
    variant_files,
    variant_folder,
)

FACTUAL = "mixed_same"
FOREGROUND = "only_fg"
COUNTERFACTUALS = {"same_rand": "mixed_rand", "same_next": "mixed_next"}
SPLIT_SEED = 91701
SPLIT_LIMITS = (("score", 0.4), ("deep", 0.6), ("outcome", 1.0))


class ImageNet9(Adapter):
    """Pairs of one foreground on a background of its class and on another one."""

    adapter: Literal["imagenet9"]
    root: Path = Field(description="folder that holds `bg_challenge/`, or that folder")
    pair_types: tuple[Literal["same_rand", "same_next"], ...] = Field(
        ("same_rand", "same_next"), description="counterfactual backgrounds: random, next class"
    )
    split: Literal["score", "deep", "outcome"] | None = Field(
        None, description="hashed split to audit; all foregrounds when absent"
    )
    required_variants: tuple[Variant, ...] = Field(
        (),
        description="further variants that an audited foreground must have",
    )
    sources: int | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="number of foregrounds, drawn by hash; all when absent",
    )

    def pair_set(self) -> PairSet:
        """Join the variants by foreground; digest every file, decode none.

        Remarks name the foregrounds that are left out, because a variant lacks them or has them
        twice, and the classes without any foreground. Raises DataError when a variant's folder is
        missing or holds no usable file, no foreground is in every variant, or the split has fewer
        foregrounds than are requested.
        """
        variants = self._paired_variants()
        joined = dict.fromkeys([*variants, *self.required_variants])
        files_by_variant = {variant: variant_files(self.root, variant) for variant in joined}
        files = {
            variant: files_of_variant.by_source
            for variant, files_of_variant in files_by_variant.items()
        }
        shared = set.intersection(*(set(by_source) for by_source in files.values()))
        if not shared:
            counts = ", ".join(f"{name} {len(by_source)}" for name, by_source in files.items())
            raise DataError(f"{self.root}: no foreground is in every variant (files: {counts})")
        sources = self._choose_sources(shared)
        images: list[Input] = []
        positions = {}
        for source in sources:
            for variant in variants:
                positions[source, variant] = len(images)
                images.append(_image(variant, source, files[variant][source]))
        pairs = [
            Pair(
                pair_id=f"{source}__{pair_type}",
                source_id=source,
                pair_type=pair_type,
                class_id=int(source[:2]),
                split=split_of(source),
                plus=positions[source, FACTUAL],
                minus=positions[source, COUNTERFACTUALS[pair_type]],
            )
            for source in sources
            for pair_type in self.pair_types
        ]
        construction = f"pillow bilinear {RESIZE_SHORTER} rounded down centre {CROP}"
        remarks = _remarks(files_by_variant, shared) + absent_classes(
            sources, "foreground of the study"
        )
        return PairSet(tuple(images), tuple(pairs), construction, remarks, class_names=CLASSES)

    def needed_places(self) -> tuple[Path, ...]:
        """The root, and the folders of all variants."""
        variants = dict.fromkeys([*self._paired_variants(), *self.required_variants])
        return (self.root, *(variant_folder(self.root, variant) for variant in variants))

    def foregrounds(self, pairs: PairSet) -> InputSet:
        """Only-FG images of all sources, in the order of their names.

        Raises DataError when the folder is missing, lacks a foreground, or has one of another size
        than its Mixed-Same photo.
        """
        foreground_files = variant_files(self.root, FOREGROUND)
        files = foreground_files.by_source
        sources = sorted(pairs.pairs.sources.values)
        missing = [source for source in sources if source not in files]
        if missing:
            raise DataError(
                f"{self.root}: {len(missing)} foregrounds are not in {FOREGROUND}, {missing[0]} "
                f"for example; add their files, leave these foregrounds out with "
                f"'required_variants: [{FOREGROUND}]' in 'data:', or leave 'labels:' out"
            )
        factual = {pair.source_id: pairs.inputs[pair.plus] for pair in pairs.pairs}
        images = tuple(_image(FOREGROUND, source, files[source]) for source in sources)
        _check_sizes(
            (f"foreground {source}", factual[source], image)
            for source, image in zip(sources, images, strict=True)
        )
        return InputSet(images, pairs.construction, foreground_files.remarks)

    def verify(self, pairs: PairSet) -> None:
        """Check that both files of every pair have one size when upright, from their headers.

        Raises DataError, naming pairs that differ, with both sizes, and photos that are refused.
        """
        _check_sizes(
            (f"pair {pair.pair_id}", pairs.inputs[pair.plus], pairs.inputs[pair.minus])
            for pair in pairs.pairs
        )

    def describe(self, pairs: PairSet, pair: Pair) -> str:
        """Class, and the class whose background replaces its own."""
        background = {"same_rand": "a random class", "same_next": "the next class"}[pair.pair_type]
        return f"{CLASSES[pair.class_id]}, background of its own class → of {background}"

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Decode, turn upright, resize the shorter side to 256, crop the central 224 x 224."""
        return central_crop(read_photo(Path(image.location)))

    def _paired_variants(self) -> list[str]:
        return [FACTUAL, *(COUNTERFACTUALS[name] for name in self.pair_types)]

    def _choose_sources(self, sources: set[str]) -> list[str]:
        eligible = [s for s in sources if self.split is None or split_of(s) == self.split]
        where = "" if self.split is None else f" in the split {self.split!r}"
        if len(eligible) < (self.sources or 1):
            raise DataError(
                f"{self.root}: {len(eligible)} of {len(sources)} foregrounds are there{where}, and "
                f"the study asks for {self.sources or 'at least 1'}; add photos, or change "
                "'split:' or 'sources:'"
            )
        if self.sources is not None:
            drawn = f"{SPLIT_SEED}|{self.split or 'sources'}"
            eligible = sorted(eligible, key=lambda s: hashed_word(f"{drawn}|{s}"))[: self.sources]
        return sorted(eligible)


def _image(variant: str, source: str, path: Path) -> Input:
    below_archive = "/".join(path.parts[-4:])  # variant, part, class, file
    with convert_os_errors(
        DataError, f"{path} cannot be read", "restore it, or remove it from the data"
    ):
        digest = file_sha256(path)
    return Input(f"{variant}/{source}", variant, digest, str(path), below_archive)


def _remarks(found: dict[str, VariantFiles], shared: set[str]) -> tuple[str, ...]:
    """Remarks on unused files."""
    remarks = [remark for files in found.values() for remark in files.remarks]
    foregrounds = set().union(*(files.by_source for files in found.values()))
    if foregrounds != shared:
        example = min(foregrounds - shared)
        lacking = [variant for variant, files in found.items() if example not in files.by_source]
        remarks.append(
            f"{len(foregrounds - shared)} of {len(foregrounds)} foregrounds are left out: they "
            f"are not in every variant ({example}, for example, is not in {' and '.join(lacking)})"
        )
    return tuple(remarks)


def _check_sizes(couples: Iterable[tuple[str, Input, Input]]) -> None:
    """Refuse photos that would be cropped differently; each couple has a name."""
    faults: dict[str, None] = {}
    for name, *couple in couples:
        headers = []
        for image in couple:
            try:
                headers.append(read_header(Path(image.location)))
            except DataError as error:
                faults[str(error)] = None
        if len({header.upright() for header in headers}) > 1:
            first, second = (image.location for image in couple)
            sizes = [f"{header.upright()}" for header in headers]
            turns = [turn_in_words(header) for header in headers]
            faults[
                f"{name}: {first} is {sizes[0]} pixels{turns[0]} and {second} is {sizes[1]}"
                f"{turns[1]}; both must have one size, or they would be cropped differently"
            ] = None
    if faults:
        raise unusable_error(faults, "photos or pairs")


def split_of(source: str) -> str:
    """Split of a foreground by the hash of its id: 40 % score, 20 % deep, 40 % outcome."""
    u = hashed_share(f"{SPLIT_SEED}|split|{source}")
    return next(name for name, limit in SPLIT_LIMITS if u < limit)
