"""Images whose parts are known: rendered birds (FunnyBirds), and photos (PartImageNet)."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from decaf.data.adapters.image_features import Row, row_of, rows_of
from decaf.data.adapters.image_files import Folder
from decaf.data.features import Features
from decaf.data.pairs import Pair, PairSet
from decaf.foundation.settings import PlacedPath, require_keys
from decaf.studies.attribution.birds import Split, birds_folder
from decaf.studies.attribution.held_out import HeldOut, Without, with_endpoints
from decaf.studies.attribution.part_annotations import FEWEST, MOST, PartAnnotations
from decaf.studies.attribution.part_maps import COLOURS, PartMaps

PHOTOS = ("images/{0}", "{0}")
ANNOTATIONS = ("annotations/{0}/{0}.json", "annotations/{0}.json", "{0}.json")
"""Places of the splits in the archives of PartImageNet that there have been; the first counts."""


class FunnyBirds(HeldOut):
    """Birds with themselves without one of five parts: covered, painted over, never rendered."""

    adapter: Literal["funnybirds"]
    shared_with_recipes: ClassVar = {"root": "whose classes may have other parts"}
    root: PlacedPath = Field(description="folder that holds `FunnyBirds/`, or that folder")
    split: Split = Field("test", description="birds to audit")
    dilate: int = Field(0, ge=0, le=64, description="widening of each part along both axes, px")
    native: bool = Field(
        False,
        description="also pair each bird with the same scene rendered without a part; hidden parts "
        "then count, as empty parts",
    )

    @model_validator(mode="after")
    def _rendered_without_parts(self) -> "FunnyBirds":
        require_keys([("native", not self.native or self.split == "test", "'split: test'")])
        return self

    def pair_set(self) -> PairSet:
        """Pair birds with themselves, with copies that operators changed, and with rendered copies.

        Raises DataError when a folder or file is missing, a part map cannot be decoded, or there
        are fewer birds than requested.
        """
        all_pairs = super().pair_set()
        removals = [pair for pair in all_pairs.pairs if pair.plus == pair.minus]
        hidden = len(COLOURS) * len({pair.plus for pair in removals}) - len(removals)
        if hidden:
            remark = f"{hidden} parts are not visible in their pictures and are left out"
            all_pairs = replace(all_pairs, remarks=(*all_pairs.remarks, remark))
        return with_endpoints(
            all_pairs, (self._find_rendered(all_pairs, pair) for pair in removals if self.native)
        )

    def _find_rendered(self, given: PairSet, removal: Pair) -> Without:
        image = given.inputs[removal.plus]
        kept_names = "_".join(part for part in COLOURS if part != removal.pair_type)
        folder = f"{self.split}_interventions/{Path(image.image_id).with_suffix('')}"
        name = f"{folder}/body_{kept_names}.png"
        digest, place = Folder(birds_folder(self.root)).file(name)
        return Without(removal, "native", digest, place, name)

    def _places(self) -> tuple[Path, Features]:
        folder = birds_folder(self.root)
        maps = folder / f"{self.split}_part_map"
        return folder / self.split, PartMaps(
            folder=maps,
            dilate=self.dilate,
            counts_hidden=self.native,
            annotations=self.annotations,
        )

    def _every(self) -> tuple[list[Row], tuple[str, ...]]:
        return rows_of(self._places()[0], None)


class PartImageNet(HeldOut):
    """Photos of ImageNet whose parts are annotated, without one of them: covered, painted over."""

    adapter: Literal["partimagenet"]
    root: PlacedPath = Field(description="folder that holds `PartImageNet/`, or that folder")
    split: Literal["train", "val", "test"] = Field("test", description="photos to audit")
    classes: PlacedPath | Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="WordNet ids of classes 0, 1, … of the models, or a JSON file of them as "
        '`{"0": ["n01440764", "tench"], …}`'
    )

    def _places(self) -> tuple[Path, PartAnnotations]:
        below = self.root / "PartImageNet"
        folder = below if below.is_dir() else self.root
        images, file = (_first(folder, names, self.split) for names in (PHOTOS, ANNOTATIONS))
        return images, PartAnnotations(file=file, annotations=self.annotations)

    def _every(self) -> tuple[list[Row], tuple[str, ...]]:
        folder, features = self._places()
        counts = features.part_counts()
        named = [name for name, count in counts.items() if FEWEST <= count <= MOST]
        left_out = f"{len(counts) - len(named)} of {len(counts)} images are left out, annotated "
        remark = f"{left_out}with fewer than {FEWEST} or more than {MOST} parts"
        # Photos may lie in folders of their classes; annotations do not name the folders.
        files = {*Folder(folder).files()}
        paths = [
            path_in_class if (path_in_class := f"{_wordnet_id(n)}/{n}") in files else n
            for n in named
        ]
        return [row_of(path) for path in sorted(paths)], (remark,) * (len(named) < len(counts))

    def _rows(self) -> tuple[list[Row], tuple[str, ...]]:
        rows, remarks = super()._rows()
        return [row._replace(label=_wordnet_id(row.image)) for row in rows], remarks


def _first(folder: Path, names: tuple[str, ...], split: str) -> Path:
    """First existing place for the split; the first of ``names`` if none exists."""
    places = [folder / name.format(split) for name in names]
    return next((place for place in places if os.access(place, os.F_OK)), places[0])


def _wordnet_id(image: str) -> str:
    """``n02484975`` of ``n02484975_123.JPEG``, in a folder or not."""
    return Path(image).name.partition("_")[0]
