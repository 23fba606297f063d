"""Ask an HTTP endpoint for outputs, patiently and without believing what it says."""

import base64
import json
import math
import time
import weakref
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import numpy as np
import torch
from numpy.typing import NDArray

from decaf.errors import ModelError, ScoringFailed
from decaf.models.sources.endpoint import VERSION_HEADER, EndpointCard

TOO_MANY_REQUESTS, FIRST_SERVER_ERROR = 429, 500
MOST_DOUBLINGS = 60
SHOWN = 300
"""Characters of an answer that a message repeats."""


class EndpointModel:
    """Inputs → outputs of an endpoint, over one client whose connections are reused.

    Proxies and certificates of the environment are honoured, as by every HTTP client.
    """

    def __init__(self, card: EndpointCard) -> None:
        self.output = card.output
        self.device = torch.device("cpu")
        self._card = card
        headers = {name: value.get_secret_value() for name, value in card.headers.items()}
        self._secrets = [word for value in headers.values() for word in value.split()]
        self._client = httpx.Client(timeout=card.timeout_seconds, headers=headers)
        weakref.finalize(self, self._client.close)

    def outputs(self, inputs: torch.Tensor) -> torch.Tensor:
        """(n, …) float32 → (n, outputs) float64; ``null`` and ``NaN`` become NaN.

        Raises
        ------
        ModelError
            When the endpoint refuses the request (4xx), answers with another version, or with
            something else than one list of numbers for each input.
        ScoringFailed
            When it gives no answer, however often it is asked.
        """
        size = self._card.rows_per_request
        parts = [self._ask(part.numpy()) for part in inputs.split(size)]
        if len({part.shape[1] for part in parts}) > 1:
            raise ModelError(f"{self._name}: the number of outputs changes between requests")
        return torch.from_numpy(np.concatenate(parts))

    @property
    def _name(self) -> str:
        return f"model {self._card.id}, endpoint {self._card.url}"

    def _ask(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        body = json.dumps({"inputs": self._encoded(rows)}).encode()
        attempts = self._card.retries + 1
        reason = ""
        for attempt in range(attempts):
            try:
                response = self._client.post(
                    self._card.url, content=body, headers={"Content-Type": "application/json"}
                )
            except httpx.RequestError as error:
                reason, asked = f"{type(error).__name__}: {self._shown(str(error))}", None
            else:
                if not _is_passing(response):
                    return self._read(response, len(rows))
                reason = f"status {response.status_code}: {self._shown(response.text)}"
                asked = _retry_after(response)
            if attempt + 1 < attempts:
                time.sleep(self._pause(attempt, asked))
        raise ScoringFailed(
            f"{self._name} gave no answer: {attempts} attempts, the last ended with {reason}. "
            "Start the server or repair the connection, then run the same command again"
        )

    def _encoded(self, rows: NDArray[np.float32]) -> Any:
        if self._card.encoding == "json":
            return rows.tolist()
        content = np.ascontiguousarray(rows, "<f4").tobytes()
        return {"base64": base64.b64encode(content).decode(), "shape": list(rows.shape)}

    def _pause(self, attempt: int, asked: float | None) -> float:
        pause = math.ldexp(self._card.backoff_seconds, min(attempt, MOST_DOUBLINGS))
        return min(max(pause, asked or 0.0), self._card.longest_backoff_seconds)

    def _read(self, response: httpx.Response, row_count: int) -> NDArray[np.float64]:
        if response.status_code != httpx.codes.OK:
            raise ModelError(
                f"{self._name} refused a request with status {response.status_code}: "
                f"{self._shown(response.text)}"
            )
        version = response.headers.get(VERSION_HEADER, self._card.version)
        if version != self._card.version:
            raise ModelError(
                f"{self._name} is version {version!r}, the configuration says "
                f"{self._card.version!r}: correct 'version:', and its scores are made again"
            )
        try:
            rows = response.json()["outputs"]
            return _numbers(rows, row_count)
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            raise ModelError(
                f"{self._name} returned {self._shown(response.text)}; expected "
                f'{{"outputs": [[…], …]}} with {row_count} lists of as many numbers or null '
                f"({error})"
            ) from error

    def _shown(self, text: str) -> str:
        """Beginning of a text, without the secrets that it may repeat."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def _is_passing(response: httpx.Response) -> bool:
    """Whether the server may answer if it is asked again."""
    status = response.status_code
    return status == TOO_MANY_REQUESTS or status >= FIRST_SERVER_ERROR


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks for, given as a number or as a date."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


def _numbers(rows: Any, row_count: int) -> NDArray[np.float64]:
    """(rows, outputs) from lists of numbers; ``None`` becomes NaN."""
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows):
        raise ValueError("'outputs' is no list of lists")
    if len(rows) != row_count:
        raise ValueError(f"{len(rows)} lists for {row_count} inputs")
    found = [[math.nan if value is None else value for value in row] for row in rows]
    if not all(type(value) in (int, float) for row in found for value in row):
        raise ValueError("an output is no number")
    return np.array(found, np.float64)
