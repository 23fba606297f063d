"""A model behind HTTP: batches of inputs go out as JSON, outputs come back as JSON."""

import base64
import json
import math
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SecretStr, field_validator, model_validator

from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.errors import ModelError, ScoringFailed, abridge
from decaf.foundation.addresses import Address
from decaf.foundation.arrays import Tensor
from decaf.foundation.calls import Answer, Caller, NoAnswer
from decaf.foundation.digests import json_sha256
from decaf.foundation.retries import is_transient, last_answer
from decaf.foundation.settings import LONGEST_WAIT, fault, require_keys
from decaf.models.array_model import NOT_PROBABILITIES
from decaf.models.card import Model, ModelCard, Output
from decaf.models.mlflow_signature import refuse_missing_values, remark_unknown_signature

VERSION_HEADER = "X-Model-Version"
"""Header in which an endpoint states the version of its model."""

OK = 200
SHOWN = 300
"""Most characters of an answer that a message repeats."""


class EndpointCard(ModelCard):
    """An HTTP endpoint that answers `POST {"inputs": …}` with `{"outputs": [[…], …]}`.

    For MLflow's scoring server, which has another format, set `encoding: mlflow`.
    """

    is_remote: ClassVar = True
    has_gradients: ClassVar = False
    source: Literal["endpoint"]
    url: Address = Field(description="`http://` or `https://` address, without credentials")
    version: str = Field(
        min_length=1,
        description="version of the model; raise it whenever its outputs change, because stored "
        "scores belong to an address and a version. An answer with another `X-Model-Version` is "
        "an error",
    )
    output: Output = Field(description="kind of the endpoint's outputs")
    timeout: ClassVar[None] = None  # type: ignore[misc]  # no key of this source
    """Each attempt of a request has its own timeout, ``timeout_seconds``."""
    encoding: Literal["json", "base64", "records", "mlflow"] = Field(
        "json",
        description="form of inputs: nested lists, little-endian float32 as base64, or rows of a "
        "table as objects by column; `mlflow` is the form of `mlflow models serve` at "
        "`/invocations`: nested lists, rows of `columns`, or rows of a table",
    )
    columns: tuple[str, ...] = Field(
        (),
        description="names of the features, for `encoding: mlflow` if the model finds features by "
        "name",
    )
    flatten: bool = Field(
        False, description="send images as rows of numbers, channel by channel, row by row"
    )
    rows_per_request: int = Field(64, gt=0, le=1_000_000, description="inputs of one request")
    timeout_seconds: float = Field(
        30.0, gt=0, le=LONGEST_WAIT, description="longest silence of the server, s"
    )
    deadline_seconds: float = Field(
        300.0,
        gt=0,
        le=LONGEST_WAIT,
        description="longest time of a request, with all attempts and pauses, s",
    )
    retries: int = Field(
        4,
        ge=0,
        le=1000,
        description="further attempts after no connection, a time-out, 408, 425, 429 or 5xx",
    )
    backoff_seconds: float = Field(
        0.5,
        ge=0,
        le=LONGEST_WAIT,
        description="pause before the first further attempt, doubled for each later one, s",
    )
    longest_backoff_seconds: float = Field(
        30.0,
        ge=0,
        le=LONGEST_WAIT,
        description="longest pause, even if the server asks for a longer one, s",
    )
    headers: dict[str, SecretStr] = Field(
        {},
        description="headers of every request, as `Authorization: Bearer ${TOKEN}`; never shown, "
        "never stored",
    )

    @model_validator(mode="after")
    def _columns_for_mlflow(self) -> Self:
        require_keys(
            [("columns", not self.columns or self.encoding == "mlflow", "encoding: mlflow")]
        )
        return self

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            text = value.get_secret_value()
            if not (text.isascii() and text.isprintable() and text.strip()):
                raise fault(f"header '{name}' is empty or cannot be sent")
        return headers

    def remark_columns(self, columns: FrameSchema | None) -> tuple[str, ...]:
        """Remark on missing values that MLflow may read as False or refuse."""
        if columns is None or self.encoding != "mlflow":
            return ()
        return remark_unknown_signature(columns, self.id)

    @property
    def origin(self) -> str:
        """The address."""
        return f"endpoint:{self.url}"

    @property
    def asks_for_frames(self) -> bool:
        """True if rows are sent as objects by column."""
        return self.encoding == "records"

    @property
    def preprocessing_digest(self) -> str:
        """Digest of the encoding of inputs and of the kind of outputs."""
        parts = ["endpoint", self.encoding, self.output]
        more = {name: getattr(self, name) for name in ("columns", "flatten") if getattr(self, name)}
        return json_sha256([*parts, more] if more else parts)

    def weights_digest(self) -> str:
        """Digest of the address and the declared version: all that is known without a request."""
        return json_sha256([self.url, self.version])

    def load(self, device: str) -> Model:
        """Open a client; nothing is sent yet."""
        return EndpointModel(self)


class EndpointModel:
    """Inputs → outputs of an endpoint, over one client whose connections are reused.

    Numbers that equal ``missing`` are sent as NaN. ``options`` are those of the client
    (``httpx.Client``).
    """

    def __init__(self, card: EndpointCard, missing: float = math.nan, **options: Any) -> None:
        import torch

        self.output = card.output
        self.device = torch.device("cpu")
        self._card = card
        self._columns: FrameSchema | None = None
        self.complete_columns: Mapping[str, str] = {}
        """Type by name of columns in which a missing value would be refused or changed."""
        self._missing = missing
        headers = {name: value.get_secret_value() for name, value in card.headers.items()}
        self._secrets = [word for value in headers.values() for word in value.split()]
        self._caller = Caller(card.timeout_seconds, headers=headers, **options)
        weakref.finalize(self, self._caller.close)

    def of_frames(self, columns: FrameSchema) -> "EndpointModel | None":
        """Itself if it sends rows of a table as objects; None if it sends arrays."""
        if self._card.encoding not in ("records", "mlflow"):
            return None
        self._columns = columns
        return self

    def outputs(self, inputs: Tensor) -> Tensor:
        """(n, …) float32 → (n, outputs) float64; ``null`` and ``NaN`` become NaN.

        Raises ModelError when the endpoint refuses the request (4xx), answers with another version,
        or does not return one list of numbers for each input, and ScoringFailed when no attempt
        gets an answer.
        """
        import torch

        size = self._card.rows_per_request
        parts = [self._ask(part.numpy()) for part in inputs.split(size)]
        if len({part.shape[1] for part in parts}) > 1:
            raise ModelError(f"{self._name}: the number of outputs changes between requests")
        return torch.from_numpy(np.concatenate(parts))

    @property
    def _name(self) -> str:
        return f"model {self._card.id}, endpoint {self._card.url}"

    def _ask(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        card = self._card
        body = json.dumps(self._encode(rows)).encode()
        headers = {"Content-Type": "application/json"}

        def send(seconds: float) -> Answer:
            return self._caller.call("POST", card.url, seconds, content=body, headers=headers)

        try:
            answer = last_answer(
                send,
                card.deadline_seconds,
                card.retries,
                card.backoff_seconds,
                card.longest_backoff_seconds,
            )
        except NoAnswer as error:
            reason = self._without_secrets(str(error))
            if not error.may_pass:
                raise ModelError(f"{self._name} cannot be used: {reason}") from error
            raise self._no_answer(error.attempts, reason) from error
        if is_transient(answer):
            reason = f"status {answer.status}: {self._shorten(answer.text)}"
            raise self._no_answer(answer.attempts, reason)
        return self._read(answer, len(rows))

    def _no_answer(self, attempts: int, reason: str) -> ScoringFailed:
        return ScoringFailed(
            f"{self._name} gave no answer: {attempts} attempts, the last ended with {reason}. "
            "Start the server or repair the connection, then run the same command again"
        )

    def _encode(self, rows: NDArray[np.floating]) -> dict[str, Any]:
        if self._columns is not None:
            name = "inputs" if self._card.asks_for_frames else "dataframe_records"
            frame = self._columns.decode(rows)
            refuse_missing_values(self.complete_columns, frame, self._name)
            return {name: _records(frame, self._missing)}
        if not math.isnan(self._missing):
            rows = np.where(rows == self._missing, np.nan, rows)
        columns = self._card.columns
        if columns or self._card.flatten:
            rows = rows.reshape(len(rows), -1)
        if columns:
            if rows.shape[1] != len(columns):
                raise ModelError(
                    f"{self._name} takes {len(columns)} columns, the inputs have {rows.shape[1]} "
                    "features; correct the data, or the columns ('columns:' of an endpoint, the "
                    "signature of an MLflow model)"
                )
            return {"dataframe_split": {"columns": columns, "data": rows.tolist()}}
        if self._card.encoding != "base64":
            return {"inputs": rows.tolist()}
        content = np.ascontiguousarray(rows, "<f4").tobytes()
        encoded = {"base64": base64.b64encode(content).decode(), "shape": list(rows.shape)}
        return {"inputs": encoded}

    def _read(self, answer: Answer, row_count: int) -> NDArray[np.float64]:
        if answer.status != OK:
            raise ModelError(
                f"{self._name} refused a request with {self._without_secrets(answer.status_text)}: "
                f"{self._shorten(answer.text)}"
            )
        version = answer.headers.get(VERSION_HEADER, self._card.version)
        if version != self._card.version:
            raise ModelError(
                f"{self._name} is version {self._shorten(version)}, the configuration says "
                f"{self._card.version!r}: correct 'version:'; decaf then scores the model again"
            )
        key = "predictions" if self._card.encoding == "mlflow" else "outputs"
        try:
            predictions = answer.json()[key]
            rows = _rows(predictions) if key == "predictions" else _listed_rows(predictions)
            numbers = _numbers(rows, row_count)
        except (ValueError, LookupError, TypeError, OverflowError) as error:
            raise ModelError(
                f"{self._name} returned {self._shorten(answer.text)}; expected "
                f'{{"{key}": [[…], …]}} with {row_count} lists of as many numbers or null '
                f"({error})"
            ) from error
        # Other servers than MLflow's may write 1.0 as 1.
        has_integers = key == "predictions" and all(type(row[0]) is int for row in rows)
        if has_integers and numbers.shape[1] == 1 and self.output == "probabilities":
            raise ModelError(f"{self._name} {NOT_PROBABILITIES}")
        return numbers

    def _shorten(self, text: str) -> str:
        """Beginning of a text, without the secrets that it may repeat."""
        text = self._without_secrets(text)
        return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text


def _records(frame: Frame, missing: float) -> list[dict[str, Any]]:
    """Rows as objects by column; None for a missing value, or one that equals ``missing``."""
    records = frame.to_dict("records")
    for row, column in np.argwhere((frame.isna() | (frame == missing)).to_numpy()):
        records[row][frame.columns[column]] = None
    return records


def _rows(predictions: Any) -> list[Any]:
    """Convert MLflow's predictions to lists: numbers for one output, objects for a frame.

    Predictions of an ONNX model are keyed by the name of its output; it must have exactly one.
    """
    if isinstance(predictions, dict):
        if len(predictions) != 1:
            raise ValueError(f"it has the outputs {abridge([*predictions])}; expected one")
        (predictions,) = predictions.values()
    return [
        list(prediction.values())
        if isinstance(prediction, dict)
        else prediction
        if isinstance(prediction, list)
        else [prediction]
        for prediction in predictions
    ]


def _listed_rows(outputs: Any) -> Any:
    """Outputs as lists: a list of numbers has one output for each input."""
    is_flat = isinstance(outputs, list) and not any(isinstance(output, list) for output in outputs)
    return [[output] for output in outputs] if is_flat else outputs


def _numbers(rows: Any, row_count: int) -> NDArray[np.float64]:
    """(rows, outputs) from lists of numbers; ``None`` becomes NaN."""
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows):
        raise ValueError("'outputs' is not a list of lists")
    if len(rows) != row_count:
        raise ValueError(f"{len(rows)} lists for {row_count} inputs")
    numbers = [[math.nan if value is None else value for value in row] for row in rows]
    if not all(type(value) in (int, float) for row in numbers for value in row):
        raise ValueError("an output is not a number")
    return np.array(numbers, np.float64)
