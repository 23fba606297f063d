"""Models behind HTTP that state their version in a header."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from decaf.errors import RegistryError
from decaf.foundation.digests import json_sha256
from decaf.registry.asked_endpoint import AskedEndpoint
from decaf.registry.entries import Entry, Fetched, Registry


class Endpoints(Registry):
    """Endpoints that answer GET with their version in the header `X-Model-Version`."""

    kind: Literal["endpoints"]
    endpoints: tuple[AskedEndpoint, ...] = Field(
        min_length=1, description="cards as of `source: endpoint`, without `version`"
    )

    def entries(self) -> list[Entry]:
        """Ask each endpoint for its version; one that does not tell is listed with the reason."""
        listed = []
        for card in self.endpoints:
            try:
                version, problem = card.ask(), ""
            except RegistryError as error:
                version, problem = "unknown", str(error)
            digest = json_sha256([card.url, version, card.preprocessing_digest])
            listed.append(Entry(card.id, version, digest, card.url, problem=problem))
        return listed

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """The card with the version that was told; answers of another one are refused later."""
        card = next(card for card in self.endpoints if card.id == entry.name)
        return Fetched(card.model_copy(update={"version": entry.version}))
