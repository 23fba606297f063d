"""MLflow models of any flavour, called through MLflow's scoring server in its own environment."""

import json
import os
import select
import subprocess
import time
import weakref
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, cast

from pydantic import Field, field_validator, model_validator

from decaf.data.frames import FrameSchema
from decaf.errors import ModelError
from decaf.foundation.addresses import Address
from decaf.foundation.digests import folder_sha256, json_sha256
from decaf.foundation.files import convert_os_errors
from decaf.foundation.settings import LONGEST_WAIT, PlacedPath, fault
from decaf.models import scoring_process
from decaf.models.card import Model, ModelCard, Output
from decaf.models.estimators.missing import MissingValue, missing_number
from decaf.models.mlflow_model import MLMODEL, PYFUNC, read_mlmodel
from decaf.models.mlflow_signature import complete_columns, refuse_missing, remark_fractions
from decaf.models.sources.endpoint import EndpointCard, EndpointModel

XGBOOST = "xgboost"
"""Flavour of models that XGBoost saved."""
MOST_REPORT_BYTES = 1 << 16
"""Size limit of a server's start report."""
END_SECONDS = 10.0
"""Time that a server has to end before it is killed, s."""
PASSED_NAMES = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
)
"""Environment variables of a server, without credentials, since it runs the model's code."""


class MlflowServerCard(ModelCard):
    """An MLflow model of any flavour with `python_function`; its code runs in a separate process.

    With `python`, decaf starts this process, and ends it when the model is no longer used. The
    model's code runs with your rights: name only models that you trust.
    """

    is_remote: ClassVar = True
    has_gradients: ClassVar = False
    source: Literal["mlflow_server"]
    model: PlacedPath = Field(
        description="folder of the MLflow model, with `MLmodel`; `.` in a registry"
    )
    python: Path | None = Field(
        None,
        description="interpreter that starts the server, in an environment with mlflow 3 and all "
        "that the model needs; decaf installs nothing",
    )
    url: Address | None = Field(
        None,
        description="`/invocations` of a running scoring server that serves exactly this version",
    )
    output: Output = Field(description="kind of the outputs of `predict`")
    missing: MissingValue = Field(
        None,
        description="value that counts as missing for an XGBoost model, which MLflow's file does "
        "not contain; decaf sends it as NaN",
    )
    rows_per_request: int = Field(256, gt=0, le=1_000_000, description="inputs of one request")
    start_seconds: float = Field(
        120.0, gt=0, le=LONGEST_WAIT, description="longest time until the server has started, s"
    )
    timeout_seconds: float = Field(
        60.0, gt=0, le=LONGEST_WAIT, description="longest time of an answer, s"
    )

    @field_validator("python")
    @classmethod
    def _make_absolute(cls, path: Path | None) -> Path | None:
        """Make the path absolute, since workers may have another current directory.

        A bare name is left for PATH.
        """
        return path.absolute() if path and len(path.parts) > 1 else path

    @model_validator(mode="after")
    def _check_server(self) -> "MlflowServerCard":
        if (self.python is None) == (self.url is None):
            raise fault("give exactly one of 'python' (an interpreter) and 'url' (a server)")
        return self

    @property
    def origin(self) -> str:
        """The source and the name of the folder."""
        return f"mlflow_server:{self.model.name}"

    @property
    def preprocessing_digest(self) -> str:
        """Digest of the kind of outputs, and of the value that counts as missing."""
        missing = [] if self.missing is None else [self.missing]
        return json_sha256(["mlflow_server", self.output, *missing])

    def weights_digest(self) -> str:
        """Digest of the model's files and of 'url'.

        Raises ModelError if MLflow cannot serve the model, or if 'missing' does not apply to it.
        """
        flavours = read_mlmodel(self.model).flavours
        if self.missing is not None and XGBOOST not in flavours:
            raise ModelError(
                f"'missing' is {self.missing}, and {self.model / MLMODEL} has no flavour "
                f"{XGBOOST}: leave 'missing' out"
            )
        if PYFUNC not in flavours:
            raise ModelError(
                f"{self.model / MLMODEL} has no flavour {PYFUNC}, which MLflow's scoring server "
                "needs; log the model with one"
            )
        return json_sha256([folder_sha256(self.model, ModelError), self.url])

    def load(self, device: str) -> Model:
        """Return a model that calls 'url', or else a server that is started for it."""
        number = missing_number(self.missing)
        if self.url is not None:
            return EndpointModel(self._endpoint(self.url), missing=number)
        process, port = _start_server(self)
        model = EndpointModel(
            self._endpoint(f"http://127.0.0.1:{port}/invocations"), number, trust_env=False
        )
        weakref.finalize(model, _end_server, process)
        return model

    def check_columns(self, columns: FrameSchema | None) -> tuple[str, ...]:
        """Refuse missing values in columns whose type in the signature cannot hold them."""
        if columns is not None and (self.model / MLMODEL).exists():
            refuse_missing(read_mlmodel(self.model), columns, self.id)
        return self.remark_columns(columns)

    def remark_columns(self, columns: FrameSchema | None) -> tuple[str, ...]:
        """Remark on columns whose fractions MLflow cuts off."""
        if not (self.model / MLMODEL).exists():
            return ()  # `weights_digest` refuses the folder
        return remark_fractions(read_mlmodel(self.model), columns, self.id)

    def load_for(self, device: str, columns: FrameSchema | None) -> Model:
        """Load the model for a data set; rows that lack a needed value are not sent."""
        model = super().load_for(device, columns)
        cast("EndpointModel", model).complete_columns = complete_columns(read_mlmodel(self.model))
        return model

    def _endpoint(self, url: str) -> EndpointCard:
        model = read_mlmodel(self.model)
        return EndpointCard(
            source="endpoint",
            id=self.id,
            family=self.family,
            url=url,
            version=MLMODEL,
            output=self.output,
            encoding="mlflow",
            columns=model.columns,
            flatten=model.takes_rows,
            rows_per_request=self.rows_per_request,
            timeout_seconds=self.timeout_seconds,
        )


def _start_server(card: MlflowServerCard) -> tuple[subprocess.Popen[bytes], int]:
    """Start a server and wait until it answers; return its process and port.

    Raises ModelError when the interpreter cannot be started, the model cannot be loaded by it, or
    the server does not answer within 'start_seconds'.
    """
    read_end, write_end = os.pipe()
    timeout = {"MLFLOW_SCORING_SERVER_REQUEST_TIMEOUT": str(int(card.timeout_seconds) + 1)}
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}
    passed_variables = {name: os.environ[name] for name in PASSED_NAMES if name in os.environ}
    script = str(scoring_process.__file__)
    command = [str(card.python), "-I", script, str(card.model), str(write_end)]
    remedy = "correct 'python:'"
    with os.fdopen(read_end, "rb") as pipe:
        try:
            with convert_os_errors(
                ModelError, f"model {card.id}: {card.python} cannot be run", remedy
            ):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    pass_fds=[write_end],
                    env=passed_variables | timeout | quiet,
                )
        finally:
            os.close(write_end)
        report = _read_report(pipe.fileno(), card.start_seconds)
    if "port" in report:
        return process, int(report["port"])
    _end_server(process)
    raise ModelError(
        f"model {card.id}: MLflow's scoring server did not start with {card.python}: "
        f"{report.get('problem', f'it ended, or sent no port within {card.start_seconds:g} s')}: "
        "install mlflow 3 and the model's requirements.txt in its environment, or raise "
        "'start_seconds'"
    )


def _read_report(descriptor: int, seconds: float) -> dict[str, Any]:
    """Read one JSON object that a process writes before it closes the pipe; empty without one."""
    deadline, content = time.monotonic() + seconds, b""
    while len(content) < MOST_REPORT_BYTES:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0 or not select.select([descriptor], [], [], seconds_left)[0]:
            return {}
        part = os.read(descriptor, MOST_REPORT_BYTES)
        if not part:
            break
        content += part
    try:
        report = json.loads(content)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}


def _end_server(process: subprocess.Popen[bytes]) -> None:
    """Close a server's standard input, which ends it; kill it if it runs after END_SECONDS."""
    cast("IO[bytes]", process.stdin).close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
