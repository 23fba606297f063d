"""FunnyBirds: rendered birds with five parts, and the same birds rendered without one of them."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from decaf.data.adapters.image_features import Row, rows_of
from decaf.data.adapters.image_files import Folder
from decaf.data.feature_masks import Features
from decaf.data.pairs import Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.digests import hashed_word
from decaf.foundation.settings import PlacedPath, require_keys
from decaf.studies.attribution.birds import Split, birds_folder
from decaf.studies.attribution.held_out import HeldOut, Without, with_endpoints
from decaf.studies.attribution.part_maps import COLOURS, PartMaps


class FunnyBirds(HeldOut):
    """Birds with themselves without one of five parts: covered, painted over, never rendered."""

    adapter: Literal["funnybirds"]
    shared_with_recipes: ClassVar = {"root": "whose classes may have other parts"}
    root: PlacedPath = Field(description="folder that holds `FunnyBirds/` (or that folder itself)")
    split: Split = Field("test", description="birds to audit")
    images: Annotated[int, Field(ge=1, le=1_000_000)] | PlacedPath | None = Field(
        None,
        description="birds to audit: so many, drawn by hash, or a file with their paths below the "
        "folder of the split, `.txt`, one a line, or a table with the column `image`; all when "
        "absent",
    )
    dilate: int = Field(
        0, ge=0, le=64, description="px by which every part reaches further, along both axes"
    )
    native: bool = Field(
        False,
        description="also pair each bird with the same scene rendered without a part; parts that "
        "are hidden then count, as parts that lie nowhere",
    )

    @model_validator(mode="after")
    def _rendered_without_parts(self) -> "FunnyBirds":
        require_keys([("native", not self.native or self.split == "test", "'split: test'")])
        return self

    def pair_set(self) -> PairSet:
        """Birds with themselves, with what operators make of them, and as they were rendered.

        Raises DataError when a folder or file is missing, a part map cannot be decoded, or there
        are fewer birds than are asked for.
        """
        given = super().pair_set()
        removals = [pair for pair in given.pairs if pair.plus == pair.minus]
        hidden = len(COLOURS) * len({pair.plus for pair in removals}) - len(removals)
        if hidden:
            remark = f"{hidden} parts show nowhere in their birds and are left out"
            given = replace(given, remarks=(*given.remarks, remark))
        return with_endpoints(
            given, (self._rendered(given, pair) for pair in removals if self.native)
        )

    def _rendered(self, given: PairSet, removal: Pair) -> Without:
        image = given.inputs[removal.plus]
        kept = "_".join(part for part in COLOURS if part != removal.pair_type)
        name = f"{self.split}_interventions/{Path(image.image_id).with_suffix('')}/body_{kept}.png"
        digest, place = Folder(birds_folder(self.root)).file(name)
        return Without(removal, "native", digest, place, name)

    def _places(self) -> tuple[Path, Features]:
        folder = birds_folder(self.root)
        maps = folder / f"{self.split}_part_map"
        return folder / self.split, PartMaps(
            folder=maps, dilate=self.dilate, counts_hidden=self.native
        )

    def _rows(self) -> tuple[list[Row], tuple[str, ...]]:
        folder = self._places()[0]
        if not isinstance(self.images, int):
            return rows_of(folder, self.images)
        rows, remarks = rows_of(folder, None)
        if len(rows) < self.images:
            raise DataError(
                f"{folder} has {len(rows)} birds, and the study asks for {self.images}; ask for "
                "fewer in 'images:'"
            )
        drawn = sorted(rows, key=lambda row: hashed_word(f"funnybirds|{row.image}"))
        return sorted(drawn[: self.images]), remarks
