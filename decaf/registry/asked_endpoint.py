"""An endpoint whose version is asked for, instead of being declared."""

from typing import Literal

import httpx
from pydantic import Field

from decaf.errors import RegistryError
from decaf.models.sources.endpoint import VERSION_HEADER, EndpointCard

REFUSED = (401, 403)


class AskedEndpoint(EndpointCard):
    """The card of an endpoint but for its version, which the endpoint itself tells."""

    source: Literal["endpoint"] = "endpoint"
    version: Literal["asked"] = Field("asked", description="the endpoint's own word")
    version_url: str | None = Field(
        None, description="where the version is asked for with GET; `url` when absent"
    )

    def ask(self) -> str:
        """The version that the endpoint states now, in the header ``X-Model-Version``.

        Raises RegistryError when there is no answer, it refuses, or it states none.
        """
        address = self.version_url or self.url
        headers = {name: value.get_secret_value() for name, value in self.headers.items()}
        try:
            response = httpx.get(address, headers=headers, timeout=self.timeout_seconds)
        except httpx.HTTPError as error:
            raise RegistryError(
                f"endpoint {self.id} at {address} gave no answer: {type(error).__name__}; start "
                "it, or repair the connection"
            ) from error
        if response.status_code in REFUSED:
            raise RegistryError(
                f"endpoint {self.id} at {address} refuses the credentials (status "
                f"{response.status_code}); check the variable behind its 'headers:'"
            )
        version = response.headers.get(VERSION_HEADER)
        if not version:
            raise RegistryError(
                f"endpoint {self.id} at {address} answers with status {response.status_code} and "
                f"without the header {VERSION_HEADER}; expected its version there"
            )
        return version
