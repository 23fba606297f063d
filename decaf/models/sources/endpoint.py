"""A model behind HTTP: batches of inputs go out as JSON, outputs come back as JSON."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from decaf.foundation.addresses import Address
from decaf.foundation.digests import json_sha256
from decaf.models.card import Model, ModelCard, Output

VERSION_HEADER = "X-Model-Version"
"""Header in which an endpoint states the version of its model."""


class EndpointCard(ModelCard):
    """An HTTP endpoint that answers `POST {"inputs": …}` with `{"outputs": [[…], …]}`."""

    source: Literal["endpoint"]
    url: Address = Field(description="`http://` or `https://` address, without credentials")
    version: str = Field(
        min_length=1,
        description="version of the model behind the address, raised whenever its outputs change: "
        "with the address, it is what stored scores are known by. An answer with another "
        "`X-Model-Version` is refused",
    )
    output: Output = Field(description="what the endpoint returns")
    encoding: Literal["json", "base64"] = Field(
        "json", description="of inputs: nested lists, or little-endian float32 as base64"
    )
    rows_per_request: int = Field(64, gt=0, description="inputs of one request")
    timeout_seconds: float = Field(30.0, gt=0, description="longest silence of the server, s")
    retries: int = Field(
        4, ge=0, description="further attempts after no connection, a time-out, 429 or 5xx"
    )
    backoff_seconds: float = Field(
        0.5, ge=0, description="pause before the first of them; doubled for each further one, s"
    )
    longest_backoff_seconds: float = Field(
        30.0, ge=0, description="longest pause, also where the server asks for more, s"
    )
    headers: dict[str, SecretStr] = Field(
        {},
        description="sent with every request, as `Authorization: Bearer ${TOKEN}`; never shown, "
        "never stored",
    )

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            text = value.get_secret_value()
            if not (text.isascii() and text.isprintable() and text.strip()):
                raise PydanticCustomError(
                    "header", "header '{name}' is empty or cannot be sent", {"name": name}
                )
        return headers

    @property
    def origin(self) -> str:
        """The address."""
        return f"endpoint:{self.url}"

    @property
    def feeding_digest(self) -> str:
        """Digest of how inputs are sent and what the outputs are."""
        return json_sha256(["endpoint", self.encoding, self.output])

    def weights_digest(self, workspace: Path) -> str:
        """Digest of the address and the declared version: all that can be known without asking."""
        return json_sha256([self.url, self.version])

    def load(self, workspace: Path, device: str) -> Model:
        """Open a client; nothing is sent yet."""
        from decaf.models.endpoint import EndpointModel

        return EndpointModel(self)
