"""Models behind HTTP that state their version in a header."""

from contextlib import closing
from pathlib import Path
from typing import Literal

from pydantic import Field

from decaf.errors import RegistryError
from decaf.foundation.calls import Caller, NoAnswer
from decaf.foundation.digests import json_sha256
from decaf.models.sources.endpoint import VERSION_HEADER, EndpointCard
from decaf.registry.entries import Entry, Fetched, Registry

REFUSED = (401, 403)
LONGEST_VERSION = 200


class AskedEndpoint(EndpointCard):
    """Card of an endpoint without its version, which the endpoint states itself."""

    source: Literal["endpoint"] = "endpoint"
    version: Literal["asked"] = Field("asked", description="the endpoint states its version")
    version_url: str | None = Field(
        None, description="address that returns the version to a GET; by default `url`"
    )

    def ask(self) -> str:
        """The version that the endpoint states now, in the header ``X-Model-Version``.

        Raises RegistryError if the endpoint does not answer, refuses, or states no version.
        """
        address = self.version_url or self.url
        headers = {name: value.get_secret_value() for name, value in self.headers.items()}
        try:
            with closing(Caller(self.timeout_seconds, headers=headers)) as caller:
                answer = caller.call("GET", address, self.deadline_seconds, most_bytes=0)
        except NoAnswer as error:
            raise RegistryError(
                f"endpoint {self.id} at {address} gave no answer: {error}; start "
                "it, or repair the connection"
            ) from error
        if answer.status in REFUSED:
            raise RegistryError(
                f"endpoint {self.id} at {address} refuses the credentials (status "
                f"{answer.status}); check the variable behind its 'headers:'"
            )
        version = answer.headers.get(VERSION_HEADER)
        if not version or len(version) > LONGEST_VERSION:
            header = f"{len(version):,} characters in" if version else "without"
            raise RegistryError(
                f"endpoint {self.id} at {address} answers with {answer.status_text} and {header} "
                f"the header {VERSION_HEADER}; expected a version of at most {LONGEST_VERSION} "
                "characters there"
            )
        return version


class Endpoints(Registry):
    """Endpoints that answer GET with their version in the header `X-Model-Version`."""

    kind: Literal["endpoints"]
    endpoints: tuple[AskedEndpoint, ...] = Field(
        min_length=1, description="cards as of `source: endpoint`, without `version`"
    )

    def entries(self) -> list[Entry]:
        """Ask each endpoint for its version; an endpoint without one is listed with the reason."""
        listed = []
        for card in self.endpoints:
            try:
                version, problem = card.ask(), ""
            except RegistryError as error:
                version, problem = "unknown", str(error)
            digest = json_sha256([card.url, version, card.scoring_digest])
            listed.append(Entry(card.id, version, digest, card.url, problem=problem))
        return listed

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Card with the listed version; scoring refuses answers of another version."""
        card = next(card for card in self.endpoints if card.id == entry.name)
        return Fetched(card.model_copy(update={"version": entry.version}))
