"""A list of networks that torchvision and timm publish weights of."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from decaf.foundation.digests import json_sha256
from decaf.foundation.settings import PlacedPath
from decaf.models.preprocessing import LARGEST_SIDE, Mean, Std
from decaf.registry.entries import Entry, Fetched, Registry

PublishedName = Annotated[str, Field(pattern=r"^(torchvision|timm):[A-Za-z0-9_]+\.[A-Za-z0-9_.]+$")]


class Names(Registry):
    """Networks of torchvision and timm by name; weights lie here."""

    kind: Literal["names"]
    names: tuple[PublishedName, ...] = Field(
        min_length=1,
        description="`torchvision:resnet50.IMAGENET1K_V2` or `timm:resnet50.a1_in1k`: library, "
        "architecture and tag of the weights; `!file zoo.yaml` is a list of them",
    )
    checkpoints: PlacedPath | None = Field(
        None, description="folder of published weights; the library's own cache when absent"
    )
    input_size: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="side of the input of all networks in px; when absent, that of each library's "
        "data configuration",
    )
    mean: Mean | None = Field(
        None, min_length=1, description="subtracted from inputs in [0, 1]; likewise"
    )
    std: Std | None = Field(None, min_length=1, description="inputs are divided by it; likewise")

    def entries(self) -> list[Entry]:
        """Entries in the order of the list; the version is the library's.

        A digest is that of name, preprocessing and library: which file the library means can only
        be known by importing it, and that is done once one of them has changed.
        """
        shared = self.model_dump(mode="json", exclude={"names"})
        versions = {library: version(library) for library in ("torchvision", "timm")}
        return [
            Entry(
                name=name.partition(":")[2],
                version=versions[name.partition(":")[0]],
                digest=json_sha256([name, versions[name.partition(":")[0]], shared]),
                place=name,
            )
            for name in self.names
        ]

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Write the card."""
        architecture, _, tag = entry.place.partition(".")
        shared = self.model_dump(
            include={"checkpoints", "input_size", "mean", "std"}, exclude_none=True
        )
        card = {"architecture": architecture, "pretrained": tag, "family": _family(architecture)}
        return Fetched({**card, **shared})


def _family(architecture: str) -> str:
    """Family by the first word of the architecture, as ``resnet`` of ``resnet50_32x4d``."""
    return architecture.partition(":")[2].partition("_")[0].rstrip("0123456789")
